// The same scene on any number of ranks: every rank also runs it alone, as the twin to compare with.
#include <algorithm>
#include <cmath>
#include <map>

#include "domain/mpi/cloud.hpp"
#include "sim/make_world.hpp"
#include "talus/sim/warm_start.hpp"

namespace talus::test {
namespace {

using Maker = World (*)();

/// A loose bed of unequal spheres that falls into a box (E1 in small).
World sedimentation() {
  World w = make_world(0.25);
  add(w, {.shape = hollow_box(Vec3(0.12, 0.12, 0.5)),
          .position = Vec3(0, 0, 0.25),
          .mobility = Mobility::fixed,
          .name = "box"});
  Random random(7);
  for (int z = 0; z < 12; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 5; ++x) {
        const Real r = random.uniform(0.008, 0.01);
        const Vec3 at(0.022 * (x - 2) + random.uniform(-1e-3, 1e-3),
                      0.022 * (y - 2) + random.uniform(-1e-3, 1e-3), 0.0102 + 0.0205 * z);
        add_sphere(w, r, 2500 * 4.18879 * r * r * r, at, Vec3(0, 0, -0.8));
      }
  return w;
}

/// A slab much wider than the unequal spheres it falls on, light or heavy: a global body of finite mass (E7
/// in small).
World slab(Real mass) {
  World w = make_world(0.1);
  add(w, {.shape = hollow_box(Vec3(3, 3, 20)),
          .position = Vec3(0, 0, 10),
          .mobility = Mobility::fixed,
          .name = "box"});
  Random random(11);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) {
      const Real r = random.uniform(0.147, 0.15);
      add_sphere(w, r, 1, Vec3(0.32 * (x - 3.5), 0.32 * (y - 3.5), r + random.uniform(0, 1e-3)),
                 Vec3(0.1, 0, 0));
    }
  BodySpec s{
      .shape = box(Vec3(2.6, 2.6, 0.3)), .mass = mass, .position = Vec3(0, 0, 0.301 + 0.15), .name = "slab"};
  s.velocity.linear = Vec3(0, 0.2, -2);
  add(w, s);
  return w;
}
World heavy_slab() {
  return slab(1000);
}
World light_plate() {
  return slab(0.01 * 243);
}

/// A wall of boxes across all ranks.
World boxes() {
  World w = make_world(0.5);
  add_plane(w);
  for (int z = 0; z < 4; ++z)
    for (int x = 0; x < 10; ++x)
      add_box(w, Vec3(0.2, 0.1, 0.1), 2, Vec3(0.21 * x + 0.1 * (z % 2), 0, 0.05 + 0.1 * z));
  return w;
}

/// The falling bed on a plane in a box periodic in x and y: contacts cross the borders.
World periodic_bed() {
  World w = make_world(0.25);
  w.box = {{true, true, false}, Vec3(-0.055, -0.055, 0), Vec3(0.055, 0.055, 0)};
  add_plane(w);
  Random random(9);
  for (int z = 0; z < 12; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 5; ++x) {
        const Real r = random.uniform(0.009, 0.01);
        add_sphere(w, r, 2500 * 4.18879 * r * r * r,
                   Vec3(0.022 * (x - 2) + random.uniform(-1e-3, 1e-3),
                        0.022 * (y - 2) + random.uniform(-1e-3, 1e-3), 0.0102 + 0.0205 * z),
                   Vec3(0.3, -0.2, -0.8));
      }
  return w;
}

/// E15: hexagonal close packing, periodic in x and y, under tilted gravity.
World packing() {
  const int nx = 5, ny = 4, nz = 4;
  const Real r = 1e-3, s3 = std::sqrt(3.0), dz = 2 * std::sqrt(2.0 / 3.0) * r;
  const Real tilt = 30 * M_PI / 180;
  World w = make_world(0.85, 9.81 * Vec3(std::sin(tilt), 0, -std::cos(tilt)));
  w.box = {{true, true, false}, Vec3::Zero(), Vec3(2 * r * nx, s3 * r * ny, 0)};
  add_plane(w);
  add(w, {.shape = half_space(),
          .position = Vec3(0, 0, 2 * r + (nz - 1) * dz),
          .orientation = Quat(0, 1, 0, 0),
          .mobility = Mobility::fixed,
          .name = "lid"});
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        add_sphere(w, r, 2650 * 4.18879 * r * r * r,
                   Vec3(r * (2 * x + (y + z) % 2), r * s3 * (y + (z % 2) / 3.0), r + z * dz),
                   Vec3(0.1, 0, 0));
  return w;
}

struct Twin {
  World alone, shared;
  Team one{1}, team{2, world_comm()};
  std::unique_ptr<Stepper> single, distributed;
  Twin(Maker make, const StepSettings& s) : alone(make()), shared(make()) {
    take_share(shared, team);
    single = std::make_unique<Stepper>(alone, s, one);
    distributed = std::make_unique<Stepper>(shared, s, team);
  }
};

struct FlatContact {
  Global low, high;
  std::int64_t feature;
  auto operator<=>(const FlatContact&) const = default;
};
/// Keys of the last step's contacts on this process.
std::vector<FlatContact> contacts_of(const World& world) {
  std::vector<FlatContact> keys;
  for (const WarmStart::Key& key : world.warm_start.key) keys.push_back({key.low, key.high, key.feature});
  return keys;
}

/// Largest difference of velocities and positions between the twins, over the largest speed and the distance
/// moved in a step.
Real difference(const Twin& twin, Real h) {
  std::map<Global, Local> index;
  for (Local i = 0; i < twin.alone.bodies.size(); ++i)
    if (i < twin.alone.bodies.owned) index[twin.alone.bodies.id[i]] = i;
  Real speed = 9.81 * h, worst = 0;
  for (Local i = 0; i < twin.alone.bodies.owned; ++i)
    speed = std::max(speed, twin.alone.bodies.velocity[i].linear.norm());
  for (Local i = 0; i < twin.shared.bodies.owned; ++i) {
    const Bodies &a = twin.alone.bodies, &b = twin.shared.bodies;
    const Local j = index.at(b.id[i]);
    worst = std::max(worst, (a.velocity[j].linear - b.velocity[i].linear).norm() / speed);
    Vec3 d = a.position[j] - b.position[i];  // in a periodic box one twin may have wrapped already
    for (int k = 0; k < 3; ++k)
      if (twin.alone.box.periodic[k])
        d[k] -= twin.alone.box.length(k) * std::round(d[k] / twin.alone.box.length(k));
    worst = std::max(worst, d.norm() / (h * speed));
  }
  std::array<Real, 1> most = {worst};
  world_comm().max(std::span<Real>(most));
  return most[0];
}

/// Velocities and positions within `one_step` after one step, within a thousand times that after all.
void expect_same_physics(Maker make, Real h, int steps, Real tolerance = 1e-11, Real one_step = 1e-9) {
  Twin twin(make, settings(Model::relaxed, tolerance, 200000));
  for (int k = 0; k < steps; ++k) {
    const StepReport a = twin.single->step(h), b = twin.distributed->step(h);
    ASSERT_EQ(a.solve.status, Status::converged);
    ASSERT_EQ(b.solve.status, a.solve.status);
    if (k == 0) {
      std::vector<FlatContact> want = contacts_of(twin.alone), got = gather(contacts_of(twin.shared));
      std::sort(want.begin(), want.end());
      std::sort(got.begin(), got.end());
      EXPECT_EQ(got, want);
      EXPECT_EQ(b.contacts, a.contacts);
      EXPECT_GT(a.contacts, 0);
      EXPECT_LT(difference(twin, h), one_step);
      EXPECT_NEAR(b.kinetic_energy, a.kinetic_energy, one_step * std::abs(a.kinetic_energy) + 1e-15);
      const auto fa = twin.single->named_forces(), fb = twin.distributed->named_forces();
      ASSERT_EQ(fa.size(), fb.size());
      Real scale = 0;
      for (const NamedForce& f : fa) scale = std::max(scale, f.force.norm());
      if (make == boxes) continue;  // their wall forces are not unique
      for (std::size_t i = 0; i < fa.size(); ++i)
        EXPECT_LE((fa[i].force - fb[i].force).norm(), 1000 * one_step * scale);
    }
  }
  EXPECT_LT(difference(twin, h), 1000 * one_step);
}

TEST(Ranks, SedimentationIsTheSame) {
  expect_same_physics(sedimentation, 1e-3, 20);
}
TEST(Ranks, HeavySlabIsTheSame) {
  expect_same_physics(heavy_slab, 1e-3, 5, 1e-7, 1e-5);
}
TEST(Ranks, LightPlateIsTheSame) {
  expect_same_physics(light_plate, 1e-3, 5);
}
TEST(Ranks, BoxStackIsTheSame) {
  expect_same_physics(boxes, 1e-3, 5);
}
// go.
TEST(Ranks, PeriodicBedIsTheSame) {
  expect_same_physics(periodic_bed, 1e-3, 20);
}

TEST(Ranks, PeriodicPackingHasTheClosedFormOfContacts) {
  World world = packing();
  const Team team(1, world_comm());
  take_share(world, team);
  Stepper stepper(world, settings(Model::relaxed, 1e-6, 10), team);
  EXPECT_EQ(stepper.step(1e-5).contacts, 5 * 4 * (6 * 4 - 1));
}

TEST(Ranks, MomentumIsConservedInAPeriodicBox) {
  World world = make_world(0.3, Vec3::Zero());
  world.box = {{true, true, true}, Vec3::Zero(), Vec3(1, 1, 1)};
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Vec3 x((i % 6 + 0.5) / 6, (i / 6 % 6 + 0.5) / 6, (i / 36 + 0.5) / 6);
    add_sphere(world, 0.075, 1 + i % 3, x,
               Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)));
  }
  const Team team(1, world_comm());
  take_share(world, team);
  Stepper stepper(world, settings(Model::relaxed, 1e-6), team);
  auto momentum = [&] {
    return team.sum<4>(world.bodies.owned, [&](Local i, auto& s) {
      for (int k = 0; k < 3; ++k) s[k] += world.bodies.mass[i] * world.bodies.velocity[i].linear[k];
      s[3] += world.bodies.mass[i] * world.bodies.velocity[i].linear.norm();
    });
  };
  const auto before = momentum();
  Global contacts = 0;
  for (int k = 0; k < 60; ++k) contacts += stepper.step(0.01).contacts;
  const auto after = momentum();
  EXPECT_GT(contacts, 500);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(after[k], before[k], 1e-12 * before[3]);
}

