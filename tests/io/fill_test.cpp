// Fills: counts, no overlap, inside the region, the right sizes, and the same bits for the same seed.
#include "talus/io/fill.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "io/scene_text.hpp"

namespace talus {
namespace {

FillRegion box(Real x, Real y, Real z) {
  return {Vec3::Zero(), Vec3(x, y, z), 0, Vec3::Zero(), Quat::Identity()};
}

SceneFill spheres(Arrangement arrangement, Real radius) {
  SceneFill f;
  f.arrangement = arrangement;
  f.radius.value = radius;
  return f;
}

SizeDistribution uniform_sizes(Real low, Real high) {
  SizeDistribution d;
  d.kind = SizeDistribution::Kind::uniform;
  d.min = low;
  d.max = high;
  return d;
}

/// Smallest gap between any two spheres, over the smaller radius.
Real smallest_gap(const BodyList& b) {
  Real gap = 1e300;
  for (std::size_t i = 0; i < b.position.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      gap = std::min(gap, ((b.position[i] - b.position[j]).norm() - b.radius[i] - b.radius[j]) /
                              std::min(b.radius[i], b.radius[j]));
  return gap;
}

bool all_inside(const BodyList& b, const FillRegion& r) {
  for (std::size_t i = 0; i < b.position.size(); ++i)
    if (!r.holds(r.orientation.conjugate() * (b.position[i] - r.centre), b.radius[i] * (1 - 1e-9)))
      return false;
  return true;
}

std::string refusal_of(const SceneFill& f, const FillRegion& r) {
  try {
    fill_region(f, r);
  } catch (const InputError& e) {
    return e.what();
  }
  ADD_FAILURE() << "the fill was accepted";
  return "";
}

RC_GTEST_PROP(Fill, NeverOverlapsNorLeavesTheRegion, ()) {
  const auto arrangement =
      *rc::gen::element(Arrangement::lattice, Arrangement::jittered, Arrangement::random);
  SceneFill f = spheres(arrangement, 0);
  const Real r = std::exp2(*rc::gen::inRange(-12, 12));
  f.radius = uniform_sizes(r * 0.01 * *rc::gen::inRange(20, 100), r);
  f.seed = *rc::gen::inRange(0, 1000);
  f.gap = *rc::gen::element(0.0, 0.1, 0.5);
  f.count = *rc::gen::inRange(1, 60);
  if (*rc::gen::arbitrary<bool>())
    f.spacing = arrangement == Arrangement::random ? std::nullopt : std::optional(3 * r);
  FillRegion region = box(20 * r, 17 * r, 23 * r);
  region.orientation = rotation_exp(Vec3(0.3, -1, 0.2) * *rc::gen::inRange(0, 3));
  region.centre = Vec3(r, -r, 5 * r);
  if (*rc::gen::arbitrary<bool>())
    region.radius = 9 * r, region.min = Vec3(-9 * r, -9 * r, 0), region.max = Vec3(9 * r, 9 * r, 23 * r);
  const BodyList b = fill_region(f, region);
  RC_ASSERT(static_cast<Global>(b.position.size()) == *f.count);
  RC_ASSERT(all_inside(b, region));
  if (b.position.size() > 1) RC_ASSERT(smallest_gap(b) >= f.gap - 1e-9);
}

TEST(Fill, SameSeedSameBits) {
  SceneFill f = spheres(Arrangement::random, 0);
  f.radius = uniform_sizes(0.02, 0.05);
  f.count = 300;
  f.random_speed = 1;
  const BodyList a = fill_region(f, box(1, 1, 1)), b = fill_region(f, box(1, 1, 1));
  EXPECT_EQ(a.position, b.position);
  EXPECT_EQ(a.radius, b.radius);
  EXPECT_EQ(a.velocity, b.velocity);
  f.seed = 2;
  EXPECT_NE(fill_region(f, box(1, 1, 1)).position, a.position);
}

TEST(Fill, LatticeCountsAndPlaces) {
  SceneFill f = spheres(Arrangement::lattice, 0.5);
  const BodyList b = fill_region(f, box(4, 3, 2));
  EXPECT_EQ(b.position.size(), 24u);  // the last one fits exactly
  EXPECT_EQ(b.position[0], Vec3(0.5, 0.5, 0.5));
  EXPECT_NEAR(smallest_gap(b), 0, 1e-12);
  f.cells = {2, 2, 1};
  EXPECT_EQ(fill_region(f, box(4, 3, 2)).position.size(), 4u);
  f.cells = {5, 1, 1};
  EXPECT_TRUE(has(refusal_of(f, box(4, 3, 2)), {"5 spheres in x, only 4 fit"}));
}

TEST(Fill, LatticeFromTheBottomUpStopsAtCount) {
  SceneFill f = spheres(Arrangement::lattice, 0.5);
  f.count = 7;
  const BodyList b = fill_region(f, box(2, 2, 10));
  EXPECT_EQ(b.position.size(), 7u);
  EXPECT_EQ(b.position.back().z(), 1.5);
}

TEST(Fill, JitteredUsesTheWholeRegion) {
  SceneFill f = spheres(Arrangement::jittered, 0.01);
  f.count = 1000;
  const FillRegion region = box(0.2, 0.2, 0.5);
  const BodyList b = fill_region(f, region);
  Real top = 0;
  for (const Vec3& p : b.position) top = std::max(top, p.z());
  EXPECT_GT(top, 0.35);
  EXPECT_GE(smallest_gap(b), 0);
}

TEST(Fill, JitteredInACylinder) {
  SceneFill f = spheres(Arrangement::jittered, 0.01);
  f.count = 500;
  const FillRegion region{Vec3(-0.2, -0.2, -0.2), Vec3(0.2, 0.2, 0.2), 0.2, Vec3::Zero(), Quat::Identity()};
  const BodyList b = fill_region(f, region);
  EXPECT_EQ(b.position.size(), 500u);
  EXPECT_TRUE(all_inside(b, region));
  EXPECT_GE(smallest_gap(b), 0);
}

TEST(Fill, HexagonalClosePackingHasTheContactsOfTheClosedForm) {
  // Inside walls: within a layer n_y (n_x − 1) along rows and (n_y − 1)(2 n_x − 1) between rows; between
  // layers the count depends on edges, so it is compared with a direct count of touching neighbours away from
  // edges.
  SceneFill f = spheres(Arrangement::hcp, 1e-3);
  f.cells = {6, 6, 4};
  FillRegion region = box(1, 1, 1);
  const BodyList b = fill_region(f, region);
  ASSERT_EQ(b.position.size(), 144u);
  EXPECT_GE(smallest_gap(b), -1e-12);
  std::vector<int> neighbours(b.position.size(), 0);
  for (std::size_t i = 0; i < b.position.size(); ++i)
    for (std::size_t j = 0; j < b.position.size(); ++j)
      neighbours[i] += i != j && (b.position[i] - b.position[j]).norm() < 2e-3 * (1 + 1e-9);
  const auto index = [](int x, int y, int z) { return (z * 6 + y) * 6 + x; };
  for (int z : {1, 2})
    for (int y : {2, 3})
      for (int x : {2, 3}) EXPECT_EQ(neighbours[index(x, y, z)], 12);
  EXPECT_EQ(neighbours[index(2, 2, 0)], 9);  // bottom layer: three below are missing
  // touches its walls
  Real left = 1, low = 1;
  for (const Vec3& p : b.position) left = std::min(left, p.x()), low = std::min(low, p.z());
  EXPECT_EQ(left, 1e-3);
  EXPECT_EQ(low, 1e-3);
}

TEST(Fill, PeriodicHexagonalPackingWouldHaveTheClosedFormCount) {
  // V18: with images in x and y, n_x n_y (6 n_z − 1) contacts, walls in z included (n_y even).
  SceneFill f = spheres(Arrangement::hcp, 0.5);
  const int nx = 4, ny = 6, nz = 5;
  f.cells = {nx, ny, nz};
  const BodyList b = fill_region(f, box(100, 100, 100));
  const Real lx = nx, ly = ny * std::numbers::sqrt3 / 2;
  Real bottom = 1e9, top = 0;
  for (const Vec3& p : b.position) bottom = std::min(bottom, p.z()), top = std::max(top, p.z());
  int contacts = 0;
  for (std::size_t i = 0; i < b.position.size(); ++i) {
    contacts += (b.position[i].z() < bottom + 1e-9) + (b.position[i].z() > top - 1e-9);
    for (std::size_t j = 0; j < i; ++j) {
      Vec3 d = b.position[i] - b.position[j];
      d.x() -= lx * std::round(d.x() / lx);
      d.y() -= ly * std::round(d.y() / ly);
      contacts += d.norm() < 1 + 1e-9;
    }
  }
  EXPECT_EQ(contacts, nx * ny * (6 * nz - 1));
}

TEST(Fill, HcpNeedsOneSize) {
  SceneFill f = spheres(Arrangement::hcp, 0);
  f.radius = uniform_sizes(0.1, 0.2);
  EXPECT_TRUE(has(refusal_of(f, box(1, 1, 1)), {"one size"}));
}

TEST(Fill, RandomKeepsClearOfWhatIsThere) {
  SceneFill f = spheres(Arrangement::random, 0.04);
  f.count = 200;
  BodyList placed;
  placed.position = {Vec3(0.5, 0.5, 0.5)};
  placed.radius = {0.3};
  const std::vector<Obstacle> obstacles = {
      {Shape{ShapeKind::box, Vec3(0.2, 0.2, 0.05), 0, 0}, Vec3(0.25, 0.25, 0.1),
       rotation_exp(Vec3(0, 0, 0.4)), 0},
      {Shape{ShapeKind::cylinder, Vec3(0.1, 0.1, 0.1), 0.1, 0}, Vec3(0.8, 0.8, 0.9), Quat::Identity(), 0}};
  const BodyList b = fill_region(f, box(1, 1, 1), obstacles, placed);
  for (const Vec3& p : b.position) {
    EXPECT_GE((p - placed.position[0]).norm(), 0.34);
    for (const Obstacle& o : obstacles) EXPECT_GE(o.distance(p), 0.04);
  }
}

TEST(Fill, ObstacleDistances) {
  const Obstacle b{Shape{ShapeKind::box, Vec3(1, 2, 3), 0, 0}, Vec3(1, 0, 0), Quat::Identity(), 0};
  EXPECT_DOUBLE_EQ(b.distance(Vec3(4, 0, 0)), 2);
  EXPECT_DOUBLE_EQ(b.distance(Vec3(5, 6, 0)), 5);
  EXPECT_DOUBLE_EQ(b.distance(Vec3(1, 0, 0)), -1);
  const Obstacle c{Shape{ShapeKind::cylinder, Vec3(1, 1, 2), 1, 0}, Vec3::Zero(), Quat::Identity(), 0};
  EXPECT_DOUBLE_EQ(c.distance(Vec3(4, 0, 6)), 5);
  EXPECT_DOUBLE_EQ(c.distance(Vec3(0, 0, 1.5)), -0.5);
}

TEST(Fill, WhatDoesNotFitIsRefused) {
  SceneFill f = spheres(Arrangement::random, 0.1);
  f.count = 150;
  EXPECT_TRUE(has(refusal_of(f, box(1, 1, 1)), {"found room", "jittered"}));
  f.count = 1000;
  EXPECT_TRUE(has(refusal_of(f, box(1, 1, 1)), {"0.74"}));
  f.count = 1;
  EXPECT_TRUE(has(refusal_of(f, box(0.1, 1, 1)), {"room"}));
  f.arrangement = Arrangement::lattice;
  f.count = 126;
  EXPECT_TRUE(has(refusal_of(f, box(1, 1, 1)), {"only 125 of 126"}));
  f.count.reset();
  EXPECT_TRUE(has(refusal_of(f, box(0.1, 1, 1)), {"not one sphere"}));
  f.spacing = 0.1;
  EXPECT_TRUE(has(refusal_of(f, box(1, 1, 1)), {"spacing", "overlap"}));
  f = spheres(Arrangement::lattice, 1e-9);
  EXPECT_TRUE(has(refusal_of(f, box(1, 1, 1)), {"memory"}));
  f.arrangement = Arrangement::hcp;
  EXPECT_TRUE(has(refusal_of(f, box(1, 1, 1)), {"memory"}));
}

TEST(Fill, RandomWithoutCountFillsUp) {
  SceneFill f = spheres(Arrangement::random, 0.1);
  const BodyList b = fill_region(f, box(1, 1, 1));
  const Real solid = b.position.size() * 4.0 / 3 * std::numbers::pi * 1e-3;
  EXPECT_GT(solid, 0.2);
  EXPECT_GE(smallest_gap(b), 0);
}

// ---- sizes
// ------------------------------------------------------------------------------------------------------

struct Moments {
  Real mean = 0, variance = 0, low = 1e300, high = 0;
};
Moments moments(
    const SizeDistribution& d, int n, Real (*of)(Real) = [](Real x) { return x; }) {
  Random random(5);
  Moments m;
  std::vector<Real> xs;
  for (int i = 0; i < n; ++i) {
    const Real r = draw_radius(d, random);
    m.low = std::min(m.low, r);
    m.high = std::max(m.high, r);
    xs.push_back(of(r));
    m.mean += xs.back() / n;
  }
  for (Real x : xs) m.variance += (x - m.mean) * (x - m.mean) / n;
  return m;
}

TEST(Sizes, Uniform) {
  const Moments m = moments(uniform_sizes(1, 3), 100000);
  EXPECT_NEAR(m.mean, 2, 0.01);
  EXPECT_NEAR(m.variance, 4.0 / 12, 0.01);
  EXPECT_TRUE(m.low >= 1 && m.high <= 3);
}

TEST(Sizes, Lognormal) {
  SizeDistribution d;
  d.kind = SizeDistribution::Kind::lognormal;
  d.median = 2;
  d.sigma = 0.3;
  d.min = 2 * std::exp(-6 * 0.3);
  d.max = 2 * std::exp(6 * 0.3);
  const Moments m = moments(d, 100000, [](Real x) { return std::log(x); });
  EXPECT_NEAR(m.mean, std::log(2), 0.005);
  EXPECT_NEAR(std::sqrt(m.variance), 0.3, 0.005);
  d.min = 1.9, d.max = 2.1;  // cut close: nothing outside, nothing heaped at the ends
  const Moments cut = moments(d, 20000);
  EXPECT_TRUE(cut.low >= 1.9 && cut.high <= 2.1);
  EXPECT_NEAR(cut.mean, 2, 0.01);
  EXPECT_NEAR(std::sqrt(cut.variance), 0.2 / std::sqrt(12), 0.002);
  d.min = d.max = d.median;
  EXPECT_EQ(moments(d, 10).high, 2.0);
}

TEST(Sizes, Discrete) {
  SizeDistribution d;
  d.kind = SizeDistribution::Kind::discrete;
  d.values = {1, 2, 5};
  d.weights = {2, 0, 6};
  Random random(1);
  int count[6] = {};
  for (int i = 0; i < 80000; ++i) ++count[static_cast<int>(draw_radius(d, random))];
  EXPECT_EQ(count[2], 0);
  EXPECT_NEAR(count[1], 20000, 600);
  EXPECT_EQ(count[1] + count[5], 80000);
}

TEST(Fill, RandomSpeedsFillABall) {
  SceneFill f = spheres(Arrangement::lattice, 0.5);
  f.velocity = Vec3(0, 0, -1);
  f.random_speed = 0.35;
  const BodyList b = fill_region(f, box(20, 20, 20));
  Vec3 mean = Vec3::Zero();
  Real square = 0, most = 0;
  for (const Vec3& v : b.velocity) {
    mean += v / 8000;
    square += (v - f.velocity).squaredNorm() / 8000;
    most = std::max(most, (v - f.velocity).norm());
  }
  EXPECT_NEAR((mean - f.velocity).norm(), 0, 0.01);
  EXPECT_LE(most, 0.35);
  EXPECT_NEAR(square, 0.6 * 0.35 * 0.35, 0.002);  // ⟨v²⟩ of a uniform ball is 3/5 R²
}

}  // namespace
}  // namespace talus
