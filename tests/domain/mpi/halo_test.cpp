// The halo of a domain against sums and copies done by hand, and what it sends.
#include <cmath>

#include "cloud.hpp"

namespace talus::test {
namespace {

Twist contribution(Global id, int rank, int image) {
  Twist t;
  t.linear = Vec3(std::sin(Real(id)), Real(rank + 1), Real(image));
  t.angular = Vec3(Real(id) * 1e-3, Real((rank + 1) * (image + 2)), 1);
  return t;
}

struct HaloCase {
  Bodies bodies;
  Team team{1, world_comm()};
  std::unique_ptr<Domain> domain;
  explicit HaloCase(const PeriodicBox& box, int seed) {
    Bodies all = random_cloud(300, seed, Vec3::Zero(), Vec3::Ones(), 0.02, 0.06);
    if (!box.any()) {
      all.resize(302);
      all.owned = 302;
      set_body(all, 300, 5000, Vec3(0.5, 0.5, 2), 1);
      set_body(all, 301, 5001, Vec3(0, 0, 0), std::numeric_limits<Real>::infinity());
      all.mobility[301] = Mobility::fixed;
    }
    bodies = deal_slices(all);
    DomainSettings settings;
    settings.box = box;
    domain = std::make_unique<Domain>(settings, team);
    domain->update(bodies, same_reach(bodies, 0.01));
  }
};

void expect_near(const Twist& got, const Twist& want) {
  EXPECT_LT((got.linear - want.linear).norm(), 1e-12 * (1 + want.linear.norm()));
  EXPECT_LT((got.angular - want.angular).norm(), 1e-12 * (1 + want.angular.norm()));
}

TEST(Halo, SumsGoToOwnersAndValuesBack) {
  for (int axes = 0; axes < 8; ++axes) {
    const PeriodicBox box{{bool(axes & 1), bool(axes & 2), bool(axes & 4)}, Vec3::Zero(), Vec3::Ones()};
    HaloCase c(box, 70 + axes);
    const Domain& domain = *c.domain;
    const int me = world_comm().rank();
    BodyVector v(c.bodies.size());
    for (Local i = 0; i < c.bodies.size(); ++i)
      v[i] = contribution(c.bodies.id[i], me, domain.trivial() ? 0 : domain.image(i));
    domain.halo().sum_to_owner(v);
    for (Local i = 0; i < c.bodies.owned; ++i) {
      Twist expected = contribution(c.bodies.id[i], me, 0);
      auto add = [&](int rank, int image) {
        const Twist t = contribution(c.bodies.id[i], rank, image);
        expected.linear += t.linear;
        expected.angular += t.angular;
      };
      if (!domain.trivial()) {
        for (const Instance& instance : domain.instances(i)) add(instance.rank, instance.image);
        if (domain.is_global(i) && c.bodies.moves_freely(i))
          for (int r = 1; r < world_comm().size(); ++r) add(r, 0);
      }
      expect_near(v[i], expected);
    }
    for (Local i = 0; i < c.bodies.owned; ++i) v[i] = contribution(c.bodies.id[i], 77, 3);
    domain.halo().copy_to_shadows(v);
    for (Local i = 0; i < c.bodies.size(); ++i) {
      if (!c.bodies.moves_freely(i)) continue;
      const Twist expected = contribution(c.bodies.id[i], 77, 3);
      EXPECT_EQ(v[i].linear, expected.linear);
      EXPECT_EQ(v[i].angular, expected.angular);
    }
  }
}

TEST(Halo, TwoMessagesPerNeighbourAndApplication) {
  HaloCase c({}, 80);
  const LinkHalo& halo = c.domain->links();
  if (c.domain->trivial()) GTEST_SKIP() << "one rank has no neighbour";
  BodyVector v(c.bodies.size());
  halo.reset_counts();
  const int applications = 10;
  for (int k = 0; k < applications; ++k) {
    halo.sum_to_owner(v);
    halo.copy_to_shadows(v);
  }
  Global lends = 0, borrows = 0;
  for (const Neighbour& n : halo.neighbours()) {
    lends += !n.lent.empty();
    borrows += n.borrowed > 0;
  }
  EXPECT_EQ(halo.counts().messages, applications * (lends + borrows));
  EXPECT_LE(halo.counts().messages, applications * 2 * Global(halo.neighbours().size()));
}

TEST(Halo, TheHalvesGiveTheSameBits) {
  HaloCase c({{true, false, false}, Vec3::Zero(), Vec3::Ones()}, 81);
  const Halo& halo = c.domain->halo();
  BodyVector v(c.bodies.size());
  for (Local i = 0; i < c.bodies.size(); ++i) v[i] = contribution(c.bodies.id[i], world_comm().rank(), 1);
  BodyVector w = v;
  halo.sum_to_owner(v);
  halo.copy_to_shadows(v);
  halo.start_sum_to_owner(w);
  halo.finish_sum_to_owner(w);
  halo.start_copy_to_shadows(w);
  halo.finish_copy_to_shadows(w);
  for (Local i = 0; i < c.bodies.size(); ++i) EXPECT_EQ(v[i].linear, w[i].linear);
}

TEST(Halo, ShadowsOfNeighboursOnly) {
  // A chain of 4000 spheres along x: a rank in the middle talks to two others whatever their number, and
  // holds few copies.
  Bodies all;
  all.resize(4000);
  all.owned = 4000;
  for (Local i = 0; i < 4000; ++i) set_body(all, i, i, Vec3(2.0 * i, 0, 0), 1);
  Bodies bodies = deal_slices(all);
  const Team team(1, world_comm());
  Domain domain({}, team);
  const DomainReport report = domain.update(bodies, {});
  EXPECT_LE(domain.links().neighbours().size(), 2u);
  EXPECT_LE(report.shadows, 8);
}

}  // namespace
}  // namespace talus::test
