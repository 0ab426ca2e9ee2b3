// APGD: accelerated projected gradient descent. Mazhar15 §3, Algorithm 1 (numbers below are its lines); De20 §III-A.
//
// min f(γ) = ½γᵀNγ + rᵀγ over K, ∇f(γ) = Nγ + r. Departures from the printed text, none of which changes the method:
//  - One product with N per iteration: ∇f is affine, so ∇f(y) follows from ∇f(γ₊) and ∇f(γ) by the combination that
//    makes y.
//  - Line 9's test f(γ₊) ≥ f(y) + gᵀd + ½L‖d‖², d = γ₊ − y, is dᵀ(∇f(γ₊) − ∇f(y)) > L dᵀd: two dot products, no
//    cancellation; strict, because with d = 0 the printed ≥ doubles L for ever.
//  - Line 4 estimates L along the vector of ones itself, so that a warm start does not mix units.
// Options: the inner product P⁻¹ = diag(N) per contact (t = 1/L is then a number near 1, and Π the projection in that
// metric), a cap on β, q of eq. (17), and accepting a step that fails the test by less than a factor 2 while raising
// L for the next one (a projected gradient step descends for t < 2/L).
#include "talus/solvers/methods.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {

SolveReport apgd(const ConeProblem& problem, DualVector& gamma_hat, const SolverSettings& settings) {
  const ApgdOptions& options = settings.options.apgd;
  const bool accept = options.search == "accept";
  const Real shrink = options.step == "adaptive" ? 0.9 : 1.0;
  const Metric P(problem, options.metric == "none" ? MetricKind::none : MetricKind::blocks);
  Watch watch(problem, Law::relaxed, gamma_hat, settings);
  if (problem.dim() == 0) return watch.done(gamma_hat, gamma_hat, 0), watch.finish(0);

  // γ, γ₊, y and the gradients ∇f there
  DualVector γ = gamma_hat, γ_new = problem.zero(), y = problem.zero();
  DualVector g_γ = problem.zero(), g_new = problem.zero(), g_y = problem.zero();
  problem.project(γ);

  y = 1.0;                                                                  // 1
  problem.apply(y, g_y);
  const auto [Nd2, d2] = dots(P.norm2_dual(g_y), P.norm2(y));
  Real L = Nd2 > 0 ? std::sqrt(Nd2 / d2) : 1.0;                             // 4
  problem.gradient(γ, g_γ);
  int applications = 2;
  y = γ, g_y = g_γ;                                                         // 2
  Real θ = 1;                                                               // 3

  while (!watch.done(γ, g_γ, applications)) {                               // 6, 16-23 of the iterate before
    Real L_needed = 0, uphill = 0;
    for (;;) {
      γ_new = P.step(y, 1 / L, g_y);                                        // 8, 12
      problem.gradient(γ_new, g_new);
      ++applications;
      const auto [dNd, dd, momentum] = dots(inner(γ_new - y, g_new - g_y), P.norm2(γ_new - y), inner(g_y, γ_new - γ));
      uphill = momentum;
      if (!(dNd > L * dd)) break;                                           // 9
      if (accept && dNd < 2 * L * dd) {
        L_needed = dNd / dd;
        break;
      }
      L *= 2;                                                               // 10
    }
    const Real θ_new = 0.5 * (options.q - θ * θ + std::sqrt((options.q - θ * θ) * (options.q - θ * θ) + 4 * θ * θ));  // 13
    const Real β = std::min(options.beta_max, θ * (1 - θ) / (θ * θ + θ_new));  // 14
    if (uphill > 0) {                                                       // 24
      y = γ_new, g_y = g_new;                                               // 25
      θ = 1;                                                                // 26
    } else {
      y = γ_new + β * (γ_new - γ);                                          // 15
      g_y = g_new + β * (g_new - g_γ);
      θ = θ_new;
    }
    swap(γ, γ_new), swap(g_γ, g_new);
    L = std::max(shrink * L, L_needed);                                     // 28-29
  }
  return watch.finish(applications);                                        // 32
}

}  // namespace talus
