// Projected Jacobi. Heyn13 §4.1, eq. (12):
//     γ̃ = γ − ωB(Nγ + r),   γ̂ = Π_K(γ̃),   γ ← λγ̂ + (1 − λ)γ
// Eq. (12) prints +ωB; minus is right (Mazhar15 Alg. 2 has it). B is 1/trace(N_ii) for one row per contact and
// 3/trace for three; the projection is the Euclidean one.
#include "talus/solvers/methods.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {

SolveReport jacobi(const ConeProblem& problem, DualVector& gamma_best, const SolverSettings& settings) {
  const JacobiOptions& options = settings.options.jacobi;
  const Real ω = options.omega, λ = options.lambda;
  Watch watch(problem, Law::relaxed, gamma_best, settings);
  DualVector γ = gamma_best, γ_hat = problem.zero(), g = problem.zero();
  problem.project(γ);
  const std::vector<Real> B = trace_scales(problem);
  int applications = 0;
  for (;;) {
    problem.gradient(γ, g);
    if (watch.done(γ, g, ++applications)) break;
    for_blocks(problem, [&](const auto& block, Local i, Local row) {
      Real x[6];
      for (Local k = 0; k < block.rows; ++k) x[k] = γ[row + k] - ω * B[i] * g[row + k];
      block.project(x, γ_hat.data() + row);
    });
    if (λ == 1)
      swap(γ, γ_hat);
    else
      γ = λ * γ_hat + (1 - λ) * γ;
  }
  return watch.finish(applications);
}

}  // namespace talus
