// The finish of ADMM: proximal point iterations whose subproblems are solved by a semismooth Newton method,
//     γ₊ = root of F(x) = x − Π_P(γ − P(Wx + r)),   (I + dΠ_P·P·W) dx = −F,
// and helpers that ADMM shares: the metric P = ρ/diag(W) applied block by block, Anderson acceleration in its norm.
#pragma once
#include <vector>

#include "talus/problem/cone_problem.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {

BlockMetric scaled_metric(const ConeProblem& problem, Local i, Real rho);
/// out = x + s P g
void move_blocks(const ConeProblem& problem, const DualVector& x, Real s, const DualVector& g, Real rho, DualVector& out);
/// out = P⁻¹x
void move_blocks_inverse(const ConeProblem& problem, const DualVector& x, Real rho, DualVector& out);
/// out = Π_P(t), or the exact law's closed-form step
void project_blocks(const ConeProblem& problem, Law law, const DualVector& t, Real rho, DualVector& out);
/// xᵀP⁻¹x and xᵀPx
Real metric_norm2(const ConeProblem& problem, const DualVector& x, Real rho);
Real metric_norm2_dual(const ConeProblem& problem, const DualVector& x, Real rho);

/// Anderson acceleration (type II) of t ← t + αg in the norm of P⁻¹.
class AndersonHistory {
 public:
  AndersonHistory(const ConeProblem& problem, int memory);
  void forget() { used_ = 0, has_old_ = false; }
  /// out (may be t itself) = the accelerated step; false when there is no history yet, then out is untouched.
  bool next(const DualVector& t, const DualVector& g, Real alpha, Real rho, DualVector& out);

 private:
  const ConeProblem& problem_;
  std::vector<DualVector> dt_, dg_;
  DualVector t_old_, g_old_, scaled_;
  int used_ = 0;
  bool has_old_ = false;
};

/// Runs until the watch says stop or no step helps (then the watch is told to stall). γ is the start.
void proximal_newton(const ConeProblem& problem, Law law, const SparseMatrix& W, Real rho, DualVector& gamma, Watch& watch,
                     int& applications);

}  // namespace talus
