// AGS: accelerated symmetric block Gauss-Seidel for the relaxed problem (ours; docs/solvers.md).
//
// One iteration is a momentum step followed by a forward and a backward sweep of the one-contact law in the metric
// P_i = 1/diag(N_ii). The symmetric pair is a gradient step in the norm of N + L D⁻¹Lᵀ ≥ N, so step 1 is valid: no line
// search, no Lipschitz estimate. The sweep must be symmetric: momentum over one-sided sweeps blows up. The momentum
// factor is kept between beta_min and beta_max instead of Nesterov's → 1, and is dropped whenever the forward sweep
// turns against it (gradient restart).
#include "talus/problem/sweep.hpp"
#include "talus/solvers/methods.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {

SolveReport ags(const ConeProblem& problem, DualVector& gamma_best, const SolverSettings& settings) {
  const AgsOptions& options = settings.options.ags;
  Watch watch(problem, Law::relaxed, gamma_best, settings);
  DualVector γ = gamma_best, γ_old = problem.zero(), y = problem.zero(), u = problem.zero();
  problem.project(γ);
  Sweep sweep(problem, Law::relaxed, options.pieces);
  auto law = [&](const auto& block, Local i, const auto& γ_i, const auto& u_i) {
    const BlockMetric P = sweep.metric(i);
    return block.projected(block.moved(γ_i, -1.0, u_i, P), P);
  };

  sweep.start(γ);
  sweep.velocity(γ, u);
  γ_old = γ;
  int sweeps = 0;
  Real β = 0, θ = 1;
  while (!watch.done(γ, u, sweeps)) {
    y = γ + β * (γ - γ_old);
    sweep.extrapolate(β);
    γ_old = γ;
    γ = y;
    sweep.forward(γ, law);
    const Real uphill = dot(y - γ, γ - γ_old);
    sweep.backward(γ, law);
    sweeps += 2;
    sweep.velocity(γ, u);

    const Real θ_new = 0.5 * (-θ * θ + θ * std::sqrt(θ * θ + 4));
    const Real nesterov = θ * (1 - θ) / (θ * θ + θ_new);
    if (uphill > 0) {
      β = 0, θ = 1;
    } else {
      β = std::min(options.beta_max, std::max(options.beta_min, nesterov));
      θ = θ_new;
    }
  }
  return watch.finish(sweeps);
}

}  // namespace talus
