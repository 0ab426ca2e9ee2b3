// The one interface of all solvers. DRAFT; `solvers` owns this file and completes it.
#pragma once
#include <functional>
#include <string>

#include "talus/base/types.hpp"
#include "talus/problem/cone_problem.hpp"

namespace talus {

enum class Model { relaxed, exact, lagged };   ///< CCP; exact Coulomb; CCP with last step's De Saxcé term
enum class Status { converged, max_iterations, stalled, interrupted };

/// Called once per iteration; returning false asks the solver to stop (status `interrupted`).
struct Iteration {
  int iteration = 0;
  int applications = 0;
  Real residual = 0;
};
using Monitor = std::function<bool(const Iteration&)>;

struct SolverSettings {
  std::string solver = "apgd";
  Model model = Model::relaxed;
  Real tolerance = 1e-3;          ///< on `residual`
  std::string residual = "scaled";
  int max_iterations = 1000;
  Monitor monitor;
};

struct SolveReport {
  Status status = Status::converged;
  int iterations = 0;
  int applications = 0;           ///< products with N, or sweeps
  Real residual = 0;              ///< the one the tolerance is on
  Real objective = 0;
  Real scaled = 0, de20 = 0;      ///< these two residuals, always
};

}  // namespace talus
