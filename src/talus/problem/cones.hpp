// Cones: the product K of the contact problem's cones, block by block.
//
//   coulomb  3 rows, world coordinates, axis n:   {‖γ_T‖ ≤ μ γ_n}            (the engine's contact; μ = 0: a ray)
//   planar   2 rows (N, T):                       {|γ_T| ≤ μ γ_N}
//   rolling  5 rows (N, T1, T2, R1, R2):          {‖γ_T‖ ≤ μ γ_N, ‖γ_R‖ ≤ μ_r γ_N}
//   free     1 row:                               [low, high], the whole line without bounds (joints, motors)
//
// When every block is `coulomb` (all of the engine's own problems) loops run over a plain array of axes and
// frictions, without a decision per block. The velocity side is the dual cone K*; the exact law adds De Saxcé's
// term μ‖u_T‖ (+ μ_r‖u_R‖) to the normal velocity.
#pragma once
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "talus/algebra/dual_vector.hpp"
#include "talus/math/cone.hpp"

namespace talus {

enum class ConeKind : std::uint8_t { coulomb, planar, rolling, free };
inline constexpr Local rows_of(ConeKind kind) {
  constexpr Local rows[] = {3, 2, 5, 1};
  return rows[static_cast<int>(kind)];
}

/// Relaxed: (γ, u) complementary in K, K* (the convex problem, CCP). Exact: with û = u + (μ‖u_T‖ + …) n (NCP).
enum class Law : std::uint8_t { relaxed, exact };

/// One cone as read from a file.
struct ConeBlock {
  ConeKind kind = ConeKind::coulomb;
  Real mu = 0;                      ///< sliding friction
  Real mu_r = 0;                    ///< rolling friction (length; the file's own unit)
  Vec3 normal = Vec3::UnitX();      ///< axis of a coulomb block; the other kinds have N as their first row
  Real low = -std::numeric_limits<Real>::infinity();  ///< bounds of a free row
  Real high = std::numeric_limits<Real>::infinity();
};

/// Diagonal metric P of one block (impulse per velocity): along the normal, tangential, rolling.
struct BlockMetric {
  Real n = 1, t = 1, r = 1;
};

/// What formulas need of one coulomb block; vectors are pointers to its first row.
struct CoulombBlock {
  using Vector = Vec3;
  Vec3 n;
  Real mu;
  static constexpr Local rows = 3;
  static constexpr bool is_free = false;

  Vec3 projected(const Vec3& x) const { return project_cone(x, n, mu); }
  Vec3 projected(const Vec3& x, const BlockMetric& P) const { return project_cone(x, n, mu, NormalTangent{P.n, P.t}); }
  Vec3 coulombed(const Vec3& x) const { return coulomb_step(x, n, mu); }
  Vec3 moved(const Vec3& x, Real s, const Vec3& g, const BlockMetric& P) const { return moved(x, s, g, n, P); }

  static Vec3 load(const Real* x) { return Vec3(x[0], x[1], x[2]); }
  static void store(const Vec3& v, Real* x) { x[0] = v[0], x[1] = v[1], x[2] = v[2]; }

  /// out = Π_P(x); x and out may be the same.
  void project(const Real* x, Real* out, const BlockMetric& P) const {
    store(project_cone(load(x), n, mu, NormalTangent{P.n, P.t}), out);
  }
  void project(const Real* x, Real* out) const { store(project_cone(load(x), n, mu), out); }
  /// out = the impulse of the exact law when u = P⁻¹(out − x).
  void coulomb(const Real* x, Real* out) const { store(coulomb_step(load(x), n, mu), out); }
  /// out = x + s P g
  static Vec3 moved(const Vec3& x, Real s, const Vec3& g, const Vec3& n, const BlockMetric& P) {
    return x + (s * P.t) * g + (s * (P.n - P.t) * n.dot(g)) * n;
  }
  void move(const Real* x, Real s, const Real* g, Real* out, const BlockMetric& P) const {
    store(moved(load(x), s, load(g), n, P), out);
  }
  /// xᵀP⁻¹x and xᵀPx
  Real norm2_inverse(const Real* x, const BlockMetric& P) const {
    const Vec3 v = load(x);
    const Real xn = n.dot(v), all = v.squaredNorm();
    return xn * xn / P.n + std::max(all - xn * xn, 0.0) / P.t;
  }
  Real norm2(const Real* x, const BlockMetric& P) const {
    const Vec3 v = load(x);
    const Real xn = n.dot(v), all = v.squaredNorm();
    return xn * xn * P.n + std::max(all - xn * xn, 0.0) * P.t;
  }
  /// De Saxcé's term of velocity u, and u with `s` added along the normal.
  Real de_saxce(const Real* u) const {
    const Vec3 v = load(u);
    return mu * std::sqrt((v - n.dot(v) * n).squaredNorm());
  }
  void shift(Real* u, Real s) const { store(load(u) + s * n, u); }
  /// De20's r_p of γ and r_d of u.
  Real primal_violation(const Real* x) const {
    const Vec3 v = load(x);
    const Real xn = n.dot(v);
    if (mu == 0) return std::max(0.0, -xn);
    return std::max(0.0, std::sqrt((v - xn * n).squaredNorm()) - mu * xn);
  }
  Real dual_violation(const Real* u) const {
    const Vec3 v = load(u);
    const Real un = n.dot(v);
    if (mu == 0) return std::max(0.0, -un);
    return std::max(0.0, std::sqrt((v - un * n).squaredNorm()) - un / mu);
  }
};

/// The same for any kind, decided at run time.
struct AnyBlock {
  using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1, 0, 6, 1>;
  const ConeBlock& cone;
  Local rows = rows_of(cone.kind);
  bool is_free = cone.kind == ConeKind::free;

