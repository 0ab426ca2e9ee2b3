// A sphere against everything else. Its contact is where the other surface is nearest to its centre.
#include <algorithm>

#include "talus/collision/narrow_phase.hpp"

namespace talus {
namespace {

Vec3 to_local(const Solid& frame, const Vec3& world) {
  return frame.orientation.conjugate() * (world - frame.position);
}

/// The sphere's centre is `away` from the nearest point of the other surface, `direction` (unit, in the
/// other's axes) pointing from there to the centre; `away` < 0: the centre is inside the other body.
void add_nearest(const Solid& sphere, const Solid& other, const Vec3& direction, Real away, Real reach,
                 std::uint32_t feature, Manifold& out) {
  const Real gap = away - sphere.radius;
  if (!(gap < reach)) return;
  const Vec3 n = other.orientation * -direction;  // from the sphere to the other body
  out.add(n, sphere.position + n * (sphere.radius + 0.5 * gap), gap, feature);
}

/// The nearest point of a thin plate or ring to the sphere's centre is at −delta from it. Directly above the
/// surface `above` is its unit normal on the sphere's side and the reach is that of a flat face; beyond the
/// rim the reach is that of an edge.
void add_thin(const Solid& sphere, const Solid& container, const Vec3& delta, const Vec3& above,
              bool beyond_rim, const Reach& reach, Face face, Manifold& out) {
  const auto feature = static_cast<std::uint32_t>(face);
  if (!beyond_rim)
    return add_nearest(sphere, container, above, std::abs(delta.dot(above)), reach.flat, feature, out);
  const Real away = delta.norm();
  add_nearest(sphere, container, away > 0 ? Vec3(delta / away) : above, away, reach.edge, feature, out);
}

}  // namespace

void sphere_box(const Solid& sphere, const Solid& box, const Reach& reach, Manifold& out) {
  const Vec3 p = to_local(box, sphere.position), &half = box.shape.half;
  const Vec3 delta = p - p.cwiseMax(-half).cwiseMin(half);
  const Real away = delta.norm();
  if (away > 0) return add_nearest(sphere, box, delta / away, away, reach.edge, 0, out);
  int axis;  // the centre is inside: out through the nearest face
  const Real depth = (half - p.cwiseAbs()).minCoeff(&axis);
  Vec3 direction = Vec3::Zero();
  direction[axis] = p[axis] < 0 ? -1 : 1;
  add_nearest(sphere, box, direction, -depth, reach.edge, 0, out);
}

void sphere_cylinder(const Solid& sphere, const Solid& cylinder, const Reach& reach, Manifold& out) {
  const Vec3 p = to_local(cylinder, sphere.position);
  const Real radius = cylinder.shape.radius, half = cylinder.shape.half.z();
  const Real rho = std::hypot(p.x(), p.y());
  const Vec3 radial = rho > 0 ? Vec3(p.x() / rho, p.y() / rho, 0) : Vec3(Vec3::UnitX());
  const Vec3 axial(0, 0, p.z() < 0 ? -1 : 1);
  const Real beyond_side = rho - radius, beyond_end = std::abs(p.z()) - half;
  const Vec3 delta = std::max(beyond_side, 0.0) * radial + std::max(beyond_end, 0.0) * axial;
  const Real away = delta.norm();
  if (away > 0) return add_nearest(sphere, cylinder, delta / away, away, reach.edge, 0, out);
  const bool side = beyond_side > beyond_end;  // inside: out through the nearer surface
  add_nearest(sphere, cylinder, side ? radial : axial, side ? beyond_side : beyond_end, reach.edge, 0, out);
}

void sphere_half_space(const Solid& sphere, const Solid& half_space, const Reach& reach, Manifold& out) {
  const Vec3 n = half_space.orientation * Vec3::UnitZ();
  const Real gap = n.dot(sphere.position - half_space.position) - sphere.radius;
  if (!(gap < reach.flat)) return;
  out.add(-n, sphere.position - n * (sphere.radius + 0.5 * gap), gap, 0);
}

// Walls of containers are thin plates with two sides: a body above the rim of an open container rolls over
// it, and one outside stays outside.
void sphere_hollow_box(const Solid& sphere, const Solid& container, const Reach& reach, Manifold& out) {
  const Vec3 p = to_local(container, sphere.position), &half = container.shape.half;
  for (int f = 0; f < 6; ++f) {
    const Face face = static_cast<Face>(f);
    if (container.shape.open & face_bit(face)) continue;
    const int axis = f / 2;
    const Real plane = f % 2 ? half[axis] : -half[axis];
    if (std::abs(p[axis] - plane) > sphere.radius + reach.flat) continue;
    Vec3 nearest = p.cwiseMax(-half).cwiseMin(half);
    nearest[axis] = plane;
    Vec3 delta = p - nearest;
    Vec3 above = Vec3::Zero();
    above[axis] = (delta[axis] < 0 || (delta[axis] == 0 && plane > 0)) ? -1 : 1;
    const Real across = delta[axis];
    delta[axis] = 0;
    const bool beyond_rim = (delta.array() != 0).any();
    delta[axis] = across;
    add_thin(sphere, container, delta, above, beyond_rim, reach, face, out);
  }
}

void sphere_hollow_cylinder(const Solid& sphere, const Solid& container, const Reach& reach, Manifold& out) {
  const Vec3 p = to_local(container, sphere.position);
  const Real radius = container.shape.radius, half = container.shape.half.z();
  const Real rho = std::hypot(p.x(), p.y());
  const Vec3 radial = rho > 0 ? Vec3(p.x() / rho, p.y() / rho, 0) : Vec3(Vec3::UnitX());
  const Real beyond_end = std::max(std::abs(p.z()) - half, 0.0), beyond_side = std::max(rho - radius, 0.0);
  const std::uint32_t open = container.shape.open;
  if (!(open & face_bit(Face::side))) {
    const Vec3 delta = (rho - radius) * radial + Vec3(0, 0, p.z() < 0 ? -beyond_end : beyond_end);
    add_thin(sphere, container, delta, rho > radius ? radial : Vec3(-radial), beyond_end > 0, reach,
             Face::side, out);
  }
  for (const Face face : {Face::floor, Face::top}) {
    if (open & face_bit(face)) continue;
    const Real across = p.z() - (face == Face::top ? half : -half);
    const bool below = across < 0 || (across == 0 && face == Face::top);
    add_thin(sphere, container, beyond_side * radial + Vec3(0, 0, across), Vec3(0, 0, below ? -1 : 1),
             beyond_side > 0, reach, face, out);
  }
}

}  // namespace talus
