// V11 weight balance, V12 stacks, V21 the margin: many-body laws that need a settled state.
#include <gtest/gtest.h>

#include "talus/base/random.hpp"
#include "sim/make_world.hpp"

namespace talus {
namespace {
using namespace test;

constexpr Real g = 9.81;

Real deepest_overlap(Stepper& stepper, Real h) { return stepper.step(h).detector.deepest; }

TEST(V11, ContainerCarriesTheWeight) {
  World world = make_world(0.3);
  Random random(7);
  const Real r = 0.05;
  Real weight = 0;
  for (int k = 0; k < 60; ++k) {
    const Vec3 x(-0.15 + 0.1 * (k % 4) + 0.004 * random.uniform(), -0.15 + 0.1 * (k / 4 % 4) + 0.004 * random.uniform(),
                 0.06 + 0.11 * (k / 16));
    add_sphere(world, r, 1.3, x);
    weight += 1.3 * g;
  }
  add(world, {.shape = hollow_box(Vec3(0.42, 0.42, 1.0)), .position = Vec3(0, 0, 0.5), .mobility = Mobility::fixed,
              .name = "bin"});
  const Team team(2);
  Stepper stepper(world, settings(Model::relaxed, 1e-5, 5000), team);
  for (int n = 0; n < 3000; ++n) stepper.step(1e-3);
  // Averaged over 0.1 s: the last grains may still be turning.
  Vec3 total = Vec3::Zero(), faces = Vec3::Zero();
  for (int n = 0; n < 100; ++n) {
    stepper.step(1e-3);
    for (const NamedForce& f : stepper.named_forces()) (f.face < 0 ? total : faces) += f.force / 100;
  }
  EXPECT_NEAR(-total.z() / weight, 1.0, 1e-3);
  EXPECT_LT(total.head<2>().norm() / weight, 1e-3);
  EXPECT_LT((total - faces).norm() / weight, 1e-12);  // the faces are the parts of the whole
}

TEST(V12, TenBoxesStand) {
  for (Real top_mass : {1.0, 1e2, 1e4}) {
    World world = make_world(0.5);
    for (int k = 0; k < 10; ++k) add_box(world, Vec3(0.5, 0.5, 0.5), k == 9 ? top_mass : 1.0, Vec3(0, 0, 0.25 + 0.5 * k));
    add_plane(world);
    const Team team;
    Stepper stepper(world, settings(Model::relaxed, 1e-5, 20000), team);
    Real deepest = 0;
    for (int n = 0; n < 1000; ++n) deepest = deepest_overlap(stepper, 2e-3);
    EXPECT_LT(deepest, 1e-4 * 0.5) << "mass ratio " << top_mass;
    for (int k = 0; k < 10; ++k) {
      const Vec3& x = world.bodies.position[at(world, k)];
      EXPECT_NEAR(x.z(), 0.25 + 0.5 * k, 1e-3) << "box " << k << " under " << top_mass;
      EXPECT_LT(x.head<2>().norm(), 1e-3);
    }
  }
}

TEST(V12, TenSpheresOnTheAxisStand) {
  for (Real top_mass : {1.0, 1e4}) {
    World world = make_world(0.5);
    const Real r = 0.5;
    for (int k = 0; k < 10; ++k) add_sphere(world, r, k == 9 ? top_mass : 1.0, Vec3(0, 0, r + 2 * r * k));
    add_plane(world);
    const Team team;
    Stepper stepper(world, settings(Model::relaxed, 1e-5, 20000), team);
    Real deepest = 0;
    for (int n = 0; n < 1000; ++n) deepest = deepest_overlap(stepper, 2e-3);
    EXPECT_LT(deepest, 1e-4 * r) << "mass ratio " << top_mass;
    EXPECT_NEAR(world.bodies.position[at(world, 9)].z(), 19 * r, 1e-2 * r);
  }
}

TEST(V21, SpherePassingABoxEdgeIsNotDeflected) {
  const Real r = 0.1;
  for (Real h : {1e-3, 1e-2}) {
    World world = make_world(0.5, Vec3::Zero());
    const Vec3 v(2, 0, 0);
    // Box corner edge at x = 0, z = 0 (box below and right); centre passes 1.1 r above it.
    add_sphere(world, r, 1.0, Vec3(-1, 0, 1.1 * r), v);
    add(world, {.shape = box(Vec3(1, 1, 1)), .position = Vec3(0.5, 0, -0.5), .mobility = Mobility::fixed});
    const Team team;
    // The exact law: the relaxed one hovers at h μ v above any face, margin or not (V3).
    Stepper stepper(world, settings(Model::exact, 1e-10), team);
    for (int n = 0; n < 1.0 / h; ++n) stepper.step(h);
    const Twist& after = world.bodies.velocity[at(world, 0)];
    EXPECT_LT((after.linear - v).norm(), 1e-12) << "h = " << h;
  }
}

TEST(EnergyBalance, ClosesWhenABedFallsAndSettles) {
  World world = make_world(0.3);
  Random random(3);
  for (int k = 0; k < 80; ++k)
    add_sphere(world, 0.05, 1.0,
               Vec3(-0.15 + 0.1 * (k % 4) + 0.004 * random.uniform(), -0.15 + 0.1 * (k / 4 % 4), 0.3 + 0.12 * (k / 16)));
  add(world, {.shape = hollow_box(Vec3(0.42, 0.42, 2.0)), .position = Vec3(0, 0, 1.0), .mobility = Mobility::fixed});
  const Team team;
  Stepper stepper(world, settings(Model::relaxed, 1e-4, 5000), team);
  Real worst = 0;
  StepReport last;
  for (int n = 0; n < 1000; ++n) {
    last = stepper.step(1e-3);
    worst = std::max(worst, std::abs(last.energy_balance));
  }
  EXPECT_GT(world.energy.dissipated, 0.2 * world.energy.initial);
  EXPECT_LT(worst, 1e-9 * world.energy.initial);
  EXPECT_EQ(world.energy.drive_work, 0);
}

}  // namespace
}  // namespace talus
