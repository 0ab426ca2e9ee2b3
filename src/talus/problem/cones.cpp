#include "talus/problem/cones.hpp"

namespace talus {
namespace {

/// Rows of a block as (N; T…; R…): where T and R begin and end.
struct Parts {
  int t_begin, t_end, r_begin, r_end;
};
Parts parts(ConeKind kind) {
  switch (kind) {
    case ConeKind::planar: return {1, 2, 2, 2};
    case ConeKind::rolling: return {1, 3, 3, 5};
    default: return {1, 1, 1, 1};
  }
}
Real length(const Real* x, int begin, int end) {
  Real s = 0;
  for (int k = begin; k < end; ++k) s += x[k] * x[k];
  return std::sqrt(s);
}
CoulombBlock coulomb_of(const ConeBlock& c) { return {c.normal, c.mu}; }

}  // namespace

void AnyBlock::project(const Real* x, Real* out, const BlockMetric& P) const {
  if (cone.kind == ConeKind::coulomb) return coulomb_of(cone).project(x, out, P);
  if (cone.kind == ConeKind::free) {
    out[0] = std::clamp(x[0], cone.low, cone.high);
    return;
  }
  const Parts p = parts(cone.kind);
  // in units of √P every part is Euclidean, the cones have μ√(P_n/P_t) and μ_r√(P_n/P_r)
  const Real sn = std::sqrt(P.n), st = std::sqrt(P.t), sr = std::sqrt(P.r);
  const Real t = length(x, p.t_begin, p.t_end), r = length(x, p.r_begin, p.r_end);
  Real z;
  if (cone.kind == ConeKind::planar)
    z = project_cones_height<1>(x[0] / sn, {t / st}, {cone.mu * sn / st});
  else
    z = project_cones_height<2>(x[0] / sn, {t / st, r / sr}, {cone.mu * sn / st, cone.mu_r * sn / sr});
  const Real normal = z * sn;
  const Real ft = t <= cone.mu * normal ? 1.0 : cone.mu * normal / t;
  const Real fr = r <= cone.mu_r * normal ? 1.0 : cone.mu_r * normal / r;
  for (int k = p.t_begin; k < p.t_end; ++k) out[k] = ft * x[k];
  for (int k = p.r_begin; k < p.r_end; ++k) out[k] = fr * x[k];
  out[0] = normal;
}

void AnyBlock::coulomb(const Real* x, Real* out) const {
  if (cone.kind == ConeKind::coulomb) return coulomb_of(cone).coulomb(x, out);
  if (cone.kind == ConeKind::free) {
    out[0] = std::clamp(x[0], cone.low, cone.high);
    return;
  }
  const Parts p = parts(cone.kind);
  const Real normal = std::max(x[0], 0.0);
  const Real t = length(x, p.t_begin, p.t_end), r = length(x, p.r_begin, p.r_end);
  const Real ft = t <= cone.mu * normal ? 1.0 : cone.mu * normal / t;
  const Real fr = r <= cone.mu_r * normal ? 1.0 : cone.mu_r * normal / r;
  for (int k = p.t_begin; k < p.t_end; ++k) out[k] = ft * x[k];
  for (int k = p.r_begin; k < p.r_end; ++k) out[k] = fr * x[k];
  out[0] = normal;
}

void AnyBlock::move(const Real* x, Real s, const Real* g, Real* out, const BlockMetric& P) const {
  if (cone.kind == ConeKind::coulomb) return coulomb_of(cone).move(x, s, g, out, P);
  const Parts p = parts(cone.kind);
  out[0] = x[0] + s * P.n * g[0];
  for (int k = p.t_begin; k < p.t_end; ++k) out[k] = x[k] + s * P.t * g[k];
  for (int k = p.r_begin; k < p.r_end; ++k) out[k] = x[k] + s * P.r * g[k];
}

Real AnyBlock::norm2_inverse(const Real* x, const BlockMetric& P) const {
  if (cone.kind == ConeKind::coulomb) return coulomb_of(cone).norm2_inverse(x, P);
  const Parts p = parts(cone.kind);
  Real s = x[0] * x[0] / P.n;
  for (int k = p.t_begin; k < p.t_end; ++k) s += x[k] * x[k] / P.t;
  for (int k = p.r_begin; k < p.r_end; ++k) s += x[k] * x[k] / P.r;
  return s;
}

Real AnyBlock::norm2(const Real* x, const BlockMetric& P) const {
  return norm2_inverse(x, BlockMetric{1 / P.n, 1 / P.t, 1 / P.r});
}

Real AnyBlock::de_saxce(const Real* u) const {
  if (cone.kind == ConeKind::coulomb) return coulomb_of(cone).de_saxce(u);
  const Parts p = parts(cone.kind);
  return cone.mu * length(u, p.t_begin, p.t_end) + cone.mu_r * length(u, p.r_begin, p.r_end);
}

void AnyBlock::shift(Real* u, Real s) const {
  if (cone.kind == ConeKind::coulomb)
    coulomb_of(cone).shift(u, s);
  else if (cone.kind != ConeKind::free)
    u[0] += s;
}

Real AnyBlock::primal_violation(const Real* x) const {
  switch (cone.kind) {
    case ConeKind::coulomb: return coulomb_of(cone).primal_violation(x);
    case ConeKind::free: return std::max({0.0, cone.low - x[0], x[0] - cone.high});
    default: {
      const Parts p = parts(cone.kind);
      const Real t = length(x, p.t_begin, p.t_end) - cone.mu * x[0];
      const Real r = length(x, p.r_begin, p.r_end) - cone.mu_r * x[0];
      return std::max({0.0, -x[0], t, cone.kind == ConeKind::rolling ? r : 0.0});
    }
  }
}

Real AnyBlock::dual_violation(const Real* u) const {
  switch (cone.kind) {
    case ConeKind::coulomb: return coulomb_of(cone).dual_violation(u);
    case ConeKind::free: return std::abs(u[0]);
    default: {
      const Real largest = std::max(cone.mu, cone.mu_r);
      if (largest == 0) return std::max(0.0, -u[0]);
      return std::max(0.0, de_saxce(u) - u[0]) / largest;
    }
  }
}

Cones Cones::coulomb(std::span<const Vec3> normal, std::span<const Real> friction) {
  Cones k;
  k.blocks_ = static_cast<Local>(normal.size());
  k.rows_ = 3 * k.blocks_;
  k.normal_ = normal;
  k.friction_ = friction;
  return k;
}

Cones Cones::from_blocks(std::vector<ConeBlock> blocks) {
  const bool all_coulomb =
      std::all_of(blocks.begin(), blocks.end(), [](const ConeBlock& b) { return b.kind == ConeKind::coulomb; });
  if (all_coulomb) {
    auto normal = std::make_shared<Array<Vec3>>();
    auto friction = std::make_shared<Array<Real>>();
    for (const ConeBlock& b : blocks) normal->push_back(b.normal), friction->push_back(b.mu);
    Cones k = coulomb(*normal, *friction);
    k.own_normal_ = std::move(normal);
    k.own_friction_ = std::move(friction);
    return k;
  }
  Cones k;
  auto begin = std::make_shared<std::vector<Local>>();
  for (const ConeBlock& b : blocks) {
    begin->push_back(k.rows_);
    k.rows_ += rows_of(b.kind);
  }
  k.blocks_ = static_cast<Local>(blocks.size());
  k.begin_ = std::move(begin);
  k.list_ = std::make_shared<std::vector<ConeBlock>>(std::move(blocks));
  return k;
}

}  // namespace talus
