// P-SPG-FB: preconditioned spectral projected gradients with fallback. Heyn13 §4.3 (numbers below are its lines).
// P = diag(N) averaged over each contact, so that projecting on K itself stays a descent step. f is quadratic along
// d, so the line search needs no product beyond N d: f(γ + λd) = f + λ gᵀd + ½λ² dᵀNd, g(γ + λd) = g + λ N d.
#include <deque>

#include "talus/solvers/methods.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {

SolveReport spg(const ConeProblem& problem, DualVector& γ_FB, const SolverSettings& settings) {
  const SpgOptions& options = settings.options.spg;
  constexpr Real σ_min = 0.1, σ_max = 0.5, ξ = 1e-4, α_min = 1e-9, α_max = 1e9;
  Watch watch(problem, Law::relaxed, γ_FB, settings);
  DualVector γ = γ_FB, g = problem.zero(), d = problem.zero(), Nd = problem.zero();
  DualVector P = problem.zero(), P_inverse = problem.zero();
  problem.project(γ);                                                                // 1
  const std::vector<Real> B = trace_scales(problem);
  for_blocks(problem, [&](const auto& block, Local i, Local row) {
    for (Local k = 0; k < block.rows; ++k) P_inverse[row + k] = B[i], P[row + k] = 1 / B[i];
  });
  auto projected_step = [&](Real α) {                                                // d = Π_K(γ − α p) − γ
    for_blocks(problem, [&](const auto& block, Local, Local row) {
      Real x[6];
      for (Local k = 0; k < block.rows; ++k) x[k] = γ[row + k] - α * P_inverse[row + k] * g[row + k];
      block.project(x, x);
      for (Local k = 0; k < block.rows; ++k) d[row + k] = x[k] - γ[row + k];
    });
  };

  problem.gradient(γ, g);                                                            // 2
  int applications = 1;
  Real f = dot(γ, 0.5 * (g + problem.r())), α = 1;
  std::deque<Real> recent{f};
  for (int j = 0; !watch.done(γ, g, applications); ++j) {                            // 3, 25-27 of the iterate before
    projected_step(α);                                                               // 4, 5
    const Real dg = dot(d, g);  // 6, 7: with one number per contact in P it is negative unless d = 0
    problem.apply(d, Nd);
    ++applications;
    const auto [dNd, dPd, yPy] = dots(inner(d, Nd), inner(d, times(P, d)), inner(Nd, times(P_inverse, Nd)));
    if (!(dg < 0)) {  // no descent is left
      watch.stall();
      break;
    }
    const Real worst = *std::max_element(recent.begin(), recent.end());
    Real λ = 1;                                                                      // 8
    for (int tries = 0; tries < 40; ++tries) {                                       // 9
      if (f + λ * dg + 0.5 * λ * λ * dNd <= worst + ξ * λ * dg) break;               // 12, 13
      const Real best = dNd > 0 ? -dg / dNd : 0.5 * λ;                               // 14: the minimum along d
      λ = std::clamp(best, σ_min * λ, σ_max * λ);
    }
    γ += λ * d;                                                                      // 10
    g += λ * Nd;                                                                     // 11
    f += λ * dg + 0.5 * λ * λ * dNd;
    recent.push_back(f);
    if (static_cast<int>(recent.size()) > std::max(1, options.window)) recent.pop_front();
    // s = λd, y = λNd: the factors of λ cancel
    if (dNd > 0) α = j % 2 ? dPd / dNd : dNd / yPy;                                  // 18-21
    else α = α_max;
    α = std::clamp(α, α_min, α_max);                                                 // 22
    if (j % 50 == 49) {  // sums of increments drift; begin again from γ itself
      problem.gradient(γ, g);
      ++applications;
      f = dot(γ, 0.5 * (g + problem.r()));
    }
  }
  return watch.finish(applications);                                                 // 28
}

}  // namespace talus
