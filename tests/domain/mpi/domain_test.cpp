// Domain on any number of ranks: owners, shadow copies, who treats which contact, and how bodies move between
// ranks.
#include <cmath>
#include <map>

#include "cloud.hpp"
#include "talus/base/error.hpp"

namespace talus::test {
namespace {

PeriodicBox box_of(bool x, bool y, bool z, const Vec3& low, const Vec3& high) {
  return {{x, y, z}, low, high};
}

void expect_all_pairs_treated_once(const Bodies& all, Bodies bodies, const DomainSettings& settings,
                                   Real reach) {
  const Team team(2, world_comm());
  Domain domain(settings, team);
  domain.update(bodies, same_reach(bodies, 0.5 * reach));
  expect_partition(all, bodies, domain);
  EXPECT_EQ(pairs_treated(bodies, domain, reach), pairs_by_force(all, settings.box, reach));
}

TEST(Domain, EveryPairInReachIsTreatedExactlyOnce) {
  for (int seed = 0; seed < 6; ++seed) {
    const Bodies all = random_cloud(300, seed, Vec3(-1, 0, 2), Vec3(1, 3, 3), 0.02, seed % 2 ? 0.2 : 0.05);
    expect_all_pairs_treated_once(all, deal_slices(all), {}, 0.03);
  }
}

TEST(Domain, EveryPairAndImageInAPeriodicBoxIsTreatedExactlyOnce) {
  const Vec3 low(-1, 0, 2), high(1, 3, 3.5);
  for (int axes = 1; axes < 8; ++axes) {
    DomainSettings settings;
    settings.box = box_of(axes & 1, axes & 2, axes & 4, low, high);
    const Bodies all =
        random_cloud(250, axes, low - Vec3(0.5, 0.5, 0.5), high + Vec3(1, 0.2, 0.3), 0.02, 0.15);
    expect_all_pairs_treated_once(all, deal_slices(all), settings, 0.03);
  }
}

TEST(Domain, TwoBodiesCanTouchOnBothSidesOfASmallBox) {
  // Two spheres fill a box of two diameters: contacts in the middle and across the border are different ones.
  DomainSettings settings;
  settings.box = box_of(true, true, true, Vec3(0, 0, 0), Vec3(4, 4, 4));
  Bodies all;
  all.resize(2);
  all.owned = 2;
  set_body(all, 0, 1, Vec3(1, 2, 2), 1);
  set_body(all, 1, 2, Vec3(3, 2, 2), 1);
  const auto pairs = pairs_by_force(all, settings.box, 1e-9);
  EXPECT_EQ(pairs.size(), 2u);
  expect_all_pairs_treated_once(all, deal_slices(all), settings, 1e-9);
}

TEST(Domain, AnyFirstDistributionWillDo) {
  const Bodies all = random_cloud(200, 3, Vec3::Zero(), Vec3::Ones(), 0.02, 0.06);
  const int last = world_comm().size() - 1;
  expect_all_pairs_treated_once(all, deal(all, [](Local) { return 0; }), {}, 0.01);
  expect_all_pairs_treated_once(all, deal(all, [&](Local) { return last; }), {}, 0.01);
  expect_all_pairs_treated_once(all, deal(all, [&](Local i) { return int(mix64(i) % (last + 1)); }), {},
                                0.01);
}

TEST(Domain, MoreRanksThanBodiesAndNoBodyAtAll) {
  for (Local n : {0, 1, 2, 3}) {
    const Bodies all = random_cloud(n, 5, Vec3::Zero(), Vec3::Constant(0.2), 0.1, 0.2);
    expect_all_pairs_treated_once(all, deal(all, [](Local) { return 0; }), {}, 0.05);
    DomainSettings settings;
    settings.box = box_of(true, true, false, Vec3::Zero(), Vec3::Ones());
    expect_all_pairs_treated_once(all, deal(all, [](Local) { return 0; }), settings, 0.05);
  }
}

TEST(Domain, AllBodiesInOneCellAreOnOneRank) {
  const Bodies all = random_cloud(40, 8, Vec3::Zero(), Vec3::Constant(1e-3), 1, 1.001);
  const Team team(1, world_comm());
  Bodies bodies = deal_slices(all);
  Domain domain({}, team);
  domain.update(bodies, {});
  expect_partition(all, bodies, domain);
  EXPECT_EQ(pairs_treated(bodies, domain, 0), pairs_by_force(all, {}, 0));
}

TEST(Domain, CutsInFewerDirectionsGiveTheSamePairs) {
  const Bodies all = random_cloud(300, 12, Vec3::Zero(), Vec3(1, 1, 1), 0.02, 0.06);
  for (int axes = 1; axes < 8; ++axes) {
    DomainSettings settings;
    settings.cut = {bool(axes & 1), bool(axes & 2), bool(axes & 4)};
    settings.box = box_of(axes & 4, axes & 2, false, Vec3::Zero(), Vec3::Ones());
    expect_all_pairs_treated_once(all, deal_slices(all), settings, 0.01);
  }
}

TEST(Domain, EachInstanceKnowsTheOwnerAndAllOthers) {
  DomainSettings settings;
  settings.box = box_of(true, false, true, Vec3::Zero(), Vec3::Ones());
  const Bodies all = random_cloud(300, 4, Vec3::Zero(), Vec3::Ones(), 0.03, 0.08);
  Bodies bodies = deal_slices(all);
  const Team team(1, world_comm());
  Domain domain(settings, team);
  domain.update(bodies, {});
  struct Line {
    Global id;
    std::int64_t rank, image, owner, listed;
    std::uint64_t list_hash;
    auto operator<=>(const Line&) const = default;
  };
  std::vector<Line> mine;
  for (Local i = 0; i < bodies.size(); ++i) {
    std::uint64_t hash = 0;
    for (const Instance& instance : domain.instances(i))
      hash = mix64(hash ^ (instance.rank * 100 + instance.image));
    mine.push_back({bodies.id[i], world_comm().rank(), domain.image(i), domain.owner(i),
                    static_cast<std::int64_t>(domain.instances(i).size()), hash});
  }
  std::vector<Line> lines = gather(mine);
  std::sort(lines.begin(), lines.end());
  for (std::size_t k = 0; k < lines.size();) {
    std::size_t end = k;
    int parents = 0;
    for (; end < lines.size() && lines[end].id == lines[k].id; ++end) {
      EXPECT_EQ(lines[end].owner, lines[k].owner);
      EXPECT_EQ(lines[end].list_hash, lines[k].list_hash);
      parents += lines[end].rank == lines[end].owner && lines[end].image == 0;
    }
    EXPECT_EQ(parents, 1);
    EXPECT_EQ(std::int64_t(end - k),
              lines[k].listed + 1);  // every instance that is listed exists, and no other
    k = end;
  }
}

TEST(Domain, HexagonalPackingHasTheClosedFormOfContacts) {
  // V18: periodic in x and y, walls below and above: nx·ny·(6 nz − 1) contacts of touching spheres.
  for (const auto& [nx, ny, nz] : {std::array{2, 4, 2}, std::array{4, 6, 5}, std::array{7, 4, 3}}) {
    const Real r = 0.001, s3 = std::sqrt(3.0), dz = 2 * std::sqrt(2.0 / 3.0) * r;
    Bodies all;
    all.resize(nx * ny * nz + 2);
    all.owned = all.size();
    Local i = 0;
    for (int z = 0; z < nz; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x, ++i)
          set_body(all, i, i, Vec3(r * (2 * x + (y + z) % 2), r * s3 * (y + (z % 2) / 3.0), r + z * dz), r);
    for (int wall = 0; wall < 2; ++wall, ++i) {
      set_body(all, i, i, Vec3(0, 0, wall ? 2 * r + (nz - 1) * dz : 0),
               std::numeric_limits<Real>::infinity());
      all.mobility[i] = Mobility::fixed;
    }
    DomainSettings settings;
    settings.box = box_of(true, true, false, Vec3::Zero(), Vec3(2 * r * nx, s3 * r * ny, 0));
    Bodies bodies = deal_slices(all);
    const Team team(1, world_comm());
    Domain domain(settings, team);
    domain.update(bodies, {});
    Global contacts = 0;
    for (Local a = 0; a < bodies.size(); ++a)
      for (Local b = a + 1; b < bodies.size(); ++b) {
        const bool wall_a = domain.is_global(a), wall_b = domain.is_global(b);
        if (wall_a && wall_b) continue;
        Real gap = (bodies.position[b] - bodies.position[a]).norm() - 2 * r;
        if (wall_a || wall_b) gap = std::abs(bodies.position[b].z() - bodies.position[a].z()) - r;
        if (gap < 1e-9 * r && domain.treats(a, b)) ++contacts;
      }
    std::array<Global, 1> total = {contacts};
    world_comm().sum(std::span<Global>(total));
    EXPECT_EQ(total[0], Global(nx) * ny * (6 * nz - 1));
  }
}

TEST(Domain, BodiesMoveAtAnySpeed) {
  for (const bool periodic : {false, true}) {
    DomainSettings settings;
    settings.imbalance = 1.05;
    settings.rebalance_every = 3;
    if (periodic) settings.box = box_of(true, false, true, Vec3::Zero(), Vec3(1, 1, 1.5));
    Bodies all = random_cloud(200, 21, Vec3::Zero(), Vec3::Ones(), 0.02, 0.06);
    Bodies bodies = deal_slices(all);
    const Team team(2, world_comm());
    Domain domain(settings, team);
    domain.update(bodies, same_reach(bodies, 0.005));
    Global migrated = 0;
    for (int step = 1; step <= 40; ++step) {
      // Some bodies creep, some fly through several subdomains in one step.
      auto move = [&](Bodies& b, Local n) {
        for (Local i = 0; i < n; ++i) {
          Random random(b.id[i], 3 * step);
          const Real speed = b.id[i] % 4 == 0 ? 0.8 : 0.01;
          for (int k = 0; k < 3; ++k) b.position[i][k] += random.uniform(-speed, speed);
          b.velocity[i].angular = Vec3(step, 1, Real(b.id[i]));
        }
      };
      move(bodies, bodies.owned);
      move(all, all.size());
      for (Local i = 0; i < all.size(); ++i) settings.box.wrap(all.position[i]);
      if (step % 10 == 0) domain.forget(bodies);
      const DomainReport report = domain.update(bodies, same_reach(bodies, 0.005));
      migrated += report.migrated;
      expect_partition(all, bodies, domain);
      ASSERT_EQ(pairs_treated(bodies, domain, 0.01), pairs_by_force(all, settings.box, 0.01))
          << "step " << step;
    }
    if (world_comm().size() > 1) {
      std::array<Global, 1> total = {migrated};
      world_comm().sum(std::span<Global>(total));
      EXPECT_GT(total[0], 100);
    }
  }
}

TEST(Domain, FewMuchLargerBodiesAreGlobal) {
  Bodies all = random_cloud(300, 31, Vec3::Zero(), Vec3::Ones(), 0.02, 0.03);
  all.resize(303);
  all.owned = 303;
  set_body(all, 300, 5000, Vec3(0.5, 0.5, 1.3), 0.5);  // larger than any subdomain
  set_body(all, 301, 5001, Vec3(0.5, 0.5, -0.4), 0.45);
  set_body(all, 302, 5002, Vec3::Zero(), std::numeric_limits<Real>::infinity());
  all.mobility[302] = Mobility::fixed;
  const Team team(1, world_comm());
  Bodies bodies = deal_slices(all);
  Domain domain({}, team);
  for (int step = 0; step < 3; ++step) {
    domain.update(bodies, {});
    if (domain.trivial()) continue;
    int global = 0;
    for (Local i = 0; i < bodies.size(); ++i) {
      if (!domain.is_global(i)) continue;
      ++global;
      EXPECT_EQ(domain.owner(i), 0);
      const Local j = static_cast<Local>(bodies.id[i] - 5000 + 300);
      EXPECT_EQ(bodies.position[i], all.position[j]);
    }
    EXPECT_EQ(global, 3);
    Bodies bounded = all;
    Array<Local> order(302);
    for (Local i = 0; i < 302; ++i) order[i] = i;
    bounded.reorder(order);
    std::vector<SeenPair> treated = pairs_treated(bodies, domain, 0);
    std::erase_if(treated,
                  [](const SeenPair& p) { return std::get<1>(p) == 5002; });  // the wall meets everybody
    EXPECT_EQ(treated, pairs_by_force(bounded, {}, 0));
    for (Bodies* b : {&all, &bodies})
      for (Local i = 0; i < b->owned; ++i)
        if (b->id[i] == 5000) b->position[i].z() -= 0.05;
  }
}

TEST(Domain, ManyLargeBodiesAreNot) {
  // Half of all bodies are ten times larger than the others: cells follow them, and nothing is global.
  Bodies all = random_cloud(200, 32, Vec3::Zero(), Vec3::Ones(), 0.01, 0.012);
  for (Local i = 0; i < 100; ++i) all.radius[i] *= 10;
  expect_all_pairs_treated_once(all, deal_slices(all), {}, 0.001);
}

TEST(Domain, LoadIsEvenAfterTheFirstCut) {
  const Bodies all = random_cloud(4000, 41, Vec3::Zero(), Vec3(1, 1, 2), 0.01, 0.01);
  Bodies bodies = deal(all, [](Local) { return 0; });
  const Team team(1, world_comm());
  Domain domain({}, team);
  domain.update(bodies, {});
  const DomainReport report = domain.update(bodies, {});
  EXPECT_LT(report.imbalance, 1.05);
}

TEST(Domain, LoadIsRebalancedAsBodiesMove) {
  // A column falls together: without new cuts one rank would end with most of it.
  for (const bool rebalance : {false, true}) {
    DomainSettings settings;
    settings.rebalance = rebalance;
    Bodies all = random_cloud(3000, 42, Vec3::Zero(), Vec3(1, 1, 6), 0.01, 0.01);
    Bodies bodies = deal_slices(all);
    const Team team(1, world_comm());
    Domain domain(settings, team);
    Real worst = 1;
    for (int step = 0; step < 120; ++step) {
      const DomainReport report = domain.update(bodies, {});
      if (step > 1) worst = std::max(worst, report.imbalance);
      for (Local i = 0; i < bodies.owned; ++i)
        if (bodies.id[i] % 4 != 0) bodies.position[i].z() *= 0.97;
    }
    if (world_comm().size() == 1) continue;
    if (rebalance)
      EXPECT_LT(worst, 1.35);
    else
      EXPECT_GT(worst, 1.4);
  }
}

TEST(Domain, RestoredStateCutsAlikeAndKeepsOrder) {
  const Bodies all = random_cloud(500, 51, Vec3::Zero(), Vec3::Ones(), 0.02, 0.04);
  const Team team(1, world_comm());
  auto step = [](Bodies& b, int k) {
    for (Local i = 0; i < b.owned; ++i)
      b.position[i] += 0.02 * Vec3(std::sin(k + 1.0 * i), 0.3, std::cos(1.0 * b.id[i]));
  };
  Bodies bodies = deal_slices(all);
  Domain domain({}, team);
  for (int k = 0; k < 5; ++k) {
    domain.update(bodies, same_reach(bodies, 0.001 * k));
    step(bodies, k);
  }
  Bodies resumed = bodies;
  resumed.resize(resumed.owned);
  Domain other({}, team);
  other.restore(domain.state());
  for (int k = 5; k < 30; ++k) {
    domain.update(bodies, same_reach(bodies, 0.001 * k));
    other.update(resumed, same_reach(resumed, 0.001 * k));
    ASSERT_EQ(bodies.owned, resumed.owned);
    ASSERT_EQ(bodies.size(), resumed.size());
    for (Local i = 0; i < bodies.size(); ++i) EXPECT_EQ(bodies.id[i], resumed.id[i]);
    step(bodies, k);
    step(resumed, k);
  }
  EXPECT_EQ(state_hash(bodies), state_hash(resumed));
}

TEST(Domain, SameResultForAnyNumberOfThreads) {
  const Bodies all = random_cloud(6000, 52, Vec3::Zero(), Vec3::Ones(), 0.01, 0.02);
  std::vector<Array<Global>> ids;
  for (int threads : {1, 2, 3}) {
    const Team team(threads, world_comm());
    Bodies bodies = deal_slices(all);
    Domain domain({}, team);
    domain.update(bodies, same_reach(bodies, 0.001));
    ids.push_back(bodies.id);
  }
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[0], ids[2]);
}

TEST(Domain, ABodyLargerThanHalfTheBoxIsAnErrorOnEveryRank) {
  const Bodies all = random_cloud(20, 61, Vec3::Zero(), Vec3::Ones(), 0.1, 0.26);
  DomainSettings settings;
  settings.box = box_of(true, false, false, Vec3::Zero(), Vec3::Ones());
  const Team team(1, world_comm());
  Bodies bodies = deal_slices(all);
  Domain domain(settings, team);
  EXPECT_THROW(domain.update(bodies, {}), InputError);
  settings.box.high = settings.box.low;
  EXPECT_THROW(Domain(settings, team), InputError);
}

}  // namespace
}  // namespace talus::test
