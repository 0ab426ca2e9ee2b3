// Geometry without motion: what a body looks like in its own axes, with its mass centre (or, for containers,
// the centre of the hollow) at the origin.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "talus/math/vec.hpp"

namespace talus {

enum class ShapeKind : std::uint8_t {
  sphere,           ///< radius is the body's own `radius`: a polydisperse bed needs one Shape only
  box,              ///< `half` edges
  cylinder,         ///< solid, axis z: `radius`, `half.z()`
  half_space,       ///< solid below z = 0, outward normal +z
  hollow_box,       ///< container: interior of half edges `half`; closed except for `open` faces
  hollow_cylinder,  ///< container: interior of `radius` and `half.z()`, axis z; closed except for `open` faces
};
inline constexpr int shape_kind_count = 6;

/// Faces of containers, as bits of Shape::open and as feature ids of wall contacts.
enum class Face : std::uint8_t { x_minus, x_plus, y_minus, y_plus, floor /*z-*/, top /*z+*/, side /*of a cylinder*/ };
constexpr std::uint32_t face_bit(Face f) { return 1u << static_cast<unsigned>(f); }

/// Contacts with a container carry the face they touch in the low three bits of their feature id.
constexpr Face container_face(std::uint32_t feature) { return static_cast<Face>(feature & 7u); }
constexpr bool is_container(ShapeKind kind) {
  return kind == ShapeKind::hollow_box || kind == ShapeKind::hollow_cylinder;
}

struct Shape {
  ShapeKind kind = ShapeKind::sphere;
  Vec3 half = Vec3::Zero();
  Real radius = 0;
  std::uint32_t open = 0;  ///< face_bit()s that are missing from a container
  bool operator==(const Shape&) const = default;
};

std::string_view shape_name(ShapeKind kind);
std::string_view face_name(Face face);

/// Walls and containers reach without bound: they are never hashed into cells and never move by contact.
bool is_unbounded(ShapeKind kind);

/// The faces a container has, i.e. those that are not open; none for other kinds.
inline std::vector<Face> faces_of(const Shape& shape) {
  std::vector<Face> faces;
  if (shape.kind == ShapeKind::hollow_box)
    faces = {Face::x_minus, Face::x_plus, Face::y_minus, Face::y_plus, Face::floor, Face::top};
  else if (shape.kind == ShapeKind::hollow_cylinder)
    faces = {Face::side, Face::floor, Face::top};
  std::erase_if(faces, [&](Face f) { return shape.open & face_bit(f); });
  return faces;
}

/// Radius of the sphere around the origin that holds the shape (infinite when unbounded). `size` is the
/// sphere's radius, unused by other kinds.
Real bounding_radius(const Shape& shape, Real size);

/// Radius of the largest sphere around the origin that fits into the shape (infinite when unbounded): what
/// penetration and margins are measured against.
Real inscribed_radius(const Shape& shape, Real size);

/// Volume, and principal moments of inertia per unit mass about the origin; zero for unbounded shapes.
Real volume(const Shape& shape, Real size);
Vec3 inertia_per_mass(const Shape& shape, Real size);

}  // namespace talus