TEST(Ranks, EnergyBalanceClosesThoughBodiesFallThroughThePeriodicBox) {
  World world = make_world(0.5);
  world.box = {{false, false, true}, Vec3::Zero(), Vec3(0, 0, 1)};
  for (int i = 0; i < 8; ++i) add_sphere(world, 0.1, 1, Vec3(0.5 * i, 0, 0.1 * i));
  const Team team(1, world_comm());
  take_share(world, team);
  Stepper stepper(world, settings(Model::relaxed), team);
  StepReport report;
  for (int k = 0; k < 100; ++k) report = stepper.step(0.01);
  EXPECT_LT(std::abs(report.energy_balance), 1e-9 * report.kinetic_energy);
  EXPECT_GT(report.kinetic_energy, 100);
}

TEST(Ranks, SameBitsEachTimeAndForAnyNumberOfThreads) {
  auto hash = [](int threads) {
    World world = sedimentation();
    const Team team(threads, world_comm());
    take_share(world, team);
    Stepper stepper(world, settings(Model::relaxed, 1e-4), team);
    for (int k = 0; k < 15; ++k) stepper.step(1e-3);
    std::array<Global, 1> total = {static_cast<Global>(state_hash(world.bodies))};
    world_comm().sum(std::span<Global>(total));
    return total[0];
  };
  const Global reference = hash(1);
  EXPECT_EQ(hash(1), reference);
  EXPECT_EQ(hash(3), reference);
}

TEST(Ranks, ImpulsesFollowTheirContacts) {
  // A settled bed keeps most of its contacts; so do they keep their impulses, however the ranks are cut anew.
  StepSettings s = settings(Model::relaxed, 1e-3, 50);
  s.domain.imbalance = 1.0;
  s.domain.rebalance_every = 2;
  World world = periodic_bed();
  const Team team(1, world_comm());
  take_share(world, team);
  Stepper stepper(world, s, team);
  for (int k = 0; k < 80; ++k) stepper.step(1e-3);
  const std::vector<FlatContact> known = gather(contacts_of(world));
  const std::set<FlatContact> distinct(known.begin(), known.end());
  EXPECT_EQ(distinct.size(), known.size());
  stepper.step(1e-3);
  std::vector<Real> impulse(3 * stepper.contacts().size()), slip(stepper.contacts().size());
  WarmStart all = world.warm_start;
  Global recognised = 0;
  for (const FlatContact& c : contacts_of(world)) recognised += distinct.count(c);
  std::array<Global, 2> total = {recognised, stepper.contacts().size()};
  world_comm().sum(std::span<Global>(total));
  EXPECT_GT(total[0], 0.9 * total[1]);
}

}  // namespace
}  // namespace talus::test
