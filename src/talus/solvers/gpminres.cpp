// GPMINRES: gradient projection to find the active set, MINRES on the free parts. Heyn13 §4.2 (numbers below are its
// lines), friction through discs of fixed radius (tresca.hpp). Bars lost in the text: line 32 is α/2.
// GPMINRES-P (`precondition`): MINRES preconditioned by a factorisation of the free block without pivoting, zero
// pivots perturbed; N is symmetric semi-definite, so that is LDLᵀ of the block with a small shift on its diagonal.
#include <Eigen/Dense>
#include <utility>

#include "talus/linear/sparse_factor.hpp"
#include "talus/problem/assemble.hpp"
#include "talus/solvers/tresca.hpp"

namespace talus {
namespace {

/// One MINRES step after the other for A w = b (Paige and Saunders), started from w = 0, A and the preconditioner given
/// as functions y = f(x).
class Minres {
 public:
  template <class Precondition>
  Minres(const DualVector& b, Precondition&& precondition)
      : v_old_(b), v_(b), z_(b), d_old_(b), d_(b), w_(b), Az_(b) {
    v_old_ = 0.0, d_old_ = 0.0, d_ = 0.0, w_ = 0.0;
    precondition(v_, z_);
    β_ = std::sqrt(std::max(dot(v_, z_), 0.0));
    η_ = β_;
  }
  const DualVector& solution() const { return w_; }
  /// False when the Krylov space is exhausted.
  template <class Apply, class Precondition>
  bool step(Apply&& apply, Precondition&& precondition) {
    if (!(β_ > 0)) return false;
    z_ = (1 / β_) * z_;
    apply(z_, Az_);
    const Real α = dot(z_, Az_);
    DualVector& v_new = v_old_;  // v_old is not needed beyond this line
    v_new = Az_ - (α / β_) * v_ - (β_old_ > 0 ? β_ / β_old_ : 0.0) * v_old_;
    // rotations of the tridiagonal matrix
    const Real δ = c_ * α - c_old_ * s_ * β_;
    const Real ρ2 = s_ * α + c_old_ * c_ * β_;
    const Real ρ3 = s_old_ * β_;
    DualVector z_now = z_;
    precondition(v_new, z_);
    const Real β_new = std::sqrt(std::max(dot(v_new, z_), 0.0));
    const Real ρ1 = std::sqrt(δ * δ + β_new * β_new);
    if (!(ρ1 > 0)) return false;
    const Real c_new = δ / ρ1, s_new = β_new / ρ1;
    DualVector& d_new = d_old_;
    d_new = (1 / ρ1) * (z_now - ρ3 * d_old_ - ρ2 * d_);
    w_ += (c_new * η_) * d_new;
    η_ = -s_new * η_;
    swap(d_, d_old_);
    swap(v_, v_old_);
    c_old_ = c_, s_old_ = s_, c_ = c_new, s_ = s_new;
    β_old_ = β_, β_ = β_new;
    return true;
  }

