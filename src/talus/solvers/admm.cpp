// ADMM with the closed-form one-contact law, for the relaxed and the exact problem, finished by a proximal point
// method with semismooth Newton (proximal_newton.hpp). Ours; docs/solvers.md.
//
// Douglas-Rachford form: the state is t, one iteration is one projection and one solve with a factorised matrix,
//     γ = Π_P(t),   z = 2γ − t,   (W + P⁻¹) x = P⁻¹z − r,   u = P⁻¹(z − x),   t ← t + α (γ − t − P u)
// with the metric P = ρ/diag(W) per contact, ρ dimensionless. At the fixed point u = Wγ + r and (γ, u) satisfy the law.
// Anderson acceleration over the last few t (in the norm of P⁻¹), taken back when it fails; ρ balances the two sides,
// rarely, because each change is a factorisation. The exact law is not monotone: a large ρ can make the iteration
// leave a nearly converged point, so there ρ only falls once the residual is small, and the best iterate is where a
// runaway begins again.
#include <Eigen/Dense>

#include "talus/linear/sparse_factor.hpp"
#include "talus/problem/assemble.hpp"
#include "talus/solvers/methods.hpp"
#include "talus/solvers/proximal_newton.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {
namespace {

/// W + P⁻¹ with P = ρ·(the problem's metric), factorised.
class ShiftedMatrix {
 public:
  ShiftedMatrix(const ConeProblem& problem, Law law) : problem_(problem), W_(assemble_matrix(problem, law)) {
    symmetric_ = law == Law::relaxed || problem.symmetric();
  }
  bool factor(Real ρ) {
    std::vector<Eigen::Triplet<Real>> entries;
    const Cones& K = problem_.cones();
    for (Local i = 0; i < K.blocks(); ++i)
      K.at(i, [&](const auto& block, Local row) {
        const BlockMetric P = scaled_metric(problem_, i, ρ), inverse{1 / P.n, 1 / P.t, 1 / P.r};
        for (Local k = 0; k < block.rows; ++k) {
          Real unit[6] = {}, zero[6] = {}, column[6];
          unit[k] = 1;
          block.move(zero, 1.0, unit, column, inverse);
          for (Local l = 0; l < block.rows; ++l) entries.emplace_back(row + l, row + k, column[l]);
        }
      });
    SparseMatrix shift(W_.rows(), W_.cols());
    shift.setFromTriplets(entries.begin(), entries.end());
    return factor_.factor(Eigen::SparseMatrix<Real>(W_ + shift), symmetric_);
  }
  void solve(const DualVector& b, DualVector& x) const {
    const Eigen::VectorXd solved = factor_.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), b.size()));
    std::copy(solved.data(), solved.data() + solved.size(), x.data());
  }
  const SparseMatrix& matrix() const { return W_; }

 private:
  const ConeProblem& problem_;
  SparseMatrix W_;
  SparseFactor factor_;
  bool symmetric_ = true;
};

}  // namespace

