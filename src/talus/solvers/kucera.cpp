// Kučera's method for quadratics with separable convex constraints. Heyn13 §4.4 (numbers below are its lines), friction
// through discs of fixed radius (tresca.hpp). Conjugate gradients on the free parts while the iterate is strictly
// proportional, an expansion step where they leave the constraints, a proportioning step where active parts want to
// leave. Printed for one bound per unknown; here a contact has a normal and a tangential part. α̃ = 1/‖N‖ from an
// estimate: where a fixed step fails to descend, the estimate is raised.
#include <utility>

#include "talus/solvers/tresca.hpp"

namespace talus {

SolveReport kucera(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings) {
  const Real Γ = settings.options.kucera.proportion;
  int extra = 0;
  Real norm_N = problem.dim() > 0 ? norm_estimate(problem, extra) : 0;
  if (!(norm_N > 0)) norm_N = 1;

  auto minimize = [&](const ConeProblem& frozen, const TrescaDiscs& discs, DualVector& γ, DualVector& g, Real reduction,
                      int& applications, const std::function<bool(const DualVector&, const DualVector&)>& stop) {
    applications += std::exchange(extra, 0);
    DualVector p = frozen.zero(), Np = frozen.zero(), g_tilde = frozen.zero(), φ_tilde = frozen.zero();
    DualVector φ = frozen.zero(), next = frozen.zero(), g_next = frozen.zero();
    std::vector<Activity> active;
    auto projected_gradient = [&](const DualVector& x, const DualVector& gradient) {       // (25)
      g_tilde = x - (1 / norm_N) * gradient;
      discs.project(g_tilde);
      g_tilde = norm_N * (x - g_tilde);
    };
    auto free_gradient = [&](const DualVector& x, const DualVector& gradient, DualVector& out) {  // (28)
      discs.activity(x, active);
      out = gradient;
      discs.keep(out, active, true);
    };
    // a fixed step along d = the free or the active part of g̃, shortened until the objective falls
    auto fixed_step = [&](const DualVector& x, const DualVector& d) {
      for (int tries = 0; tries < 60; ++tries) {
        next = x - (1 / norm_N) * d;
        discs.project(next);
        frozen.gradient(next, g_next);
        ++applications;
        if (dot(next - x, g + g_next) <= 0) break;   // q(next) − q(x) = ½(next − x)ᵀ(g + g_next)
        norm_N *= 2;
        projected_gradient(x, g);
      }
      swap(γ, next), swap(g, g_next);
      free_gradient(γ, g, φ);
      p = φ;
    };

    free_gradient(γ, g, φ);
    p = φ;                                                                                  // 3
    projected_gradient(γ, g);
    const Real first = norm(g_tilde);
    for (;;) {                                                                              // 4
      projected_gradient(γ, g);
      const Real size = norm(g_tilde);
      if (size <= std::max(reduction * first, 1e-13 * norm(g))) return;
      discs.activity(γ, active);
      φ_tilde = g_tilde;
      discs.keep(φ_tilde, active, true);
      const auto [free_part, whole] = dots(inner(φ_tilde, g), inner(g_tilde, g));
      const Real boundary_part = whole - free_part;
      if (boundary_part <= Γ * Γ * free_part) {                                             // 5
        frozen.apply(p, Np);
        ++applications;
        const auto [gp, pNp] = dots(inner(g, p), inner(p, Np));
        const Real α_cg = pNp > 0 ? gp / pNp : std::numeric_limits<Real>::infinity();       // 6
        const Real α_f = discs.feasible_step(γ, p, active);                                         // 7
        if (α_cg < α_f) {                                                                   // 8
          γ += -α_cg * p;                                                                   // 9
          g += -α_cg * Np;                                                                  // 10
          free_gradient(γ, g, φ);
          const Real ρ = dot(φ, Np) / pNp;                                                  // 11
          p = φ - ρ * p;                                                                    // 12
        } else {
          if (!std::isfinite(α_f)) return;  // no curvature and no constraint: unbounded along p
          γ += -α_f * p;                                                                    // 14
          g += -α_f * Np;
          discs.project(γ);
          projected_gradient(γ, g);
          discs.activity(γ, active);
          discs.keep(g_tilde, active, true);
          φ_tilde = g_tilde;
          fixed_step(DualVector(γ), φ_tilde);                                               // 15-17
        }
      } else {
        discs.keep(g_tilde, active, false);
        φ_tilde = g_tilde;
        fixed_step(DualVector(γ), φ_tilde);                                                 // 19-21
      }
      if (stop(γ, g)) return;
    }
  };
  return solve_by_tresca_discs(problem, gamma, settings, minimize);
}

}  // namespace talus
