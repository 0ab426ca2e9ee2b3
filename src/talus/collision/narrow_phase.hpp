// Narrow phase: where two bodies touch, or nearly do.
//
// Every contact it lists is a pair of material points and a unit normal for which `gap` is the true signed
// distance along the normal, so that u_n ≥ −gap/h keeps them apart. A pair lists all it needs to rest stably:
// a face on a face gives its corners, a rim its circle. Feature ids name the geometry (corner, edge, face),
// not the order in which it was found: they persist from step to step.
#pragma once
#include <array>
#include <cstdint>

#include "talus/math/vec.hpp"
#include "talus/shapes/shape.hpp"

namespace talus {

/// A shape in its place.
struct Solid {
  const Shape& shape;
  Real radius;  ///< of a sphere
  Vec3 position;
  Quat orientation;
};

struct ContactPoint {
  Vec3 normal;  ///< unit, from the first solid to the second
  Vec3 point;   ///< midway between the two surfaces, world
  Real gap;
  std::uint32_t feature;
};

/// The contacts of one pair, in no particular order.
class Manifold {
 public:
  /// Most: a box in a hollow box, 8 points on each of 6 faces.
  static constexpr int capacity = 48;
  void add(const Vec3& normal, const Vec3& point, Real gap, std::uint32_t feature) {
    if (size_ < capacity) points_[size_++] = {normal, point, gap, feature};
  }
  int size() const { return size_; }
  void clear() { size_ = 0; }
  ContactPoint* begin() { return points_.data(); }
  ContactPoint* end() { return points_.data() + size_; }
  const ContactPoint* begin() const { return points_.data(); }
  const ContactPoint* end() const { return points_.data() + size_; }
  ContactPoint& operator[](int i) { return points_[i]; }
  const ContactPoint& operator[](int i) const { return points_[i]; }

 private:
  int size_ = 0;
  std::array<ContactPoint, capacity> points_;
};

/// How far apart surfaces may be and still be listed. On a flat face it is `flat`; at an edge, where a body
/// may pass by, `edge` ≤ flat.
struct Reach {
  Real flat;
  Real edge;
};

/// Adds the contacts of a and b with gap < reach. \pre pair_supported(kinds). For two boxes `a` must be the
/// one with the lower id, so that features do not depend on the present order of bodies.
void collide(const Solid& a, const Solid& b, const Reach& reach, Manifold& out);

/// At most the distance from p to the surface of a wall or container; negative inside a half-space.
Real wall_distance(const Solid& wall, const Vec3& p);

// The pairs, each with a fixed order of kinds; collide() turns them round as needed.
void sphere_box(const Solid& sphere, const Solid& box, const Reach& reach, Manifold& out);
void sphere_cylinder(const Solid& sphere, const Solid& cylinder, const Reach& reach, Manifold& out);
void sphere_half_space(const Solid& sphere, const Solid& half_space, const Reach& reach, Manifold& out);
void sphere_hollow_box(const Solid& sphere, const Solid& container, const Reach& reach, Manifold& out);
void sphere_hollow_cylinder(const Solid& sphere, const Solid& container, const Reach& reach, Manifold& out);
void box_box(const Solid& a, const Solid& b, const Reach& reach, Manifold& out);
void box_half_space(const Solid& box, const Solid& half_space, const Reach& reach, Manifold& out);
void box_hollow_box(const Solid& box, const Solid& container, const Reach& reach, Manifold& out);
void cylinder_half_space(const Solid& cylinder, const Solid& half_space, const Reach& reach, Manifold& out);

}  // namespace talus
