// Shapes: volumes, moments and bounds against a quadrature that knows only whether a point is inside.
#include "talus/shapes/shape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace talus {
namespace {

bool inside(const Shape& s, Real size, const Vec3& p) {
  switch (s.kind) {
    case ShapeKind::sphere:
      return p.norm() <= size;
    case ShapeKind::box:
      return (p.cwiseAbs().array() <= s.half.array()).all();
    case ShapeKind::cylinder:
      return std::hypot(p.x(), p.y()) <= s.radius && std::abs(p.z()) <= s.half.z();
    default:
      return false;
  }
}

struct Moments {
  Real volume = 0;
  Vec3 inertia = Vec3::Zero();  // per unit mass
  Real farthest = 0;
};

Moments by_quadrature(const Shape& s, Real size) {
  const int n = 160;
  const Real reach = bounding_radius(s, size), step = 2 * reach / n;
  Moments m;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) {
        const Vec3 p = Vec3(i + 0.5, j + 0.5, k + 0.5) * step - Vec3::Constant(reach);
        if (!inside(s, size, p)) continue;
        const Vec3 q = p.cwiseAbs2();
        m.volume += 1;
        m.inertia += Vec3(q.y() + q.z(), q.z() + q.x(), q.x() + q.y());
        m.farthest = std::max(m.farthest, p.norm());
      }
  m.inertia /= m.volume;
  m.volume *= step * step * step;
  return m;
}

TEST(Shape, VolumeInertiaAndBoundsMatchQuadrature) {
  const std::vector<std::pair<Shape, Real>> shapes = {
      {{.kind = ShapeKind::sphere}, 0.3},
      {{.kind = ShapeKind::box, .half = Vec3(0.1, 0.5, 0.25)}, 0},
      {{.kind = ShapeKind::cylinder, .half = Vec3(0, 0, 0.7), .radius = 0.4}, 0},
  };
  for (const auto& [shape, size] : shapes) {
    SCOPED_TRACE(shape_name(shape.kind));
    const Moments m = by_quadrature(shape, size);
    EXPECT_NEAR(volume(shape, size), m.volume, 0.03 * m.volume);
    EXPECT_LT((inertia_per_mass(shape, size) - m.inertia).norm(), 0.03 * m.inertia.norm());
    EXPECT_GE(bounding_radius(shape, size), m.farthest);
    EXPECT_LT(bounding_radius(shape, size), m.farthest * 1.03);
    // the inscribed sphere fits, and touches: a slightly larger one leaves the shape
    const Real in = inscribed_radius(shape, size);
    bool fits = true, larger_fits = true;
    for (int i = 0; i < 20000; ++i) {
      const Real z = -1 + 2 * (i + 0.5) / 20000, phi = 2.399963229728653 * i, rho = std::sqrt(1 - z * z);
      const Vec3 direction(rho * std::cos(phi), rho * std::sin(phi), z);
      fits &= inside(shape, size, 0.999999 * in * direction);
      larger_fits &= inside(shape, size, 1.01 * in * direction);
    }
    EXPECT_TRUE(fits);
    EXPECT_FALSE(larger_fits);
  }
}

TEST(Shape, WallsAreUnboundedAndWeightless) {
  for (ShapeKind kind : {ShapeKind::half_space, ShapeKind::hollow_box, ShapeKind::hollow_cylinder}) {
    const Shape s{.kind = kind, .half = Vec3::Ones(), .radius = 1};
    EXPECT_TRUE(is_unbounded(kind));
    EXPECT_TRUE(std::isinf(bounding_radius(s, 0)));
    EXPECT_EQ(volume(s, 0), 0);
    EXPECT_EQ(inertia_per_mass(s, 0), Vec3::Zero());
  }
  for (ShapeKind kind : {ShapeKind::sphere, ShapeKind::box, ShapeKind::cylinder})
    EXPECT_FALSE(is_unbounded(kind));
}

TEST(Shape, NamesAreDistinctAndOpenFacesAreMissing) {
  std::set<std::string_view> names;
  for (int k = 0; k < shape_kind_count; ++k) names.insert(shape_name(static_cast<ShapeKind>(k)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(shape_kind_count));
  const Shape open_box{.kind = ShapeKind::hollow_box, .half = Vec3::Ones(), .open = face_bit(Face::top)};
  EXPECT_EQ(faces_of(open_box).size(), 5u);
  const Shape pipe{.kind = ShapeKind::hollow_cylinder, .open = face_bit(Face::top) | face_bit(Face::floor)};
  EXPECT_EQ(faces_of(pipe), std::vector<Face>{Face::side});
}

}  // namespace
}  // namespace talus
