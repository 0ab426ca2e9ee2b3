// Projected Gauss-Seidel / SOR. Mazhar15 Algorithm 2, as printed (numbers below are its lines).
// B_i = 1/g_i with g_i = trace(N_ii)/3 (eq. 27), so the projection is the Euclidean one.
#include "talus/problem/sweep.hpp"
#include "talus/solvers/methods.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {

SolveReport gauss_seidel(const ConeProblem& problem, DualVector& gamma_best, const SolverSettings& settings) {
  const GaussSeidelOptions& options = settings.options.gauss_seidel;
  const Real ω = options.omega, λ = options.lambda;
  Watch watch(problem, Law::relaxed, gamma_best, settings);
  DualVector γ = gamma_best, u = problem.zero();
  problem.project(γ);
  Sweep sweep(problem, Law::relaxed, options.pieces);
  std::vector<Real> ωB = trace_scales(problem, &sweep);
  for (Real& b : ωB) b *= ω;

  sweep.start(γ);
  sweep.velocity(γ, u);
  int sweeps = 0;
  while (!watch.done(γ, u, sweeps)) {                                                       // 1, 8-10
    sweep.forward(γ, [&](const auto& block, Local i, const auto& γ_i, const auto& u_i) {    // 3
      using Vector = typename std::decay_t<decltype(block)>::Vector;
      const Vector γ_hat = block.projected(Vector(γ_i - ωB[i] * u_i));                      // 4
      return Vector(λ * γ_hat + (1 - λ) * γ_i);                                             // 5, 6
    });
    ++sweeps;
    sweep.velocity(γ, u);
  }
  return watch.finish(sweeps);                                                              // 13
}

}  // namespace talus