 private:
  DualVector v_old_, v_, z_, d_old_, d_, w_, Az_;
  Real β_ = 0, β_old_ = 0, η_ = 0;
  Real c_ = 1, c_old_ = 1, s_ = 0, s_old_ = 0;
};

}  // namespace

SolveReport gpminres(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings) {
  const GpminresOptions& options = settings.options.gpminres;
  constexpr Real μ_decrease = 0.1;
  SparseMatrix N;
  if (options.precondition) N = assemble_matrix(problem, Law::relaxed);
  int factorizations = 0, extra = 0;
  const Real norm_N = problem.dim() > 0 ? std::max(norm_estimate(problem, extra), std::numeric_limits<Real>::min()) : 1.0;

  auto minimize = [&](const ConeProblem& frozen, const TrescaDiscs& discs, DualVector& γ, DualVector& g, Real reduction,
                      int& applications, const std::function<bool(const DualVector&, const DualVector&)>& stop) {
    DualVector y = frozen.zero(), p = frozen.zero(), Np = frozen.zero(), next = frozen.zero(), g_next = frozen.zero();
    std::vector<Activity> active, active_next;
    // q(b) − q(a) = ½(b − a)ᵀ(∇q(a) + ∇q(b))
    auto change = [](const DualVector& a, const DualVector& ga, const DualVector& b, const DualVector& gb) {
      return 0.5 * dot(b - a, ga + gb);
    };
    applications += std::exchange(extra, 0);
    // ∇_Ω q (14): free parts have the gradient, active ones what a short projected step would set free
    auto projected_gradient = [&](const DualVector& x, const DualVector& gradient, DualVector& out) {
      discs.activity(x, active);
      out = gradient;
      discs.keep(out, active, true);
      next = x - (1 / norm_N) * gradient;
      discs.project(next);
      next = norm_N * (x - next);
      discs.keep(next, active, false);
      out += next;
    };
    Real first = -1;
    for (;;) {                                                                              // 2
      // gradient projection
      Real largest = 0;
      bool progress = false;
      for (int j = 0; j < options.gp_iterations; ++j) {                                     // 4
        projected_gradient(γ, g, p);
        frozen.apply(p, Np);
        ++applications;
        const auto [pp, pNp, gp] = dots(inner(p, p), inner(p, Np), inner(g, p));
        if (first < 0) first = std::sqrt(pp);
        if (std::sqrt(pp) <= std::max(reduction * first, 1e-13 * norm(g))) return;
        Real α = pNp > 0 ? gp / pNp : 1.0;                                                  // 5
        Real fall = 0;
        for (int tries = 0; tries < 40; ++tries, α *= 0.5) {                                // 6
          next = γ - α * p;                                                                 // 7
          discs.project(next);
          frozen.gradient(next, g_next);
          ++applications;
          fall = -change(γ, g, next, g_next);
          if (-fall <= μ_decrease * dot(g, next - γ)) break;                                // 8
        }
        discs.activity(γ, active);
        discs.activity(next, active_next);
        if (!(fall > 0)) break;
        progress = true;
        swap(γ, next), swap(g, g_next);
        largest = std::max(largest, fall);
        if (stop(γ, g)) return;
        if (active == active_next) break;                                                   // 9
        if (fall <= options.eta1 * largest && j > 0) break;                                 // 11
      }
      // MINRES on the free parts: N^(k) w = −r^(k)
      discs.activity(γ, active);                                                            // 15
      y = -g;
      discs.keep(y, active, true);                                                          // 17
      if (norm(y) == 0) {
        if (!progress || stop(γ, g)) return;
        continue;
      }
      SparseFactor factor;
      if (options.precondition) {
        // Z N Z + (I − Z) with Z the projector on the free parts, and the shift that stands for perturbed pivots
        std::vector<Eigen::Triplet<Real>> entries;
        const Cones& K = frozen.cones();
        Real trace = 0;
        for (int i = 0; i < N.rows(); ++i) trace += N.coeff(i, i);
        const Real scale = trace / std::max<Real>(1, N.rows());
        SparseMatrix Z(N.rows(), N.rows());
        for (Local i = 0; i < K.blocks(); ++i)
          K.at(i, [&](const auto& block, Local row) {
            for (Local k = 0; k < block.rows; ++k) {
              Real unit[6] = {};
              unit[k] = 1;
              Parts parts = split(block, unit);
              if (active[i].n) parts.n = 0;
              if (active[i].t) parts.t.setZero();
              if (active[i].r) parts.r.setZero();
              Real image[6] = {};
              join(block, parts, image);
              for (Local l = 0; l < block.rows; ++l) entries.emplace_back(row + l, row + k, image[l]);
            }
          });
        Z.setFromTriplets(entries.begin(), entries.end());
        SparseMatrix identity(N.rows(), N.rows());
        identity.setIdentity();
        const SparseMatrix block = SparseMatrix(Z * N * Z) + scale * SparseMatrix(identity - Z) + 1e-8 * scale * identity;
        factor.factor(Eigen::SparseMatrix<Real>(block), true);
        ++factorizations;
      }
      auto precondition = [&](const DualVector& in, DualVector& out) {
        out = in;
        if (!options.precondition) return;
        const Eigen::VectorXd solved = factor.solve(Eigen::Map<const Eigen::VectorXd>(in.data(), in.size()));
        std::copy(solved.data(), solved.data() + solved.size(), out.data());
        discs.keep(out, active, true);
      };
      auto apply = [&](const DualVector& in, DualVector& out) {
        frozen.apply(in, out);
        ++applications;
        discs.keep(out, active, true);
      };
      Minres minres(y, precondition);
      Real q_old = 0, largest_fall = 0;
      for (int j = 0; j < options.minres_iterations; ++j) {                                 // 20
        if (!minres.step(apply, precondition)) break;                                       // 21
        // q(w) by the residual's own quantities would need a product; a stall shows in the search below instead
        const Real q = -0.5 * dot(minres.solution(), y);                                    // 22 (exact at the solution)
        const Real fall = q_old - q;                                                        // 23
        q_old = q;
        if (j > 0 && fall <= options.eta2 * largest_fall) break;                            // 25
        largest_fall = std::max(largest_fall, fall);
      }
      p = minres.solution();                                                                // 27
      Real α = 1, fall = 0;                                                                 // 29
      for (int tries = 0; tries < 30; ++tries, α *= 0.5) {                                  // 30, 32
        next = γ + α * p;                                                                   // 31
        discs.project(next);
        frozen.gradient(next, g_next);
        ++applications;
        fall = -change(γ, g, next, g_next);
        if (-fall <= μ_decrease * dot(g, next - γ)) break;                                  // 34
      }
      if (fall > 0) swap(γ, next), swap(g, g_next);
      if (stop(γ, g) || (!progress && !(fall > 0))) return;  // down to round-off
    }
  };
  SolveReport report = solve_by_tresca_discs(problem, gamma, settings, minimize);
  report.factorizations = factorizations;
  return report;
}

}  // namespace talus
