// Watch: what every iteration of every solver does besides its own mathematics: measure the residual, keep the
// best iterate, tell the monitor, decide whether to stop. And what every report holds at the end.
#pragma once
#include <limits>

#include "talus/base/timer.hpp"
#include "talus/solvers/solver.hpp"

namespace talus {

class Watch {
 public:
  /// `best` is the caller's vector: it holds the guess now and the best iterate at the end.
  Watch(const ConeProblem& problem, Law law, DualVector& best, const SolverSettings& settings);

  /// True when the iteration is over. γ is the present iterate and u = Wγ + r of it; `applications` so far.
  bool done(const DualVector& gamma, const DualVector& u, int applications);
  /// Counts an iteration whose iterate is not judged.
  void pass() { ++iteration_; }
  /// Ends the iteration as one that cannot go on.
  void stall() { status_ = Status::stalled; }

  int iteration() const { return iteration_; }
  Real residual() const { return residual_; }
  Real best_residual() const { return best_residual_; }
  Real tolerance() const { return settings_.tolerance; }
  /// Other counts of the report.
  SolveReport& report() { return report_; }

  /// The report on the best iterate.
  SolveReport finish(int applications);

 private:
  const ConeProblem& problem_;
  Law law_;
  DualVector& best_;
  const SolverSettings& settings_;
  ResidualKind kind_;
  int iteration_ = -1;  ///< the first call of done judges the guess
  Real residual_ = 0;
  Real best_residual_ = std::numeric_limits<Real>::infinity();
  Status status_ = Status::max_iterations;
  SolveReport report_;
  double cpu_start_, wall_start_;
};

/// All residuals, objective and norms of γ for a report: one product with N.
void describe(const ConeProblem& problem, Law law, const DualVector& gamma, ResidualKind kind, SolveReport& report);

}  // namespace talus
