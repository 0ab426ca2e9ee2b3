// The contact problem of one step:
//
//     find γ ∈ K with g = N γ + r ∈ K* and γ ⟂ g,      i.e.  min ½ γᵀNγ + rᵀγ  over K           (relaxed, CCP)
//
// γ are the contact impulses (world coordinates, +γ on body b, −γ on body a), g the contact velocities after the
// step, N = DᵀM⁻¹D. The exact Coulomb law (NCP) has û = g + μ‖g_T‖ n in place of g.
//
// Solvers know a problem by its verbs only: apply N, project, the metric, the diagonal, sweep (sweep.hpp). Whether
// N is matrix-free over bodies or an explicit matrix, and how many threads and processes work, they cannot tell.
#pragma once
#include <memory>
#include <span>
#include <variant>

#include "talus/algebra/dual_vector.hpp"
#include "talus/algebra/halo.hpp"
#include "talus/base/team.hpp"
#include "talus/bodies/bodies.hpp"
#include "talus/collision/contacts.hpp"
#include "talus/problem/cones.hpp"
#include "talus/problem/delassus.hpp"

namespace talus {

/// Units of the problem for the scaled residual: m̄ (mean mass of moving bodies) and g·h (or the mean speed).
struct ProblemScales {
  Real mass = 1;
  Real speed = 1;
};

/// How gaps enter the right-hand side.
struct GapRule {
  Real h = 0;                ///< length of the step, s
  Real recovery_speed = -1;  ///< m/s; overlap is corrected at most this fast. Negative: 0.1·√(g R) of each pair
  Real gravity = 0;          ///< ‖g‖ for the automatic recovery speed; 0: ProblemScales::speed takes its place
};

class ConeProblem {
 public:
  /// r = n·max(φ/h, −recovery speed) + Dᵀ v_free. All arguments except `rule` and `scales` outlive the problem.
  static ConeProblem from_contacts(const Contacts& contacts, const Bodies& bodies, const BodyVector& free_velocity,
                                   const GapRule& rule, const ProblemScales& scales, const Team& team,
                                   const Halo& halo = plain_halo());
  /// An explicit problem u = W γ + q (problem files, tests).
  static ConeProblem from_matrix(SparseMatrix W, std::span<const Real> q, Cones cones, const ProblemScales& scales,
                                 const Team& team);

  /// The same operator with another right-hand side or other cones; shares everything else.
  ConeProblem with_r(DualVector r) const;
  /// The same with s_i added to the normal velocity of every block (De Saxcé's term of the exact law).
  ConeProblem with_normal_shift(std::span<const Real> s) const;
  ConeProblem with_cones(Cones cones) const;

  Local blocks() const { return K_.blocks(); }      ///< contacts of this process
  Global contacts() const { return contacts_; }     ///< contacts of all processes
  Global dim() const { return dim_; }               ///< rows of all processes: the size in formulas
  DualVector zero() const { return DualVector(*team_, K_.rows()); }
  const DualVector& r() const { return r_; }
  const Cones& cones() const { return K_; }
  const ProblemScales& scales() const { return scales_; }
  const Team& team() const { return *team_; }

  /// Nx = N x. N is symmetric positive semi-definite.
  void apply(const DualVector& x, DualVector& Nx) const;
  /// g = N x + r: the gradient of the objective, the contact velocities.
  void gradient(const DualVector& x, DualVector& g) const;
  /// u = W γ + r with the problem's own W: differs from N γ + r only for unsymmetric problem files.
  void velocity(const DualVector& gamma, DualVector& u) const;
  /// Is W its own symmetric part?
  bool symmetric() const;

  /// P = 1/diag(N) of every block: normal, mean tangential, mean rolling entry.
  BlockMetric metric(Local i) const {
    return K_.uniform() ? BlockMetric{(*metric_)[i].n, (*metric_)[i].t, 1.0} : (*any_metric_)[i];
  }
  /// The same as an array when all cones are coulomb.
  const NormalTangent* metric_data() const { return metric_->data(); }
  /// N_ii (of W with `own`).
  BlockMatrix diagonal(Local i, bool own = false) const;

  /// γ ← Π_K(γ)
  void project(DualVector& gamma) const;
  /// f(γ) = ½γᵀNγ + rᵀγ, given Nγ.
  Real objective(const DualVector& gamma, const DualVector& N_gamma) const;
  /// v = v_free + M⁻¹Dγ on all bodies. Only for problems built from contacts.
  void body_velocities(const DualVector& gamma, BodyVector& v) const;
  /// ‖u_T‖ of every contact when bodies move with v: what the lagged model keeps for the next step.
  void slip(const BodyVector& v, std::span<Real> slip) const;

  /// The implementation behind apply; for the rooms that need its structure (sweeps, factorisations, files).
  const std::variant<ContactOperator, MatrixOperator>& structure() const { return *N_; }
  const ContactOperator* contact_operator() const { return std::get_if<ContactOperator>(N_.get()); }
  const MatrixOperator* matrix_operator() const { return std::get_if<MatrixOperator>(N_.get()); }
  const BodyVector* free_velocity() const { return free_velocity_; }

 private:
  ConeProblem() = default;
  void finish();  ///< global sizes and the metric, once N, K and r are there

