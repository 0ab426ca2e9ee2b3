// Small fixed-size vectors and matrices: Eigen's, under the names the rest of the house uses.
#pragma once
#include <Eigen/Core>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

#include "talus/base/types.hpp"

namespace talus {

using Vec3 = Eigen::Vector3d;
using Mat33 = Eigen::Matrix3d;
using Quat = Eigen::Quaterniond;

/// Linear and angular velocity of a body (or an impulse and its moment), in world coordinates.
struct Twist {
  Vec3 linear = Vec3::Zero();
  Vec3 angular = Vec3::Zero();
};
static_assert(sizeof(Twist) == 6 * sizeof(Real));

/// Velocity of the material point at `arm` from the mass centre.
inline Vec3 velocity_at(const Twist& t, const Vec3& arm) { return t.linear + t.angular.cross(arm); }

/// Rotation by the vector `angle` (axis times radians): the exponential map, accurate for any length.
inline Quat rotation_exp(const Vec3& angle) {
  const Real a2 = angle.squaredNorm(), a = std::sqrt(a2);
  // sin(a/2)/a, by its series where a² no longer changes 1: 1/2 − a²/48
  const Real s = a2 < 1e-8 ? 0.5 - a2 / 48.0 : std::sin(0.5 * a) / a;
  return Quat(std::cos(0.5 * a), s * angle.x(), s * angle.y(), s * angle.z());
}

/// A unit vector and two unit vectors that complete it to a right-handed frame (n, t1, t2); used only where a
/// file format demands tangents.
inline void tangents(const Vec3& n, Vec3& t1, Vec3& t2) {
  const Vec3 axis = std::abs(n.x()) < 0.6 ? Vec3::UnitX() : Vec3::UnitY();
  t1 = n.cross(axis).normalized();
  t2 = n.cross(t1);
}

}  // namespace talus
