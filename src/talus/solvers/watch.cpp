#include "talus/solvers/watch.hpp"

namespace talus {

Watch::Watch(const ConeProblem& problem, Law law, DualVector& best, const SolverSettings& settings)
    : problem_(problem), law_(law), best_(best), settings_(settings), kind_(residual_kind(settings.residual)),
      cpu_start_(cpu_seconds()), wall_start_(wall_seconds()) {}

bool Watch::done(const DualVector& gamma, const DualVector& u, int applications) {
  ++iteration_;
  residual_ = talus::residual(kind_, problem_, law_, gamma, u);
  if (!std::isfinite(residual_)) {
    status_ = Status::stalled;
    return true;
  }
  if (residual_ < best_residual_) {
    best_residual_ = residual_;
    best_ = gamma;
  }
  if (settings_.monitor) {
    Iteration it{iteration_, applications, residual_, 0, gamma.values()};
    if (settings_.watch_objective) it.objective = dot(gamma, 0.5 * (u + problem_.r()));
    if (!settings_.monitor(it)) {
      status_ = Status::interrupted;
      return true;
    }
  }
  if (residual_ <= settings_.tolerance) {
    status_ = Status::converged;
    return true;
  }
  if (iteration_ >= settings_.max_iterations) {
    status_ = Status::max_iterations;
    return true;
  }
  return false;
}

SolveReport Watch::finish(int applications) {
  if (!std::isfinite(best_residual_)) {  // not even the guess could be judged: start again from nothing
    best_ = 0.0;
    status_ = Status::stalled;
  }
  report_.status = status_;
  report_.iterations = std::max(0, iteration_);
  report_.applications = applications;
  describe(problem_, law_, best_, kind_, report_);
  report_.cpu_seconds = cpu_seconds() - cpu_start_;
  report_.wall_seconds = wall_seconds() - wall_start_;
  return report_;
}

void describe(const ConeProblem& problem, Law law, const DualVector& gamma, ResidualKind kind, SolveReport& report) {
  DualVector u = problem.zero();
  problem.gradient(gamma, u);
  report.objective = dot(gamma, 0.5 * (u + problem.r()));
  if (law == Law::exact && !problem.symmetric()) problem.velocity(gamma, u);
  report.residuals = all_residuals(problem, law, gamma, u);
  report.residual = report.residuals[kind];
  report.scaled = report.residuals.scaled;
  report.de20 = report.residuals.de20;
  report.velocity_norm = norm(u);
}

}  // namespace talus
