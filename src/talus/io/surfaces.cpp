#include "talus/io/surfaces.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace talus {
namespace {

using Bounds = Eigen::AlignedBox3d;

constexpr int sides_of_round = 48;  ///< corners of a circle

/// Adds the surfaces of one body.
class Builder {
 public:
  Builder(Surfaces& out, const Bodies& bodies, Local body)
      : out_(out), body_(body), position_(bodies.position[body]), orientation_(bodies.orientation[body]) {}

  void polygon(const std::vector<Vec3>& corners, int face) {
    for (const Vec3& corner : corners) {
      out_.connectivity.push_back(static_cast<std::int32_t>(out_.point.size()));
      out_.point.push_back(position_ + orientation_ * corner);
    }
    out_.offset.push_back(static_cast<std::int32_t>(out_.connectivity.size()));
    out_.body.push_back(body_);
    out_.face.push_back(face);
  }

  /// Faces seen from outside for solids; a container's look inward.
  void box(const Vec3& half, std::uint32_t open, bool container) {
    for (int f = 0; f < 6; ++f) {
      if (open & (1u << f)) continue;
      const int axis = f / 2;
      const Real side = f % 2 ? 1 : -1, turn = container ? -side : side;
      const Vec3 n = side * half[axis] * Vec3::Unit(axis);
      const Vec3 u = half[(axis + 1) % 3] * Vec3::Unit((axis + 1) % 3);
      const Vec3 v = turn * half[(axis + 2) % 3] * Vec3::Unit((axis + 2) % 3);
      polygon({n - u - v, n + u - v, n + u + v, n - u + v}, container ? f : -1);
    }
  }

  void cylinder(Real radius, Real half_height, std::uint32_t open, bool container) {
    std::vector<Vec3> low, high;
    for (int k = 0; k < sides_of_round; ++k) {
      const Real angle = 2 * std::numbers::pi * k / sides_of_round;
      const Vec3 rim(radius * std::cos(angle), radius * std::sin(angle), half_height);
      high.push_back(rim);
      low.emplace_back(rim.x(), rim.y(), -half_height);
    }
    const auto add = [&](std::vector<Vec3> corners, Face face) {
      if (open & face_bit(face)) return;
      if (container) std::reverse(corners.begin(), corners.end());
      polygon(corners, container ? static_cast<int>(face) : -1);
    };
    for (int k = 0; k < sides_of_round; ++k) {
      const int next = (k + 1) % sides_of_round;
      add({low[k], low[next], high[next], high[k]}, Face::side);
    }
    add({low.rbegin(), low.rend()}, Face::floor);
    add(high, Face::top);
  }

  /// The part of the plane z = 0 around the projection of `room`.
  void plane(const Bounds& room) {
    const Vec3 centre = orientation_.conjugate() * (room.center() - position_);
    const Real reach = room.diagonal().norm();
    const Vec3 c(centre.x(), centre.y(), 0), u = reach * Vec3::UnitX(), v = reach * Vec3::UnitY();
    polygon({c - u - v, c + u - v, c + u + v, c - u + v}, -1);
  }

 private:
  Surfaces& out_;
  Local body_;
  Vec3 position_;
  Quat orientation_;
};

Bounds room_of(const World& world) {
  const Bodies& bodies = world.bodies;
  Bounds room;
  for (Local i = 0; i < bodies.owned; ++i) {
    const Shape& shape = world.shapes[bodies.shape[i]];
    if (shape.kind == ShapeKind::half_space) continue;
    Real reach = bodies.radius[i];
    if (shape.kind == ShapeKind::hollow_box) reach = shape.half.norm();
    if (shape.kind == ShapeKind::hollow_cylinder) reach = std::hypot(shape.radius, shape.half.z());
    if (!std::isfinite(reach) || !bodies.position[i].allFinite()) continue;
    room.extend(bodies.position[i] - Vec3::Constant(reach));
    room.extend(bodies.position[i] + Vec3::Constant(reach));
  }
  if (room.isEmpty()) room = Bounds(Vec3::Constant(-1), Vec3::Constant(1));  // walls alone: any size will do
  return room;
}

}  // namespace

Surfaces surfaces_of(const World& world) {
  const Bodies& bodies = world.bodies;
  const Bounds room = room_of(world);
  Surfaces out;
  for (Local i = 0; i < bodies.owned; ++i) {
    const Shape& shape = world.shapes[bodies.shape[i]];
    Builder builder(out, bodies, i);
    switch (shape.kind) {
      case ShapeKind::sphere:
        break;
      case ShapeKind::box:
        builder.box(shape.half, 0, false);
        break;
      case ShapeKind::cylinder:
        builder.cylinder(shape.radius, shape.half.z(), 0, false);
        break;
      case ShapeKind::half_space:
        builder.plane(room);
        break;
      case ShapeKind::hollow_box:
        builder.box(shape.half, shape.open, true);
        break;
      case ShapeKind::hollow_cylinder:
        builder.cylinder(shape.radius, shape.half.z(), shape.open, true);
        break;
    }
  }
  return out;
}

}  // namespace talus
