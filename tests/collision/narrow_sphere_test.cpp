// A sphere against every other shape: values one can work out by hand, and random poses against a search.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "collision/scenes.hpp"
#include "talus/collision/narrow_phase.hpp"

namespace talus {
namespace {

using namespace testing;

const Shape ball{.kind = ShapeKind::sphere};
Solid sphere(Real radius, const Vec3& p) {
  return {ball, radius, p, Quat::Identity()};
}
Solid at_origin(const Shape& s) {
  return {s, 0, Vec3::Zero(), Quat::Identity()};
}

Manifold touch(const Solid& a, const Solid& b, Real flat, Real edge) {
  Manifold m;
  collide(a, b, {flat, edge}, m);
  return m;
}
Manifold touch(const Solid& a, const Solid& b, Real reach) {
  return touch(a, b, reach, reach);
}

void expect_contact(const ContactPoint& c, const Vec3& normal, const Vec3& point, Real gap) {
  EXPECT_LT((c.normal - normal).norm(), 1e-14) << c.normal.transpose();
  EXPECT_LT((c.point - point).norm(), 1e-14) << c.point.transpose();
  EXPECT_NEAR(c.gap, gap, 1e-14);
}

TEST(NarrowSphere, TwoSpheres) {
  const Manifold m = touch(sphere(1, Vec3::Zero()), sphere(2, Vec3(0, 3.5, 0)), 1);
  ASSERT_EQ(m.size(), 1);
  expect_contact(m[0], Vec3::UnitY(), Vec3(0, 1.25, 0), 0.5);
  EXPECT_EQ(touch(sphere(1, Vec3::Zero()), sphere(2, Vec3(0, 3.5, 0)), 0.5).size(), 0);
  EXPECT_EQ(touch(sphere(1, Vec3::Zero()), sphere(1, Vec3::Zero()), 0).size(),
            1);  // concentric: any direction
}

TEST(NarrowSphere, BoxFaceEdgeCornerAndInside) {
  const Shape box{.kind = ShapeKind::box, .half = Vec3(1, 2, 3)};
  const Solid b = at_origin(box);
  Manifold m = touch(sphere(0.5, Vec3(1.4, 1, -2)), b, 0.1);
  ASSERT_EQ(m.size(), 1);
  expect_contact(m[0], -Vec3::UnitX(), Vec3(0.95, 1, -2), -0.1);
  m = touch(sphere(0.5, Vec3(1.3, 2.4, 0)), b, 0.1);  // edge, 3-4-5
  ASSERT_EQ(m.size(), 1);
  expect_contact(m[0], Vec3(-0.6, -0.8, 0), Vec3(1, 2, 0), 0);
  m = touch(sphere(0.5, Vec3(1.6, 2, 3)), b, 0.2);
  ASSERT_EQ(m.size(), 1);
  expect_contact(m[0], -Vec3::UnitX(), Vec3(1.05, 2, 3), 0.1);
  m = touch(sphere(0.5, Vec3(0.5, -1.8, 0)), b, 0.2);  // centre inside: out through y−
  ASSERT_EQ(m.size(), 1);
  EXPECT_LT((m[0].normal - Vec3::UnitY()).norm(), 1e-14);
  EXPECT_NEAR(m[0].gap, -0.7, 1e-14);
}

TEST(NarrowSphere, CylinderSideEndRimAndInside) {
  const Shape cylinder{.kind = ShapeKind::cylinder, .half = Vec3(0, 0, 2), .radius = 1};
  const Solid c = at_origin(cylinder);
  expect_contact(touch(sphere(0.5, Vec3(0, 1.6, 1)), c, 0.2)[0], -Vec3::UnitY(), Vec3(0, 1.05, 1), 0.1);
  expect_contact(touch(sphere(0.5, Vec3(0.3, 0.2, -2.4)), c, 0.2)[0], Vec3::UnitZ(), Vec3(0.3, 0.2, -1.95),
                 -0.1);
  expect_contact(touch(sphere(0.5, Vec3(1.3, 0, 2.4)), c, 0.1)[0], Vec3(-0.6, 0, -0.8), Vec3(1, 0, 2), 0);
  EXPECT_NEAR(touch(sphere(0.5, Vec3(0.9, 0, 0)), c, 0.1)[0].gap, -0.6, 1e-14);
  EXPECT_NEAR(touch(sphere(0.5, Vec3(0, 0, 1.8)), c, 0.1)[0].gap, -0.7, 1e-14);
  EXPECT_EQ(touch(sphere(0.5, Vec3(0, 0, 0)), c, 0.1).size(), 1);
}

TEST(NarrowSphere, HalfSpace) {
  const Shape shape{.kind = ShapeKind::half_space};
  const Solid tilted{shape, 0, Vec3(0, 0, 1), rotation_exp(Vec3(0, std::numbers::pi / 2, 0))};  // normal +x
  const Manifold m = touch(sphere(0.5, Vec3(0.45, 7, 8)), tilted, 0.1);
  ASSERT_EQ(m.size(), 1);
  expect_contact(m[0], -Vec3::UnitX(), Vec3(-0.025, 7, 8), -0.05);
}

TEST(NarrowSphere, HollowBoxHasOneContactPerWall) {
  const Shape shape{.kind = ShapeKind::hollow_box, .half = Vec3(1, 1, 1), .open = face_bit(Face::top)};
  const Solid box = at_origin(shape);
  Manifold m = touch(sphere(0.5, Vec3(0.5, -0.5, -0.5)), box, 0.1);
  ASSERT_EQ(m.size(), 3);
  for (const ContactPoint& c : m) {
    EXPECT_NEAR(c.gap, 0, 1e-14);
    const Face face = container_face(c.feature);
    const Vec3 n = face == Face::x_plus    ? Vec3(1, 0, 0)
                   : face == Face::y_minus ? Vec3(0, -1, 0)
                                           : Vec3(0, 0, -1);
    EXPECT_TRUE(face == Face::x_plus || face == Face::y_minus || face == Face::floor);
    EXPECT_LT((c.normal - n).norm(), 1e-14);  // from the sphere to the wall
  }
  // the open top is no wall
  EXPECT_EQ(touch(sphere(0.5, Vec3(0, 0, 0.9)), box, 0.1).size(), 0);
  // on the rim, from inside: pushed up and inwards
  m = touch(sphere(0.5, Vec3(0.7, 0, 1.4)), box, 0.1);
  ASSERT_EQ(m.size(), 1);
  expect_contact(m[0], Vec3(0.6, 0, -0.8), Vec3(1, 0, 1), 0);
  // outside stays outside
  m = touch(sphere(0.5, Vec3(1.4, 0, 0)), box, 0.1);
  ASSERT_EQ(m.size(), 1);
  expect_contact(m[0], -Vec3::UnitX(), Vec3(0.95, 0, 0), -0.1);
  EXPECT_EQ(touch(sphere(0.5, Vec3(3, 0, 0)), box, 0.1).size(), 0);
  // a flat wall is seen from farther than a rim
  EXPECT_EQ(touch(sphere(0.1, Vec3(0.5, 0, 0)), box, 0.5, 0.1).size(), 1);
  EXPECT_EQ(touch(sphere(0.1, Vec3(0.5, 0, 1.01)), box, 0.5, 0.1).size(), 0);
}

TEST(NarrowSphere, HollowCylinder) {
  const Shape shape{
      .kind = ShapeKind::hollow_cylinder, .half = Vec3(0, 0, 1), .radius = 2, .open = face_bit(Face::top)};
  const Solid drum = at_origin(shape);
  Manifold m = touch(sphere(0.5, Vec3(0, 1.6, -0.55)), drum, 0.1);
  ASSERT_EQ(m.size(), 2);
  EXPECT_EQ(container_face(m[0].feature), Face::side);
  expect_contact(m[0], Vec3::UnitY(), Vec3(0, 2.05, -0.55), -0.1);
  EXPECT_EQ(container_face(m[1].feature), Face::floor);
  EXPECT_NEAR(m[1].gap, -0.05, 1e-14);
  m = touch(sphere(0.5, Vec3(1.7, 0, 1.4)), drum, 0.1);  // rim
  ASSERT_EQ(m.size(), 1);
  expect_contact(m[0], Vec3(0.6, 0, -0.8), Vec3(2, 0, 1), 0);
  m = touch(sphere(0.5, Vec3(2.4, 0, 0)), drum, 0.1);  // outside
  ASSERT_EQ(m.size(), 1);
  EXPECT_LT((m[0].normal + Vec3::UnitX()).norm(), 1e-14);
  EXPECT_EQ(touch(sphere(0.5, Vec3::Zero()), drum, 0.1).size(), 0);
}

// The gap is the distance from the centre to the nearest of very many points of the surface, less the radius.
TEST(NarrowSphere, GapIsTheDistanceToTheSurface) {
  Random random(3);
  const Shape shapes[] = {{.kind = ShapeKind::box, .half = Vec3(0.5, 1, 0.8)},
                          {.kind = ShapeKind::cylinder, .half = Vec3(0, 0, 0.7), .radius = 0.9}};
  for (const Shape& shape : shapes)
    for (int trial = 0; trial < 60; ++trial) {
      const Quat q = random_rotation(random);
      const Vec3 p = random_in_box(random, Vec3::Constant(-2), Vec3::Constant(2));
      const Vec3 c = p + random_in_box(random, Vec3::Constant(-1.6), Vec3::Constant(1.6));
      Real nearest = std::numeric_limits<Real>::infinity();
      const int n = 60;
      const auto consider = [&](const Vec3& local) {
        nearest = std::min(nearest, (p + q * local - c).norm());
      };
      for (int i = 0; i <= n; ++i)
        for (int j = 0; j <= n; ++j) {
          const Real u = -1 + 2.0 * i / n, v = -1 + 2.0 * j / n;
          if (shape.kind == ShapeKind::box) {
            for (int k = 0; k < 3; ++k)
              for (Real s : {-1.0, 1.0}) {
                Vec3 x;
                x[k] = s * shape.half[k];
                x[(k + 1) % 3] = u * shape.half[(k + 1) % 3];
                x[(k + 2) % 3] = v * shape.half[(k + 2) % 3];
                consider(x);
              }
          } else {
            const Real angle = std::numbers::pi * u, rho = shape.radius * (v + 1) / 2;
            consider(
                Vec3(shape.radius * std::cos(angle), shape.radius * std::sin(angle), v * shape.half.z()));
            for (Real s : {-1.0, 1.0})
              consider(Vec3(rho * std::cos(angle), rho * std::sin(angle), s * shape.half.z()));
          }
        }
      const Vec3 local = q.conjugate() * (c - p);
      const bool inside = shape.kind == ShapeKind::box ? (local.cwiseAbs().array() < shape.half.array()).all()
                                                       : std::hypot(local.x(), local.y()) < shape.radius &&
                                                             std::abs(local.z()) < shape.half.z();
      const Real r = 0.3;
      const Manifold m = touch(sphere(r, c), {shape, 0, p, q}, 10);
      ASSERT_EQ(m.size(), 1);
      EXPECT_NEAR(m[0].gap, (inside ? -nearest : nearest) - r, 0.03);
      // the contact point lies on the line from the centre along the normal, midway
      EXPECT_LT((m[0].point - (c + m[0].normal * (r + 0.5 * m[0].gap))).norm(), 1e-12);
    }
}

TEST(NarrowSphere, TurningThePairRoundTurnsTheNormal) {
  const Shape box{.kind = ShapeKind::box, .half = Vec3(1, 2, 3)};
  const Manifold m = touch(sphere(0.5, Vec3(1.4, 1, -2)), at_origin(box), 0.1),
                 n = touch(at_origin(box), sphere(0.5, Vec3(1.4, 1, -2)), 0.1);
  ASSERT_EQ(n.size(), 1);
  expect_contact(n[0], -m[0].normal, m[0].point, m[0].gap);
}

TEST(NarrowPhase, SupportedPairs) {
  using K = ShapeKind;
  for (int k = 0; k < shape_kind_count; ++k) EXPECT_TRUE(pair_supported(K::sphere, static_cast<K>(k)));
  EXPECT_TRUE(pair_supported(K::half_space, K::cylinder));
  EXPECT_TRUE(pair_supported(K::hollow_box, K::box));
  EXPECT_FALSE(pair_supported(K::cylinder, K::box));
  EXPECT_FALSE(pair_supported(K::cylinder, K::cylinder));
  EXPECT_FALSE(pair_supported(K::half_space, K::hollow_box));
}

// A lower bound must never exceed what contacts show: else the broad phase would drop them.
TEST(NarrowPhase, WallDistanceIsALowerBound) {
  Random random(9);
  const Shape shapes[] = {
      {.kind = ShapeKind::half_space},
      {.kind = ShapeKind::hollow_box, .half = Vec3(1, 2, 1.5), .open = face_bit(Face::top)},
      {.kind = ShapeKind::hollow_cylinder,
       .half = Vec3(0, 0, 1.5),
       .radius = 1,
       .open = face_bit(Face::floor)}};
  for (const Shape& shape : shapes)
    for (int trial = 0; trial < 2000; ++trial) {
      const Solid wall{shape, 0, Vec3(1, 2, 3), random_rotation(random)};
      const Vec3 p = wall.position + random_in_box(random, Vec3::Constant(-4), Vec3::Constant(4));
      const Manifold m = touch(sphere(0.25, p), wall, 100);
      ASSERT_GT(m.size(), 0);
      Real gap = std::numeric_limits<Real>::infinity();
      for (const ContactPoint& c : m) gap = std::min(gap, c.gap);
      EXPECT_LE(wall_distance(wall, p), gap + 0.25 + 1e-12);
      EXPECT_GE(wall_distance(wall, p), (gap + 0.25) / std::sqrt(3.0) - 1e-12 - (gap < -0.25 ? 100 : 0));
    }
}

}  // namespace
}  // namespace talus
