// The one interface of all solvers: settings and report are plain structs, a method is found by name in one table.
//
//     SolveReport report = solve(problem, gamma, settings);      // gamma: the guess on entry, the answer on return
//
// The outcome is a value (Status); exceptions are for bad settings only. Whatever the outcome, gamma is the best
// iterate seen, feasible and finite.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "talus/base/types.hpp"
#include "talus/problem/cone_problem.hpp"
#include "talus/problem/residuals.hpp"
#include "talus/solvers/options.hpp"

namespace talus {

enum class Model { relaxed, exact, lagged };  ///< CCP; exact Coulomb (NCP); CCP with last step's De Saxcé term
enum class Status {
  converged,       ///< the residual is below the tolerance
  max_iterations,  ///< it is not, after all iterations allowed
  stalled,         ///< it is not, and the method cannot go on (no progress, or numbers ran away)
  interrupted,     ///< the monitor asked to stop
};
std::string_view model_name(Model model);
std::string_view status_name(Status status);
/// "relaxed"/"ccp", "exact"/"ncp", "lagged"; throws InputError.
Model model_kind(std::string_view name);

/// What a monitor sees, once per iteration.
struct Iteration {
  int iteration = 0;
  int applications = 0;           ///< products with N, or sweeps, so far
  Real residual = 0;              ///< of this iterate: the one the tolerance is on
  Real objective = 0;             ///< ½γᵀNγ + rᵀγ; only with SolverSettings::watch_objective, else 0
  std::span<const Real> gamma;    ///< this iterate, valid during the call
};
/// Returning false asks the solver to stop (status `interrupted`).
using Monitor = std::function<bool(const Iteration&)>;

struct SolverSettings {
  std::string solver = "apgd";
  Model model = Model::relaxed;
  Real tolerance = 1e-2;            ///< on `residual`
  std::string residual = "scaled";  ///< a name of residual_names()
  int max_iterations = 1000;        ///< iterations (sweeps) of one solve
  Monitor monitor;
  bool watch_objective = false;     ///< give the monitor the objective too, at the cost of one more pass

  SolverOptions options;            ///< one plain struct per solver
};

struct SolveReport {
  Status status = Status::converged;
  int iterations = 0;
  int applications = 0;           ///< products with N, or sweeps
  int outer_iterations = 0;       ///< of the exact law's fixed point or of Tresca discs, 0 without one
  int factorizations = 0;         ///< of methods that factorise
  Real residual = 0;              ///< the one the tolerance is on
  Real objective = 0;             ///< ½γᵀNγ + rᵀγ
  Residuals residuals;            ///< all of them, for the law in force, of the returned γ
  Real scaled = 0, de20 = 0;      ///< = residuals.scaled, residuals.de20
  Real velocity_norm = 0;         ///< ‖Wγ + r‖₂
  double cpu_seconds = 0, wall_seconds = 0;
  bool converged() const { return status == Status::converged; }
};

/// Solves with the method, model and options of the settings. `slip` is ‖u_T‖ of every contact at the end of the
/// previous step (0 for new contacts), used by the lagged model; empty means zero.
SolveReport solve(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings,
                  std::span<const Real> slip = {});

// ---- the table --------------------------------------------------------------------------------------------

using SolveFunction = SolveReport (*)(const ConeProblem&, DualVector&, const SolverSettings&);

struct SolverInfo {
  std::string_view name;    ///< as in `--solver`
  std::string_view paper;   ///< where the method is described
  std::string_view cones;   ///< what it handles
  bool exact_law;           ///< solves the exact law itself; the others are wrapped in the De Saxcé loop
  SolveFunction run;
};

/// All solvers, in the order of docs/solvers.md.
std::span<const SolverInfo> solver_table();
/// Throws InputError with the list of names.
const SolverInfo& find_solver(std::string_view name);

}  // namespace talus
