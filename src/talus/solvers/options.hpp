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

struct JacobiOptions {
  Real omega = 0.3;
  Real lambda = 1;

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("omega", o.omega, "step relaxation, 0 .. 1", Choices{});
    f("lambda", o.lambda, "damping: the share of the new iterate, 0 .. 1", Choices{});
  }
};

struct GaussSeidelOptions {
  Real omega = 1;
  Real lambda = 1;
  int pieces = 0;

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("omega", o.omega, "step relaxation (SOR), 0 .. 2", Choices{});
    f("lambda", o.lambda, "damping: the share of the new impulse, 0 .. 1", Choices{});
    f("pieces", o.pieces, "pieces swept side by side; 0: one per 16384 contacts, at most 64", Choices{});
  }
};

struct NbgsOptions {
  Real omega = 1;
  int pieces = 0;
  std::string contact = "diagonal";

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("omega", o.omega, "relaxation of the reaction, 0 .. 1 (Preclik15: 0.75)", Choices{});
    f("pieces", o.pieces, "pieces swept side by side; 0: one per 16384 contacts, at most 64", Choices{});
    f("contact", o.contact, "one-contact problem with its whole matrix, or its normal/tangential diagonal (the same for balls)",
      Choices{"exact", "diagonal"});
  }
};

struct AgsOptions {
  Real beta_min = 0.95;
  Real beta_max = 0.98;
  int pieces = 0;

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("beta_min", o.beta_min, "least momentum factor between restarts, 0 .. 1", Choices{});
    f("beta_max", o.beta_max, "largest momentum factor, 0 .. 1", Choices{});
    f("pieces", o.pieces, "pieces swept side by side; 0: one per 16384 contacts, at most 64", Choices{});
  }
};

struct SpgOptions {
  int window = 10;

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("window", o.window, "objective values the non-monotone line search looks back on", Choices{});
  }
};

struct KuceraOptions {
  Real proportion = 1;

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("proportion", o.proportion, "Gamma: how far the active part may outweigh the free one before it is released", Choices{});
  }
};

struct GpminresOptions {
  int gp_iterations = 10;
  int minres_iterations = 10;
  Real eta1 = 0.1;
  Real eta2 = 0.01;
  bool precondition = false;

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("gp_iterations", o.gp_iterations, "most gradient projections per active set", Choices{});
    f("minres_iterations", o.minres_iterations, "most MINRES steps per active set", Choices{});
    f("eta1", o.eta1, "gradient projection ends when the objective falls by less than this share of the best fall", Choices{});
    f("eta2", o.eta2, "MINRES likewise", Choices{});
    f("precondition", o.precondition, "GPMINRES-P: factorise the free block (one process)", Choices{});
  }
};

struct AdmmOptions {
  Real rho = 30;
  Real alpha = 0;
  int memory = 10;
  bool newton = true;
  int newton_contacts = 2500;
  int admm_iterations = 1500;

  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("rho", o.rho, "first penalty, in units of 1/diag(W)", Choices{});
    f("alpha", o.alpha, "over-relaxation, 0 .. 2; 0: 1.6 for the relaxed law, 1 for the exact one", Choices{});
    f("memory", o.memory, "steps kept by Anderson acceleration, 0 .. 30", Choices{});
    f("newton", o.newton, "finish by proximal point with semismooth Newton", Choices{});
    f("newton_contacts", o.newton_contacts, "largest problem for which that finish is affordable", Choices{});
    f("admm_iterations", o.admm_iterations, "ADMM iterations before that finish is tried anyway", Choices{});
  }
};

struct ApgdOptions {
  std::string step = "adaptive";
  std::string metric = "blocks";
  std::string search = "accept";
  Real q = 0;
  Real beta_max = 0.99;

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
  JacobiOptions jacobi;
  GaussSeidelOptions gauss_seidel;
  NbgsOptions nbgs;
  ApgdOptions apgd;
  AgsOptions ags;
  SpgOptions spg;
  KuceraOptions kucera;
  GpminresOptions gpminres;
  AdmmOptions admm;
  ExactOptions exact;

  /// f(solver name, its options)
  template <class Self, class F>
  static void each(Self& o, F&& f) {
    f("jacobi", o.jacobi);
    f("gauss_seidel", o.gauss_seidel);
    f("nbgs", o.nbgs);
    f("apgd", o.apgd);
    f("ags", o.ags);
    f("spg", o.spg);
    f("kucera", o.kucera);
    f("gpminres", o.gpminres);
    f("admm", o.admm);
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
