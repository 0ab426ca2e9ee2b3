// Options of every solver: default beside the field, meaning and unit in one line. `talus solvers`, the scene's
// [solver.NAME] tables and `--set solver.NAME.option=value` all come from the lists below.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "talus/base/types.hpp"

namespace talus {

/// Choices of an option, empty for numbers and switches.
using Choices = std::initializer_list<std::string_view>;

struct ApgdOptions {
  std::string step = "adaptive";
  std::string metric = "blocks";
  std::string search = "accept";
  Real q = 0;
  Real beta_max = 1;

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("step", o.step, "Lipschitz estimate L: doubled on need and x0.9 each iteration, or only growing",
      Choices{"adaptive", "growing"});
    f("metric", o.metric, "inner product: plain, or normal/tangential 1/diag(N) per contact", Choices{"blocks", "none"});
    f("search", o.search, "when the step test fails: redo with 2L (the paper), or accept and raise L up to a factor 2",
      Choices{"accept", "redo"});
    f("q", o.q, "strong-convexity weight in the momentum, 0 .. 1 (Mazhar15 eq. 17)", Choices{});
    f("beta_max", o.beta_max, "cap of the momentum factor, 0 .. 1", Choices{});
  }
};

/// The fixed point on De Saxcé's term around solvers of the relaxed problem.
struct ExactOptions {
  int max_outer = 200;
  int memory = 5;
  Real inner_factor = 0.1;

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("max_outer", o.max_outer, "most relaxed problems solved per exact one", Choices{});
    f("memory", o.memory, "steps kept by Anderson acceleration of the term, 0 .. 20; 0: damped fixed point", Choices{});
    f("inner_factor", o.inner_factor, "tolerance of a relaxed solve over the present residual of the exact law", Choices{});
  }
};

struct SolverOptions {
  ApgdOptions apgd;
  ExactOptions exact;

  /// f(solver name, its options)
  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("apgd", o.apgd);
    f("exact", o.exact);
  }
};

// ---- by name ----------------------------------------------------------------------------------------------

using OptionValue = std::variant<bool, int, Real, std::string>;

struct OptionInfo {
  std::string name;
  std::string_view type;                   ///< "bool", "int", "real" or "choice"
  OptionValue default_value;
  std::string doc;
  std::vector<std::string> choices;        ///< of a "choice"
};

/// Options of one group: a solver's name, or "exact" for the De Saxcé loop. Empty for solvers without options;
/// throws InputError for a group that does not exist.
std::vector<OptionInfo> option_infos(std::string_view group);
/// All groups that have options.
std::vector<std::string> option_groups();

/// Sets group.name; an int is accepted for a real. Throws InputError saying what exists, or what type or value is
/// right.
void set_option(SolverOptions& options, std::string_view group, std::string_view name, const OptionValue& value);
OptionValue get_option(const SolverOptions& options, std::string_view group, std::string_view name);

/// The value as text, as a scene file would have it (strings without quotes).
std::string option_text(const OptionValue& value);

}  // namespace talus
