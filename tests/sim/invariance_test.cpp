// V20: translation, rotation, body order, similarity by bits, threads by bits.
#include <gtest/gtest.h>

#include <cmath>

#include "talus/base/random.hpp"
#include "sim/make_world.hpp"

namespace talus {
namespace {
using namespace test;

struct Similarity {
  Real length = 1, time = 1, mass = 1;
};

/// A few dozen spheres and boxes falling into a bin, in units scaled by `s` and moved by `shift` and `turn`.
World small_bed(Similarity s, const Vec3& shift = Vec3::Zero(), const Quat& turn = Quat::Identity()) {
  World world = make_world(0.4, turn * Vec3(0, 0, -9.81) * (s.length / (s.time * s.time)));
  Random random(11);
  auto place = [&](const Vec3& x) { return Vec3(turn * (s.length * x) + shift); };
  for (int k = 0; k < 48; ++k) {
    const Vec3 x(-0.15 + 0.1 * (k % 4) + 0.01 * random.uniform(), -0.15 + 0.1 * (k / 4 % 4) + 0.01 * random.uniform(),
                 0.06 + 0.12 * (k / 16));
    const Vec3 v = s.length / s.time * Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 0));
    if (k % 8 == 3)
      add_box(world, s.length * Vec3(0.06, 0.07, 0.05), 1.5 * s.mass, place(x), turn * v, turn);
    else
      add_sphere(world, 0.04 * s.length, 1.0 * s.mass, place(x), turn * v);
  }
  add(world, {.shape = hollow_box(s.length * Vec3(0.44, 0.44, 1.0)), .position = place(Vec3(0, 0, 0.5)),
              .orientation = turn, .mobility = Mobility::fixed, .name = "bin"});
  return world;
}

World run(World world, Real h, int steps, int threads = 1, Real tolerance = 1e-10) {
  const Team team(threads);
  Stepper stepper(world, settings(Model::relaxed, tolerance, 50000), team);
  for (int n = 0; n < steps; ++n) stepper.step(h);
  return world;
}

/// Largest difference of positions, over the size of the scene, after undoing shift and turn.
Real difference(const World& a, const World& b, const Vec3& shift, const Quat& turn) {
  Real worst = 0;
  for (Global id = 0; id < a.bodies.size(); ++id) {
    const Vec3 back = turn.conjugate() * (b.bodies.position[at(b, id)] - shift);
    worst = std::max(worst, (back - a.bodies.position[at(a, id)]).norm());
  }
  return worst / 0.44;
}

TEST(V20, TranslationAndRotation) {
  const Real h = 1e-3;
  const Vec3 shift(3.1, -2.7, 1.3);
  const Quat turn(Eigen::AngleAxisd(0.7, Vec3(1, 2, -1).normalized()));
  const Quat none = Quat::Identity();
  for (auto [steps, tolerance] : {std::pair{1, 1e-9}, std::pair{20, 1e-6}}) {
    const World plain = run(small_bed({}), h, steps, 1, 1e-12);
    EXPECT_LT(difference(plain, run(small_bed({}, shift), h, steps, 1, 1e-12), shift, none), tolerance) << steps << " steps, shifted";
    EXPECT_LT(difference(plain, run(small_bed({}, Vec3::Zero(), turn), h, steps, 1, 1e-12), Vec3::Zero(), turn), tolerance)
        << steps << " steps, turned";
  }
}

TEST(V20, SimilarityIsBitIdenticalUpToExponents) {
  // lengths × s, times × √s, masses × s³ with s = 2^±12: no absolute constant is left anywhere.
  const int steps = 60;
  const World plain = run(small_bed({}), 0x1p-10, steps, 1, 1e-4);
  for (int e : {-12, 12}) {
    const Similarity s{std::ldexp(1.0, e), std::ldexp(1.0, e / 2), std::ldexp(1.0, 3 * e)};
    const World scaled = run(small_bed(s), 0x1p-10 * s.time, steps, 1, 1e-4);
    for (Global id = 0; id < plain.bodies.size(); ++id) {
      const Local i = at(plain, id), j = at(scaled, id);
      const Vec3 x = scaled.bodies.position[j] / s.length, v = scaled.bodies.velocity[j].linear * (s.time / s.length);
      for (int k = 0; k < 3; ++k) {
        ASSERT_EQ(plain.bodies.position[i][k], x[k]) << "body " << id << ", s = 2^" << e;
        ASSERT_EQ(plain.bodies.velocity[i].linear[k], v[k]) << "body " << id << ", s = 2^" << e;
      }
    }
  }
}

TEST(V20, SameBitsForAnyNumberOfThreads) {
  const std::uint64_t one = state_hash(run(small_bed({}), 1e-3, 60, 1, 1e-4).bodies);
  for (int threads : {2, 3, 4}) EXPECT_EQ(state_hash(run(small_bed({}), 1e-3, 60, threads, 1e-4).bodies), one) << threads;
}

TEST(V20, SortingTheBodiesMoreOftenChangesNothingButRoundOff) {
  World often = small_bed({}), never = small_bed({});
  const Team team;
  StepSettings s = settings(Model::relaxed, 1e-12, 50000);
  s.reorder_every = 1;
  Stepper a(often, s, team);
  s.reorder_every = 1000;
  Stepper b(never, s, team);
  for (int n = 0; n < 20; ++n) a.step(1e-3), b.step(1e-3);
  EXPECT_LT(difference(often, never, Vec3::Zero(), Quat::Identity()), 1e-6);
}
// Not shown: long runs. Collisions are chaotic, so trajectories part after some tens of steps; means do not.

}  // namespace
}  // namespace talus
