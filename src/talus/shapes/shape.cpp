#include "talus/shapes/shape.hpp"

#include <limits>
#include <numbers>

namespace talus {

std::string_view shape_name(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::sphere:
      return "sphere";
    case ShapeKind::box:
      return "box";
    case ShapeKind::cylinder:
      return "cylinder";
    case ShapeKind::half_space:
      return "half_space";
    case ShapeKind::hollow_box:
      return "hollow_box";
    case ShapeKind::hollow_cylinder:
      return "hollow_cylinder";
  }
  return "unknown";
}

std::string_view face_name(Face face) {
  switch (face) {
    case Face::x_minus:
      return "x_minus";
    case Face::x_plus:
      return "x_plus";
    case Face::y_minus:
      return "y_minus";
    case Face::y_plus:
      return "y_plus";
    case Face::floor:
      return "floor";
    case Face::top:
      return "top";
    case Face::side:
      return "side";
  }
  return "unknown";
}

bool is_unbounded(ShapeKind kind) {
  return kind == ShapeKind::half_space || is_container(kind);
}

Real bounding_radius(const Shape& shape, Real size) {
  switch (shape.kind) {
    case ShapeKind::sphere:
      return size;
    case ShapeKind::box:
      return shape.half.norm();
    case ShapeKind::cylinder:
      return std::hypot(shape.radius, shape.half.z());
    default:
      return std::numeric_limits<Real>::infinity();
  }
}

Real inscribed_radius(const Shape& shape, Real size) {
  switch (shape.kind) {
    case ShapeKind::sphere:
      return size;
    case ShapeKind::box:
      return shape.half.minCoeff();
    case ShapeKind::cylinder:
      return std::min(shape.radius, shape.half.z());
    default:
      return std::numeric_limits<Real>::infinity();
  }
}

Real volume(const Shape& shape, Real size) {
  using std::numbers::pi;
  switch (shape.kind) {
    case ShapeKind::sphere:
      return 4.0 / 3.0 * pi * size * size * size;
    case ShapeKind::box:
      return 8 * shape.half.prod();
    case ShapeKind::cylinder:
      return 2 * pi * shape.radius * shape.radius * shape.half.z();
    default:
      return 0;
  }
}

Vec3 inertia_per_mass(const Shape& shape, Real size) {
  switch (shape.kind) {
    case ShapeKind::sphere:
      return Vec3::Constant(0.4 * size * size);
    case ShapeKind::box: {
      const Vec3 square = shape.half.cwiseAbs2();
      return (Vec3::Constant(square.sum()) - square) / 3;
    }
    case ShapeKind::cylinder: {
      const Real radial = shape.radius * shape.radius, axial = shape.half.z() * shape.half.z();
      return Vec3(radial / 4 + axial / 3, radial / 4 + axial / 3, radial / 2);
    }
    default:
      return Vec3::Zero();
  }
}

}  // namespace talus