SolveReport admm(const ConeProblem& problem, DualVector& gamma_best, const SolverSettings& settings) {
  const AdmmOptions& options = settings.options.admm;
  const Law law = settings.model == Model::exact ? Law::exact : Law::relaxed;
  Watch watch(problem, law, gamma_best, settings);
  DualVector γ = gamma_best, u = problem.zero();
  problem.project(γ);
  problem.velocity(γ, u);
  int applications = 1;
  if (watch.done(γ, u, applications)) return watch.finish(applications);

  ShiftedMatrix A(problem, law);
  Real ρ = options.rho;
  int factorizations = 1;
  if (!A.factor(ρ)) {
    watch.stall();
    return watch.finish(applications);
  }
  const Real α = options.alpha > 0 ? options.alpha : law == Law::relaxed ? 1.6 : 1.0;

  DualVector t = problem.zero(), z = problem.zero(), x = problem.zero(), g = problem.zero(), t_plain = problem.zero();
  DualVector γ_last = problem.zero(), ut = problem.zero(), ut_last = problem.zero();
  auto set_state = [&] { move_blocks(problem, γ, -1.0, u, ρ, t); };                      // t = γ − P u
  set_state();
  AndersonHistory anderson(problem, std::clamp(options.memory, 0, 30));
  Real merit_last = std::numeric_limits<Real>::infinity();
  bool accelerated = false;
  int since_change = 0, wait = 10;
  const bool newton = options.newton && problem.contacts() <= options.newton_contacts;
  constexpr Real hand_over = 2e-4;  // natural residual where Newton's method is near enough

  for (int k = 0;; ++k) {
    project_blocks(problem, law, t, ρ, γ);                                                // γ = Π_P(t)
    x = γ - t;
    move_blocks_inverse(problem, x, ρ, ut);                                               // P⁻¹(γ − t)
    z = 2.0 * γ - t;
    move_blocks_inverse(problem, z, ρ, x);
    x = x - problem.r();
    A.solve(x, x);                                                                        // (W + P⁻¹) x = P⁻¹z − r
    z = z - x;
    move_blocks_inverse(problem, z, ρ, u);                                                // u = P⁻¹(z − x)
    x = γ - t;
    move_blocks(problem, x, -1.0, u, ρ, g);                                               // g = γ − t − P u
    ++applications;
    const Real merit = metric_norm2(problem, g, ρ);
    if (accelerated && !(merit <= 4 * merit_last)) {  // the accelerated step was a bad one
      t = t_plain;
      anderson.forget();
      accelerated = false;
      continue;
    }

    // judge γ every few iterations: its velocity costs a product of its own
    if (k % 5 == 0) {
      problem.velocity(γ, x);
      ++applications;
      if (watch.done(γ, x, applications)) return watch.report().factorizations = factorizations, watch.finish(applications);
      const Real natural = residual(ResidualKind::natural, problem, law, γ, x);
      if (newton && (natural < hand_over || watch.iteration() >= options.admm_iterations)) break;
      if (law == Law::exact && watch.residual() > 10 * watch.best_residual() && watch.best_residual() < 1e-3 &&
          ρ > 1e-2) {  // running away from a nearly converged point
        γ = gamma_best;
        problem.velocity(γ, u);
        ++applications;
        ρ /= 3;
        if (!A.factor(ρ)) break;
        ++factorizations;
        set_state();
        anderson.forget();
        accelerated = false;
        merit_last = std::numeric_limits<Real>::infinity();
        continue;
      }
    } else {
      watch.pass();
    }

    // balance the two sides
    if (++since_change >= wait && k > 10) {
      γ_last = γ - γ_last;
      ut_last = ut - ut_last;
      const Real primal = metric_norm2(problem, γ_last, ρ), dual = metric_norm2_dual(problem, ut_last, ρ);
      const Real s = primal > 0 && dual > 0 ? std::clamp(std::sqrt(std::sqrt(primal / dual)), 0.05, 20.0) : 1.0;
      const bool frozen = law == Law::exact && watch.best_residual() < 1e-3 && s > 1;
      if ((s > 2 || s < 0.5) && !frozen) {
        ρ *= s;
        if (!A.factor(ρ)) break;
        ++factorizations;
        move_blocks(problem, γ, -1.0, ut, ρ, t);
        anderson.forget();
        accelerated = false;
        merit_last = std::numeric_limits<Real>::infinity();
        wait = wait + wait / 2;
        since_change = 0;
        γ_last = γ, ut_last = ut;
        continue;
      }
    }
    γ_last = γ, ut_last = ut;

    merit_last = merit;
    t_plain = t + α * g;
    accelerated = anderson.next(t, g, α, ρ, t);
    if (!accelerated) t = t_plain;
  }

  watch.report().factorizations = factorizations;
  if (!newton) {  // left because a factorisation failed
    watch.stall();
    return watch.finish(applications);
  }
  γ = gamma_best;
  proximal_newton(problem, law, A.matrix(), ρ, γ, watch, applications);
  return watch.finish(applications);
}

}  // namespace talus
