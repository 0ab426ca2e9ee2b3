// V1: free fall and the free asymmetric top.
#include <gtest/gtest.h>

#include "sim/make_world.hpp"

namespace talus {
namespace {
using namespace test;

TEST(V1, FreeFallFollowsTheDiscreteLaw) {
  const Real h = 1e-3, g = 9.81, z0 = 3, v0 = 2;
  World world = make_world(0.5);
  add_sphere(world, 0.1, 1.0, Vec3(0, 0, z0), Vec3(0, 0, v0));
  const Team team;
  Stepper stepper(world, settings(Model::relaxed), team);
  for (int n = 1; n <= 500; ++n) {
    stepper.step(h);
    const Real expected = z0 + n * h * v0 - g * h * h * n * (n + 1.0) / 2;
    ASSERT_NEAR(world.bodies.position[0].z(), expected, 1e-12) << "step " << n;
  }
}

/// Relative energy error of a torque-free box after 20 s, and the worst relative error of L on the way.
struct TopErrors {
  Real energy, momentum;
};
TopErrors spin_top(Real h) {
  World world = make_world(0.0, Vec3::Zero());
  BodySpec spec{.shape = box(Vec3(0.1, 0.2, 0.4)), .mass = 2.0};
  spec.velocity.linear = Vec3(0.1, -0.2, 0.3);
  spec.velocity.angular = Vec3(1.0, 2.0, 0.5);
  add(world, spec);
  auto L = [&] {
    const Bodies& b = world.bodies;
    const Quat& q = b.orientation[0];
    return Vec3(q * b.inertia[0].cwiseProduct(q.conjugate() * b.velocity[0].angular));
  };
  const Vec3 L0 = L();
  const Real E0 = kinetic_energy(world.bodies, 0);
  const Team team;
  Stepper stepper(world, settings(Model::relaxed), team);
  TopErrors worst{0, 0};
  for (int n = 0; n < 20.0 / h; ++n) {
    stepper.step(h);
    worst.momentum = std::max(worst.momentum, (L() - L0).norm() / L0.norm());
    worst.energy = std::max(worst.energy, std::abs(kinetic_energy(world.bodies, 0) - E0) / E0);
  }
  EXPECT_LT((world.bodies.velocity[0].linear - Vec3(0.1, -0.2, 0.3)).norm(), 1e-15);
  return worst;
}

TEST(V1, FreeTopKeepsAngularMomentumAndItsEnergyErrorHalvesWithTheStep) {
  const TopErrors coarse = spin_top(2e-3), fine = spin_top(1e-3);
  EXPECT_LT(coarse.momentum, 1e-12);
  EXPECT_LT(fine.momentum, 1e-12);
  EXPECT_LT(coarse.energy, 0.05);
  EXPECT_NEAR(coarse.energy / fine.energy, 2.0, 0.3);
}
// Not shown: bodies spinning through many radians a step, where the first-order energy error is large.

}  // namespace
}  // namespace talus
