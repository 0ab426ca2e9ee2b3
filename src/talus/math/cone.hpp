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

#include "talus/math/vec.hpp"

namespace talus {

/// Euclidean projection of the pair (x_n, t = ‖x_T‖) on {t ≤ μ x_n}: the new normal part and the factor for x_T.
struct ConeFoot {
  Real normal;
  Real factor;
};
inline ConeFoot project_cone_2d(Real xn, Real t, Real mu) {
  if (t <= mu * xn) return {xn, 1.0};            // inside (t ≥ 0 makes x_n ≥ 0 for μ > 0)
  if (mu * t <= -xn) return {0.0, 0.0};          // in the polar cone
  const Real z = (xn + mu * t) / (1.0 + mu * mu);
  return {z, t > 0 ? mu * z / t : 0.0};
}

/// Π_K(x), Euclidean.
inline Vec3 project_cone(const Vec3& x, const Vec3& n, Real mu) {
  const Real xn = n.dot(x);
  const Vec3 xt = x - xn * n;
  if (mu == 0) return std::max(xn, 0.0) * n;
  const ConeFoot f = project_cone_2d(xn, std::sqrt(xt.squaredNorm()), mu);
  return f.normal * n + f.factor * xt;
}

/// A diagonal metric of one contact: impulse per velocity along the normal and in the tangent plane.
struct NormalTangent {
  Real n = 1, t = 1;
};

/// Π_P(x): nearest point of K in the norm xᵀP⁻¹x. Substituting x_n/√P_n, x_T/√P_t it is the Euclidean projection
/// on the cone of μ' = μ √(P_n/P_t).
inline Vec3 project_cone(const Vec3& x, const Vec3& n, Real mu, const NormalTangent& P) {
  const Real xn = n.dot(x);
  if (mu == 0) return std::max(xn, 0.0) * n;
  const Vec3 xt = x - xn * n;
  const Real t = std::sqrt(xt.squaredNorm());
  if (t <= mu * xn) return x;
  const Real ratio = P.n / P.t;                         // μ'² = μ² P_n/P_t
  if (mu * ratio * t <= -xn) return Vec3::Zero();
  const Real z = (xn + mu * ratio * t) / (1.0 + mu * mu * ratio);
  return z * n + (t > 0 ? mu * z / t : 0.0) * xt;
}

/// The exact Coulomb law of one contact whose velocity is u = P⁻¹(x − t) for impulse x: with a diagonal metric the
/// normal decouples, so clip it and then put the tangential part on the disc of radius μ x_n.
inline Vec3 coulomb_step(const Vec3& t, const Vec3& n, Real mu) {
  const Real tn = n.dot(t);
  if (tn <= 0) return Vec3::Zero();
  const Vec3 tt = t - tn * n;
  const Real length = std::sqrt(tt.squaredNorm()), radius = mu * tn;
  return tn * n + (length <= radius ? 1.0 : radius / length) * tt;
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