  std::shared_ptr<const std::variant<ContactOperator, MatrixOperator>> N_;
  DualVector r_;
  Cones K_;
  ProblemScales scales_;
  const Team* team_ = nullptr;
  const BodyVector* free_velocity_ = nullptr;
  Global contacts_ = 0, dim_ = 0;
  std::shared_ptr<const Array<NormalTangent>> metric_;       ///< of uniform problems
  std::shared_ptr<const std::vector<BlockMetric>> any_metric_;  ///< of mixed ones
};

/// Which inner product a gradient method works in: the plain one, or P = 1/diag(N) per block.
enum class MetricKind { none, blocks };

/// The metric of a gradient method on one problem. With y and g rows of the problem:
///     γ = metric.step(y, t, g);              // γ = Π_P(y − t P g), one pass; t > 0
///     dots(metric.norm2(d), inner(d, Nd))    // dᵀP⁻¹d as a term of dots; norm2_dual(g) is gᵀPg
class Metric {
 public:
  Metric(const ConeProblem& problem, MetricKind kind) : problem_(&problem), kind_(kind) {}

  template <DualExpr Y, DualExpr G>
  struct Step {
    const Metric& metric;
    detail::Operand<Y> y;
    Real t;
    detail::Operand<G> g;
    void assign_to(DualVector& out) const;
  };
  template <DualExpr Y, DualExpr G>
  Step<Y, G> step(const Y& y, Real t, const G& g) const {
    return {*this, y, t, g};
  }

  template <DualExpr D>
  struct Norm2 {
    const Metric& metric;
    detail::Operand<D> d;
    const Team& team() const { return d.team(); }
    Local size() const { return d.size(); }
    bool dual;  ///< dᵀP d instead
    Real rows(Local begin, Local end) const;
  };
  template <DualExpr D>
  Norm2<D> norm2(const D& d) const {
    return {*this, d, false};
  }
  template <DualExpr D>
  Norm2<D> norm2_dual(const D& d) const {
    return {*this, d, true};
  }

  const ConeProblem& problem() const { return *problem_; }
  MetricKind kind() const { return kind_; }
  BlockMetric of(Local i) const { return kind_ == MetricKind::none ? BlockMetric{} : problem_->metric(i); }

 private:
  const ConeProblem* problem_;
  MetricKind kind_;
};

// ---- templates --------------------------------------------------------------------------------------------

template <DualExpr Y, DualExpr G>
void Metric::Step<Y, G>::assign_to(DualVector& out_vector) const {
  const ConeProblem& problem = metric.problem();
  const Cones& K = problem.cones();
  Real* const out = out_vector.data();
  auto mixed = [&](Local i) {
    const AnyBlock block = K.any_block(i);
    const BlockMetric P = metric.of(i);
    const Local row = K.begin(i);
    Real x[6], grad[6];
    for (Local k = 0; k < block.rows; ++k) x[k] = y[row + k], grad[k] = g[row + k];
    block.move(x, -t, grad, x, P);
    block.project(x, out + row, P);
  };
  // the engine's own contacts stay in registers from load to store
  auto coulomb = [&](Local i, const NormalTangent& P) __attribute__((always_inline)) {
    const CoulombBlock block = K.coulomb_block(i);
    const Vec3 x(y[3 * i], y[3 * i + 1], y[3 * i + 2]), grad(g[3 * i], g[3 * i + 1], g[3 * i + 2]);
    const Vec3 moved = CoulombBlock::moved(x, -t, grad, block.n, {P.n, P.t, 1.0});
    CoulombBlock::store(project_cone(moved, block.n, block.mu, P), out + 3 * i);
  };
  problem.team().for_ranges(problem.blocks(), [&](Local begin, Local end) {
    if (!K.uniform()) {
      for (Local i = begin; i < end; ++i) mixed(i);
    } else if (metric.kind() == MetricKind::none) {
      for (Local i = begin; i < end; ++i) coulomb(i, NormalTangent{});
    } else {
      const NormalTangent* P = problem.metric_data();
      for (Local i = begin; i < end; ++i) coulomb(i, P[i]);
    }
  });
}

template <DualExpr D>
Real Metric::Norm2<D>::rows(Local begin, Local end) const {
  if (metric.kind() == MetricKind::none) return lane_sum(begin, end, [&](Local i) { return d[i] * d[i]; });
  const ConeProblem& problem = metric.problem();
  const Cones& K = problem.cones();
  Real sum = 0;
  if (K.uniform()) {
    const NormalTangent* P = problem.metric_data();
    const Vec3* normal = K.normal().data();
    for (Local i = begin / 3; i < end / 3; ++i) {
      const Vec3 x(d[3 * i], d[3 * i + 1], d[3 * i + 2]);
      const Real xn = normal[i].dot(x), xt2 = std::max(x.squaredNorm() - xn * xn, 0.0);
      sum += dual ? xn * xn * P[i].n + xt2 * P[i].t : xn * xn / P[i].n + xt2 / P[i].t;
    }
    return sum;
  }
  // mixed blocks: a block counts for the range its first row is in
  Local low = 0, high = K.blocks();
  while (low < high) {
    const Local middle = low + (high - low) / 2;
    if (K.begin(middle) < begin)
      low = middle + 1;
    else
      high = middle;
  }
  for (Local i = low; i < K.blocks() && K.begin(i) < end; ++i) {
    const AnyBlock block = K.any_block(i);
    Real x[6];
    for (Local k = 0; k < block.rows; ++k) x[k] = d[K.begin(i) + k];
    sum += dual ? block.norm2(x, problem.metric(i)) : block.norm2_inverse(x, problem.metric(i));
  }
  return sum;
}

}  // namespace talus
