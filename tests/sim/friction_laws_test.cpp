// V2-V6: friction laws with analytic answers, exact and relaxed.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/make_world.hpp"

namespace talus {
namespace {
using namespace test;

constexpr Real g = 9.81;

/// Rotation that tilts a plane by θ so that downhill is +x.
Quat tilt(Real theta) { return Quat(Eigen::AngleAxisd(theta, Vec3::UnitY())); }
Vec3 downhill(Real theta) { return tilt(theta) * Vec3::UnitX(); }
Vec3 uphill_normal(Real theta) { return tilt(theta) * Vec3::UnitZ(); }

/// A brick resting on a plane tilted by θ.
World brick_on_incline(Real theta, Real mu) {
  World world = make_world(mu);
  add_box(world, Vec3(0.2, 0.2, 0.1), 1.0, 0.05 * uphill_normal(theta), Vec3::Zero(), tilt(theta));
  add_plane(world, Vec3::Zero(), tilt(theta));
  return world;
}

TEST(V2, BrickSlidesWithTheExactAcceleration) {
  const Real theta = 35 * M_PI / 180, mu = 0.5, h = 1e-3;
  World world = brick_on_incline(theta, mu);
  const Team team;
  Stepper stepper(world, settings(Model::exact, 1e-9), team);
  const int steps = 500;
  for (int n = 0; n < steps; ++n) stepper.step(h);
  const Real a = world.bodies.velocity[at(world, 0)].linear.dot(downhill(theta)) / (steps * h);
  EXPECT_NEAR(a, g * (std::sin(theta) - mu * std::cos(theta)), 1e-6);
  EXPECT_NEAR(a, 1.609, 1e-3);
}

TEST(V2, StickingBrickDoesNotDriftInAHundredThousandSteps) {
  const Real theta = 0.4, mu = std::tan(theta) * 1.01, h = 1e-3;
  World world = brick_on_incline(theta, mu);
  const Vec3 start = world.bodies.position[0];
  const Team team;
  const Real tolerance = 1e-8;
  Stepper stepper(world, settings(Model::exact, tolerance), team);
  const int steps = 100000;
  for (int n = 0; n < steps; ++n) stepper.step(h);
  // A velocity error of tolerance·g·h in every step, all in one direction, is the most the solver may leave.
  EXPECT_LT((world.bodies.position[at(world, 0)] - start).norm(), steps * h * tolerance * g * h * 2);
}

TEST(V2, ThresholdAngle) {
  const Real mu = 0.5, h = 1e-3, critical = std::atan(mu);
  for (Real sign : {-1.0, 1.0}) {
    World world = brick_on_incline(critical + sign * 1e-4, mu);
    const Team team;
    Stepper stepper(world, settings(Model::exact, 1e-9), team);
    for (int n = 0; n < 200; ++n) stepper.step(h);
    const Real v = world.bodies.velocity[at(world, 0)].linear.norm();
    const Real sliding = g * (std::sin(critical + 1e-4) - mu * std::cos(critical + 1e-4)) * 200 * h;
    if (sign > 0)
      EXPECT_NEAR(v, sliding, 0.05 * sliding);
    else
      EXPECT_LT(v, 0.05 * sliding);
  }
}

TEST(V3, FirstRelaxedStepLiftsOffAsPredicted) {
  const Real h = 1e-3, mu = 0.5, v = 2;
  for (Model model : {Model::relaxed, Model::exact}) {
    World world = make_world(mu);
    add_box(world, Vec3(0.4, 0.4, 0.001), 1.0, Vec3(0, 0, 0.0005), Vec3(v, 0, 0));
    add_plane(world);
    const Team team;
    Stepper stepper(world, settings(model, 1e-11), team);
    stepper.step(h);
    const Vec3 after = world.bodies.velocity[at(world, 0)].linear;
    if (model == Model::relaxed) {
      EXPECT_NEAR(after.x(), (v - mu * g * h) / (1 + mu * mu), 2e-3);  // a thin plate: almost a point mass
      EXPECT_NEAR(after.z(), mu * after.x(), 2e-3);
    } else {
      EXPECT_NEAR(after.x(), v - mu * g * h, 1e-6);
      EXPECT_NEAR(after.z(), 0, 1e-6);
    }
  }
}

TEST(V3, SteadyRelaxedSlidingHoversAndStillDeceleratesAtMuG) {
  const Real h = 1e-3, mu = 0.5, v0 = 4;
  World world = make_world(mu);
  // Started at the hovering height, the relaxed model slides steadily.
  add_box(world, Vec3(0.4, 0.4, 0.001), 1.0, Vec3(0, 0, 0.0005 + h * mu * v0), Vec3(v0, 0, 0));
  add_plane(world);
  const Team team;
  Stepper stepper(world, settings(Model::relaxed, 1e-11), team);
  for (int n = 0; n < 50; ++n) stepper.step(h);
  const Real v1 = world.bodies.velocity[at(world, 0)].linear.x();
  for (int n = 0; n < 100; ++n) stepper.step(h);
  const Local i = at(world, 0);
  const Real v2 = world.bodies.velocity[i].linear.x();
  EXPECT_NEAR((v1 - v2) / (100 * h), mu * g, 2e-2 * mu * g);
  EXPECT_NEAR(world.bodies.position[i].z() - 0.0005, h * mu * v2, 0.02 * h * mu * v2);
}

TEST(V4, SlidingBoxStopsWhereTheDiscreteLawSays) {
  const Real h = 1e-3, mu = 0.3, v = 1.5;
  World world = make_world(mu);
  add_box(world, Vec3(0.4, 0.4, 0.1), 1.0, Vec3(0, 0, 0.05), Vec3(v, 0, 0));
  add_plane(world);
  const Team team;
  Stepper stepper(world, settings(Model::exact, 1e-10), team);
  const int n = static_cast<int>(std::floor(v / (mu * g * h)));  // steps in which it still slides at the end
  for (int k = 0; k < n + 50; ++k) stepper.step(h);
  const Local i = at(world, 0);
  const Real distance = world.bodies.position[i].x();
  EXPECT_NEAR(distance, n * h * v - mu * g * h * h * n * (n + 1.0) / 2, 1e-6);
  EXPECT_LE(std::abs(distance - v * v / (2 * mu * g)), v * h);
  EXPECT_LT(world.bodies.velocity[i].linear.norm(), 1e-9);
}

TEST(V5, BallSlipsThenRolls) {
  const Real h = 2.5e-3, mu = 0.2, v0 = 2, r = 1;
  for (Model model : {Model::exact, Model::relaxed}) {
    World world = make_world(mu);
    add_sphere(world, r, 1.0, Vec3(0, 0, r), Vec3(v0, 0, 0));
    add_plane(world);
    const Team team;
    Stepper stepper(world, settings(model, 1e-10), team);
    Real rolling_since = -1, highest = 0;
    for (int n = 0; n < 400; ++n) {
      stepper.step(h);
      const Twist& v = world.bodies.velocity[at(world, 0)];
      const Real slip = v.linear.x() - r * v.angular.y();
      if (rolling_since < 0 && std::abs(slip) < 1e-6) rolling_since = world.time;
      highest = std::max(highest, world.bodies.position[at(world, 0)].z() - r);
    }
    const Twist& v = world.bodies.velocity[at(world, 0)];
    EXPECT_NEAR(rolling_since, 2 * v0 / (7 * mu * g), h * (model == Model::exact ? 1 : 2));
    EXPECT_NEAR(v.linear.x(), 5 * v0 / 7, 1e-6);
    if (model == Model::exact)
      EXPECT_LT(highest, 1e-9);
    else
      EXPECT_NEAR(highest, 6.6e-3, 0.2e-3);  // the relaxed model hops; it does not vanish with h (V3)
  }
}

TEST(V6, SphereOnInclineRollsOrSlides) {
  const Real theta = 0.5, r = 0.3, h = 1e-4;
  const Vec3 n = uphill_normal(theta);
  for (Real mu : {0.9 * 2.0 / 7 * std::tan(theta), 1.1 * 2.0 / 7 * std::tan(theta)}) {
    World world = make_world(mu);
    add_sphere(world, r, 2.0, r * n);
    add_plane(world, Vec3::Zero(), tilt(theta));
    const Team team;
    Stepper stepper(world, settings(Model::exact, 1e-10), team);
    const int steps = 1000;
    for (int k = 0; k < steps; ++k) stepper.step(h);
    const Twist& v = world.bodies.velocity[at(world, 0)];
    const Real a = v.linear.dot(downhill(theta)) / (steps * h), alpha = v.angular.norm() / (steps * h);
    if (mu > 2.0 / 7 * std::tan(theta)) {
      EXPECT_NEAR(a, 5.0 / 7 * g * std::sin(theta), 1e-5);
      EXPECT_NEAR(alpha * r, a, 1e-5);
    } else {
      EXPECT_NEAR(a, g * (std::sin(theta) - mu * std::cos(theta)), 1e-5);
      EXPECT_NEAR(alpha, 5 * mu * g * std::cos(theta) / (2 * r), 1e-4);
    }
  }
}
// Not shown: friction anisotropy, spinning resistance, and sliding on several bodies at once.

}  // namespace
}  // namespace talus
