// Boxes: stable manifolds where they rest on each other, and random poses against a search for the true
// distance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "collision/scenes.hpp"
#include "talus/collision/narrow_phase.hpp"

namespace talus {
namespace {

using namespace testing;

Manifold touch(const Solid& a, const Solid& b, Real reach) {
  Manifold m;
  collide(a, b, {reach, reach}, m);
  return m;
}
std::set<std::uint32_t> features(const Manifold& m) {
  std::set<std::uint32_t> set;
  for (const ContactPoint& c : m) set.insert(c.feature);
  return set;
}
Real least_gap(const Manifold& m) {
  Real gap = 1e300;
  for (const ContactPoint& c : m) gap = std::min(gap, c.gap);
  return gap;
}

/// Distance of two boxes that are apart, by alternating projections (a convex problem: no local minima).
Real distance(const Solid& a, const Solid& b) {
  const auto nearest = [](const Solid& s, const Vec3& p) {
    const Vec3 local = s.orientation.conjugate() * (p - s.position);
    return Vec3(s.position + s.orientation * local.cwiseMax(-s.shape.half).cwiseMin(s.shape.half));
  };
  Vec3 p = a.position, q = b.position;
  for (int k = 0; k < 20000; ++k) {
    const Vec3 q_new = nearest(b, p), p_new = nearest(a, q_new);
    const bool done = (p_new - p).norm() < 1e-13 && (q_new - q).norm() < 1e-13;
    p = p_new, q = q_new;
    if (done) break;
  }
  return (p - q).norm();
}

TEST(NarrowBox, RestsOnAPlaneWithFourCorners) {
  const Shape box{.kind = ShapeKind::box, .half = Vec3(1, 2, 3)}, ground{.kind = ShapeKind::half_space};
  const Solid plane{ground, 0, Vec3::Zero(), Quat::Identity()};
  Manifold m = touch({box, 0, Vec3(5, 5, 3.01), Quat::Identity()}, plane, 0.1);
  ASSERT_EQ(m.size(), 4);
  for (const ContactPoint& c : m) {
    EXPECT_NEAR(c.gap, 0.01, 1e-14);
    EXPECT_EQ(c.normal, -Vec3::UnitZ());
    EXPECT_NEAR(c.point.z(), 0.005, 1e-14);
  }
  m = touch({box, 0, Vec3(0, 0, 3), rotation_exp(Vec3(0.3, 0, 0))}, plane, 0.1);  // on an edge
  EXPECT_EQ(m.size(), 2);
}

TEST(NarrowBox, StackedCubesShareFourPointsThatPersist) {
  const Shape cube{.kind = ShapeKind::box, .half = Vec3::Constant(0.5)};
  std::set<std::uint32_t> first;
  Random random(1);
  for (int step = 0; step < 200; ++step) {
    // rounding and solver noise, far below anything one sees
    const Vec3 noise = 1e-7 * random_in_box(random, Vec3::Constant(-1), Vec3::Ones());
    const Quat turn = rotation_exp(1e-7 * random_in_box(random, Vec3::Constant(-1), Vec3::Ones()));
    const Manifold m =
        touch({cube, 0, Vec3::Zero(), Quat::Identity()}, {cube, 0, Vec3(0, 0, 1) + noise, turn}, 1e-3);
    ASSERT_EQ(m.size(), 4);
    for (const ContactPoint& c : m) {
      EXPECT_NEAR(c.gap, 0, 1e-6);
      EXPECT_LT((c.normal - Vec3::UnitZ()).norm(), 1e-6);
    }
    if (step == 0) first = features(m);
    EXPECT_EQ(features(m), first);
  }
}

TEST(NarrowBox, CrossedBricksTouchInARectangle) {
  const Shape brick{.kind = ShapeKind::box, .half = Vec3(3, 1, 0.5)};
  const Solid a{brick, 0, Vec3::Zero(), Quat::Identity()};
  const Solid b{brick, 0, Vec3(0.2, 0.1, 1.0), rotation_exp(Vec3(0, 0, std::numbers::pi / 2))};
  const Manifold m = touch(a, b, 0.1);
  ASSERT_EQ(m.size(), 4);
  for (const ContactPoint& c : m) {
    EXPECT_NEAR(std::abs(c.point.x() - 0.2), 1, 0.01);
    EXPECT_NEAR(std::abs(c.point.y()), 1, 0.01);
  }
  EXPECT_EQ(touch(a, {brick, 0, Vec3(0, 0, 1), rotation_exp(Vec3(0, 0, 0.7))}, 0.1).size(), 4);  // a rhombus
  const Shape square{.kind = ShapeKind::box, .half = Vec3(1, 1, 0.5)};
  const Solid c{square, 0, Vec3::Zero(), Quat::Identity()};
  EXPECT_EQ(touch(c, {square, 0, Vec3(0, 0, 1), rotation_exp(Vec3(0, 0, 0.7))}, 0.1).size(),
            8);  // an octagon
}

TEST(NarrowBox, CrossedEdgesTouchInOnePoint) {
  const Shape cube{.kind = ShapeKind::box, .half = Vec3::Ones()};
  const Real root = std::sqrt(2.0), quarter = std::numbers::pi / 4;
  const Solid a{cube, 0, Vec3::Zero(), rotation_exp(Vec3(quarter, 0, 0))};  // edge along x on top
  for (Real gap : {0.05, 0.0, -0.05}) {
    const Solid b{cube, 0, Vec3(0.2, -0.3, 2 * root + gap),
                  rotation_exp(Vec3(0, quarter, 0))};  // edge along y below
    const Manifold m = touch(a, b, 0.1);
    ASSERT_EQ(m.size(), 1);
    EXPECT_NEAR(m[0].gap, gap, 1e-12);
    EXPECT_LT((m[0].normal - Vec3::UnitZ()).norm(), 1e-12);
    EXPECT_LT((m[0].point - Vec3(0.2, 0, root + gap / 2)).norm(), 1e-12);
  }
}

TEST(NarrowBox, CornerToCornerSeesTheTrueDirection) {
  const Shape cube{.kind = ShapeKind::box, .half = Vec3::Ones()};
  const Vec3 off = Vec3(0.03, 0.04, 0.12);  // 0.13 from corner to corner
  const Manifold m =
      touch({cube, 0, Vec3::Zero(), Quat::Identity()}, {cube, 0, Vec3(2, 2, 2) + off, Quat::Identity()}, 0.2);
  ASSERT_EQ(m.size(), 1);
  EXPECT_NEAR(m[0].gap, 0.13, 1e-12);
  EXPECT_LT((m[0].normal - off / 0.13).norm(), 1e-12);
  EXPECT_EQ(touch({cube, 0, Vec3::Zero(), Quat::Identity()}, {cube, 0, Vec3(2, 2, 2) + off, Quat::Identity()},
                  0.125)
                .size(),
            0);
}

// Random poses: the least gap is the distance where the boxes are apart; it is negative where they overlap;
// every listed point is where it claims to be.
TEST(NarrowBox, RandomPosesAgreeWithTheTrueDistance) {
  Random random(5);
  int apart = 0, overlapping = 0;
  std::map<int, int> sizes;
  for (int trial = 0; trial < 4000; ++trial) {
    const Shape sa{.kind = ShapeKind::box, .half = random_in_box(random, Vec3::Constant(0.2), Vec3::Ones())};
    const Shape sb{.kind = ShapeKind::box, .half = random_in_box(random, Vec3::Constant(0.2), Vec3::Ones())};
    const Solid a{sa, 0, random_in_box(random, Vec3::Constant(-5), Vec3::Constant(5)),
                  random_rotation(random)};
    const Solid b{sb, 0, a.position + random_in_box(random, Vec3::Constant(-1.5), Vec3::Constant(1.5)),
                  random_rotation(random)};
    const Real reach = 0.3, smallest = std::min(sa.half.minCoeff(), sb.half.minCoeff());
    const Real d = distance(a, b);
    const Manifold m = touch(a, b, reach);
    ++sizes[m.size()];
    if (d > 1e-6) {
      ++apart;
      if (d >= reach) {
        // a face further away along its normal than its true distance may still be listed, never nearer
        for (const ContactPoint& c : m) EXPECT_GT(c.gap, 0);
      } else {
        ASSERT_GT(m.size(), 0) << "distance " << d << " trial " << trial;
        EXPECT_GT(least_gap(m), 0) << trial;
        EXPECT_NEAR(least_gap(m), d, 0.05 * smallest + 0.05 * d) << "trial " << trial;
      }
    } else {
      ++overlapping;
      ASSERT_GT(m.size(), 0) << trial;
      EXPECT_LE(least_gap(m), 1e-9) << trial;
      // moving b out along the normal by the overlap parts the boxes, or nearly: never much too little
      Real deepest = least_gap(m);
      Vec3 n = Vec3::Zero();
      for (const ContactPoint& c : m)
        if (c.gap == deepest) n = c.normal;
      const Solid moved{sb, 0, b.position + n * (-deepest + 0.03 * smallest), b.orientation};
      EXPECT_GT(distance(a, moved), 0) << trial;
    }
    EXPECT_LE(m.size(), 9);  // eight, and the nearest points where they are not among them
    EXPECT_EQ(features(m).size(), static_cast<std::size_t>(m.size()))
        << "two contacts with one feature, trial " << trial;
    for (const ContactPoint& c : m) {
      EXPECT_NEAR(c.normal.norm(), 1, 1e-12);
      EXPECT_LT(c.gap, reach);
    }
  }
  EXPECT_GT(apart, 500);
  EXPECT_GT(overlapping, 500);
}

// A rigid motion of the pair moves its contacts along; turning the pair round changes the sign of the normals
// only.
TEST(NarrowBox, ContactsMoveWithTheBodies) {
  Random random(6);
  for (int trial = 0; trial < 500; ++trial) {
    const Shape sa{.kind = ShapeKind::box, .half = Vec3(0.5, 0.7, 1)},
        sb{.kind = ShapeKind::box, .half = Vec3(0.4, 0.9, 0.6)};
    const Solid a{sa, 0, Vec3::Zero(), random_rotation(random)};
    const Solid b{sb, 0, random_in_box(random, Vec3::Constant(-1.2), Vec3::Constant(1.2)),
                  random_rotation(random)};
    const Quat q = random_rotation(random);
    const Vec3 x(1000, -2000, 500);
    const Manifold m = touch(a, b, 0.2);
    const Manifold moved = touch({sa, 0, x + q * a.position, q * a.orientation},
                                 {sb, 0, x + q * b.position, q * b.orientation}, 0.2);
    ASSERT_EQ(m.size(), moved.size());
    for (int i = 0; i < m.size(); ++i) {
      EXPECT_EQ(m[i].feature, moved[i].feature);
      EXPECT_NEAR(m[i].gap, moved[i].gap, 1e-11);
      EXPECT_LT((x + q * m[i].point - moved[i].point).norm(), 1e-10);
      EXPECT_LT((q * m[i].normal - moved[i].normal).norm(), 1e-11);
    }
  }
}

TEST(NarrowBox, InAHollowBoxEveryWallHasItsCorners) {
  const Shape room{.kind = ShapeKind::hollow_box, .half = Vec3(5, 5, 5), .open = face_bit(Face::top)};
  const Solid container{room, 0, Vec3::Zero(), Quat::Identity()};
  const Shape cube{.kind = ShapeKind::box, .half = Vec3::Ones()};
  Manifold m = touch({cube, 0, Vec3(3.99, -3.99, -4.01), Quat::Identity()}, container, 0.1);  // in a corner
  ASSERT_EQ(m.size(), 12);
  std::map<Face, int> on;
  for (const ContactPoint& c : m) {
    const Face face = container_face(c.feature);
    ++on[face];
    EXPECT_NEAR(c.gap, face == Face::floor ? -0.01 : 0.01, 1e-12);
    EXPECT_NEAR(c.normal.dot(c.point), 5, 0.02);  // towards the wall
  }
  EXPECT_EQ(on[Face::x_plus], 4);
  EXPECT_EQ(on[Face::y_minus], 4);
  EXPECT_EQ(on[Face::floor], 4);
  EXPECT_EQ(touch({cube, 0, Vec3::Zero(), Quat::Identity()}, container, 0.1).size(), 0);
  // lying across the rim: held from below
  m = touch({cube, 0, Vec3(5.2, 0, 5.99), Quat::Identity()}, container, 0.1);
  ASSERT_GT(m.size(), 0);
  for (const ContactPoint& c : m) {
    EXPECT_EQ(container_face(c.feature), Face::x_plus);
    EXPECT_LT((c.normal + Vec3::UnitZ()).norm(), 1e-12);
    EXPECT_NEAR(c.gap, -0.01, 1e-12);
  }
}

TEST(NarrowCylinder, StandsOnItsRimAndRollsOnItsSide) {
  const Shape ground{.kind = ShapeKind::half_space},
      can{.kind = ShapeKind::cylinder, .half = Vec3(0, 0, 2), .radius = 1};
  const Solid plane{ground, 0, Vec3::Zero(), Quat::Identity()};
  Manifold m = touch({can, 0, Vec3(0, 0, 2.01), Quat::Identity()}, plane, 0.1);
  EXPECT_EQ(m.size(), 8);
  for (const ContactPoint& c : m) EXPECT_NEAR(c.gap, 0.01, 1e-14);
  // on its side, at any angle of rolling, the lowest points are two and exactly one radius down
  for (int k = 0; k < 50; ++k) {
    const Quat q = rotation_exp(Vec3(std::numbers::pi / 2, 0, 0)) * rotation_exp(Vec3(0, 0, 0.1 * k));
    m = touch({can, 0, Vec3(0, 0, 1), q}, plane, 1e-6);
    Real low = 1;
    std::set<Real> ends;
    for (const ContactPoint& c : m) {
      low = std::min(low, c.gap);
      ends.insert(std::round(c.point.y()));
    }
    EXPECT_NEAR(low, 0, 1e-14);
    EXPECT_EQ(ends, (std::set<Real>{-2, 2}));
  }
  // tilted: the lowest point of the rim is listed and is the lowest of the body
  const Real tilt = 0.4;
  m = touch({can, 0, Vec3(0, 0, 2), rotation_exp(Vec3(tilt, 0, 0))}, plane, 10);
  EXPECT_NEAR(least_gap(m), 2 - 2 * std::cos(tilt) - std::sin(tilt), 1e-12);
}

}  // namespace
}  // namespace talus
