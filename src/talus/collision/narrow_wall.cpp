// Walls: how far they are, and boxes and cylinders on a half-space. Each listed point is a point of the
// body's own surface with its true height above the plane, so any set of them is sound; the sets are chosen
// to rest and to roll on.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "talus/collision/narrow_phase.hpp"

namespace talus {
namespace {

struct Plane {
  Vec3 normal, origin;
  explicit Plane(const Solid& half_space)
      : normal(half_space.orientation * Vec3::UnitZ()), origin(half_space.position) {}

  /// Adds the point at `arm` from the body's centre if it is near enough.
  void add(const Solid& body, const Vec3& arm, Real reach, std::uint32_t feature, Manifold& out) const {
    const Vec3 p = body.position + arm;
    const Real gap = normal.dot(p - origin);
    if (gap < reach) out.add(-normal, p - 0.5 * gap * normal, gap, feature);
  }
};

}  // namespace

Real wall_distance(const Solid& wall, const Vec3& p) {
  const Shape& shape = wall.shape;
  const Vec3 q = wall.orientation.conjugate() * (p - wall.position);
  if (shape.kind == ShapeKind::half_space) return q.z();
  // each face: how far off its plane, and how far beside it
  const bool round = shape.kind == ShapeKind::hollow_cylinder;
  const Real rho = std::hypot(q.x(), q.y());
  const Vec3 beside = round ? Vec3(rho - shape.radius, rho - shape.radius, std::abs(q.z()) - shape.half.z())
                            : Vec3(q.cwiseAbs() - shape.half);
  Real nearest = std::numeric_limits<Real>::infinity();
  for (int f = 0; f < 6; ++f) {
    if (shape.open & face_bit(static_cast<Face>(f)) || (round && f < 4)) continue;
    const int axis = f / 2;
    const Real across = q[axis] - (f % 2 ? shape.half[axis] : -shape.half[axis]);
    nearest = std::min(nearest, std::max({std::abs(across), beside[(axis + 1) % 3], beside[(axis + 2) % 3]}));
  }
  if (round && !(shape.open & face_bit(Face::side)))
    nearest = std::min(nearest, std::max(std::abs(rho - shape.radius), beside.z()));
  return nearest;
}

void box_half_space(const Solid& box, const Solid& half_space, const Reach& reach, Manifold& out) {
  const Plane plane(half_space);
  const Mat33 axes = box.orientation.toRotationMatrix() * box.shape.half.asDiagonal();
  for (std::uint32_t corner = 0; corner < 8; ++corner) {
    const Vec3 sign(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1);
    plane.add(box, axes * sign, reach.flat, corner, out);
  }
}

// On each end: eight points fixed to the rim, on which it stands, and the lowest point of the rim, on which
// it rolls. The lowest is left out while the end lies so flat that the fixed eight are as low to 1e-7 of the
// radius: there its place on the rim is noise.
void cylinder_half_space(const Solid& cylinder, const Solid& half_space, const Reach& reach, Manifold& out) {
  constexpr int fixed_points = 8;
  const Plane plane(half_space);
  const Mat33 axes = cylinder.orientation.toRotationMatrix();
  const Real radius = cylinder.shape.radius;
  const Vec3 down = -(axes.transpose() * plane.normal);  // in the cylinder's axes
  const Real tilt = std::hypot(down.x(), down.y());
  for (int end = 0; end < 2; ++end) {
    const Real z = end ? cylinder.shape.half.z() : -cylinder.shape.half.z();
    const std::uint32_t first = end * (fixed_points + 1);
    for (int k = 0; k < fixed_points; ++k) {
      const Real angle = 2 * std::numbers::pi * k / fixed_points;
      plane.add(cylinder, axes * Vec3(radius * std::cos(angle), radius * std::sin(angle), z), reach.flat,
                first + k, out);
    }
    if (tilt > 1e-6)
      plane.add(cylinder, axes * Vec3(radius * down.x() / tilt, radius * down.y() / tilt, z), reach.flat,
                first + fixed_points, out);
  }
}

}  // namespace talus
