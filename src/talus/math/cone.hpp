// Cones of dry friction on a few numbers: projections and the one-contact Coulomb step.
//
//   K  = {x : ‖x_T‖ ≤ μ x_n}          (impulses; μ = 0: the ray along n)
//   K* = {u : μ‖u_T‖ ≤ u_n}           (velocities)
//
// Vectors are in world coordinates and the cone is given by its axis n and μ: no tangents are needed.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "talus/math/vec.hpp"

namespace talus {

/// A diagonal metric of one contact: impulse per velocity along the normal and in the tangent plane.
struct NormalTangent {
  Real n = 1, t = 1;
};

/// Π_P(x): nearest point of K in the norm xᵀP⁻¹x, given ratio = P_n/P_t. Substituting x_n/√P_n, x_T/√P_t it is the
/// Euclidean projection on the cone of μ' = μ √(P_n/P_t).
/// Written with min and max instead of cases (inside, beside, in the polar cone): which case holds is random over a
/// bed, and a mispredicted branch costs more than the whole projection.
inline Vec3 project_cone_ratio(const Vec3& x, const Vec3& n, Real mu, Real ratio) {
  const Real xn = n.dot(x);
  const Vec3 xt = x - xn * n;
  const Real t = std::max(std::sqrt(xt.squaredNorm()), std::numeric_limits<Real>::min());
  const Real lever = mu * ratio;
  const Real foot = (xn + lever * t) / (1.0 + mu * lever);       // beside the cone; below x_n exactly when inside
  const Real normal = std::max(std::max(foot, xn), 0.0);
  const Real radius = mu * normal;
  return normal * n + (radius / std::max(t, radius)) * xt;       // min(1, radius/t), without a branch
}

/// Π_K(x), Euclidean.
inline Vec3 project_cone(const Vec3& x, const Vec3& n, Real mu) { return project_cone_ratio(x, n, mu, 1.0); }
/// Π_P(x)
inline Vec3 project_cone(const Vec3& x, const Vec3& n, Real mu, const NormalTangent& P) {
  return project_cone_ratio(x, n, mu, P.n / P.t);
}

/// The exact Coulomb law of one contact whose velocity is u = P⁻¹(x − t) for impulse x: with a diagonal metric the
/// normal decouples, so clip it and then put the tangential part on the disc of radius μ x_n.
inline Vec3 coulomb_step(const Vec3& t, const Vec3& n, Real mu) {
  const Real tn = n.dot(t);
  const Vec3 tt = t - tn * n;
  const Real length = std::max(std::sqrt(tt.squaredNorm()), std::numeric_limits<Real>::min());
  const Real normal = std::max(tn, 0.0), radius = mu * normal;
  return normal * n + (radius / std::max(length, radius)) * tt;
}

/// Projection on an intersection of cones with a common axis, {t_k ≤ μ_k x_n}, of (x_n; t_k = ‖x_k‖ ≥ 0): exact.
/// The distance to height z is ½(z − x_n)² + ½ Σ max(0, t_k − μ_k z)², convex and piecewise quadratic in z; its
/// derivative is followed from z = 0 over the points t_k/μ_k where a cone stops being active.
/// Returns z; the k-th part shrinks to min(t_k, μ_k z).
template <std::size_t K>
Real project_cones_height(Real xn, const std::array<Real, K>& t, const std::array<Real, K>& mu) {
  std::array<bool, K> active;
  for (std::size_t k = 0; k < K; ++k) active[k] = mu[k] > 0 && t[k] > 0;
  for (;;) {
    Real slope = 1.0, target = xn;  // derivative(z) = slope z − target while the active set holds
    for (std::size_t k = 0; k < K; ++k)
      if (active[k]) {
        slope += mu[k] * mu[k];
        target += mu[k] * t[k];
      }
    if (target <= 0) return 0.0;
    const Real z = target / slope;
    std::size_t first = K;  // the active cone that is left first on the way to z
    for (std::size_t k = 0; k < K; ++k)
      if (active[k] && mu[k] * z >= t[k] && (first == K || t[k] * mu[first] < t[first] * mu[k])) first = k;
    if (first == K) return z;
    active[first] = false;
  }
}

}  // namespace talus