  void project(const Real* x, Real* out, const BlockMetric& P) const;
  void project(const Real* x, Real* out) const { project(x, out, BlockMetric{}); }
  void coulomb(const Real* x, Real* out) const;
  void move(const Real* x, Real s, const Real* g, Real* out, const BlockMetric& P) const;
  Real norm2_inverse(const Real* x, const BlockMetric& P) const;
  Real norm2(const Real* x, const BlockMetric& P) const;
  Real de_saxce(const Real* u) const;
  void shift(Real* u, Real s) const;
  Real primal_violation(const Real* x) const;
  Real dual_violation(const Real* u) const;

  Vector projected(Vector x) const { return project(x.data(), x.data()), x; }
  Vector projected(Vector x, const BlockMetric& P) const { return project(x.data(), x.data(), P), x; }
  Vector coulombed(Vector x) const { return coulomb(x.data(), x.data()), x; }
  Vector moved(Vector x, Real s, const Vector& g, const BlockMetric& P) const {
    return move(x.data(), s, g.data(), x.data(), P), x;
  }
};

class Cones {
 public:
  Cones() = default;
  /// Coulomb cones on arrays that outlive this object (the contacts').
  static Cones coulomb(std::span<const Vec3> normal, std::span<const Real> friction);
  /// Any mixture; keeps its own copy. All-coulomb lists take the fast path too.
  static Cones from_blocks(std::vector<ConeBlock> blocks);

  Local blocks() const { return blocks_; }
  Local rows() const { return rows_; }
  /// Every block is coulomb: loops may use normal() and friction() directly.
  bool uniform() const { return !list_; }
  std::span<const Vec3> normal() const { return normal_; }
  std::span<const Real> friction() const { return friction_; }

  ConeKind kind(Local i) const { return uniform() ? ConeKind::coulomb : (*list_)[i].kind; }
  Local begin(Local i) const { return uniform() ? 3 * i : (*begin_)[i]; }  ///< first row of block i
  Local rows(Local i) const { return uniform() ? 3 : rows_of((*list_)[i].kind); }
  CoulombBlock coulomb_block(Local i) const { return {normal_[i], friction_[i]}; }
  AnyBlock any_block(Local i) const { return AnyBlock{(*list_)[i]}; }

  /// f(block, i, first row) for blocks [begin, end): f is called with a CoulombBlock or an AnyBlock.
  template <class F>
  void visit(Local begin_block, Local end_block, F&& f) const {
    if (uniform())
      for (Local i = begin_block; i < end_block; ++i) f(coulomb_block(i), i, 3 * i);
    else
      for (Local i = begin_block; i < end_block; ++i) f(any_block(i), i, (*begin_)[i]);
  }
  /// The same for one block.
  template <class F>
  auto at(Local i, F&& f) const {
    return uniform() ? f(coulomb_block(i), 3 * i) : f(any_block(i), (*begin_)[i]);
  }

 private:
  Local blocks_ = 0, rows_ = 0;
  std::span<const Vec3> normal_;
  std::span<const Real> friction_;
  // owned storage of file problems, shared between copies
  std::shared_ptr<const Array<Vec3>> own_normal_;
  std::shared_ptr<const Array<Real>> own_friction_;
  std::shared_ptr<const std::vector<ConeBlock>> list_;  ///< null when uniform
  std::shared_ptr<const std::vector<Local>> begin_;
};

}  // namespace talus
