// Clouds of spheres that every rank knows in full, dealt out among the ranks, and what the ranks see
// together.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "mpi_main.hpp"
#include "talus/base/random.hpp"
#include "talus/domain/domain.hpp"
#include "talus/domain/records.hpp"

namespace talus::test {

/// A pair of bodies in reach of each other: ids, lower first, and which image of the higher one it is.
using SeenPair = std::tuple<Global, Global, int>;

inline void set_body(Bodies& bodies, Local i, Global id, const Vec3& x, Real radius) {
  bodies.id[i] = id;
  bodies.shape[i] = static_cast<Local>(id % 7);
  bodies.material[i] = static_cast<Local>(id % 5);
  bodies.name[i] = static_cast<Local>(id % 11) - 1;
  bodies.group[i] = static_cast<std::uint32_t>(id * 3 + 1);
  bodies.mask[i] = static_cast<std::uint32_t>(id * 5 + 1);
  bodies.mobility[i] = Mobility::dynamic;
  bodies.position[i] = x;
  bodies.orientation[i] = rotation_exp(Vec3(0.1, 0.2, 0.01 * Real(id % 100)));
  bodies.radius[i] = radius;
  bodies.mass[i] = 1 + 0.5 * Real(id % 3);
  bodies.inertia[i] = Vec3(1, 2, 3) * (1 + Real(id % 4));
  bodies.velocity[i].linear = Vec3(Real(id), 1, 2);
  bodies.velocity[i].angular = Vec3(3, Real(id), 4);
  bodies.contacts[i] = static_cast<Local>(id % 6);
}

inline Bodies random_cloud(Local n, std::uint64_t seed, const Vec3& low, const Vec3& high, Real smallest,
                           Real largest) {
  Random random(seed);
  Bodies all;
  all.resize(n);
  all.owned = n;
  for (Local i = 0; i < n; ++i) {
    Vec3 x;
    for (int k = 0; k < 3; ++k) x[k] = random.uniform(low[k], high[k]);
    set_body(all, i, 10 + 3 * i, x, random.uniform(smallest, largest));
  }
  return all;
}

/// This rank's share of `all`: body i goes to rank `to(i)`.
template <class To>
Bodies deal(const Bodies& all, To to) {
  Array<Local> mine;
  for (Local i = 0; i < all.size(); ++i)
    if (to(i) == world_comm().rank()) mine.push_back(i);
  Bodies share = all;
  share.reorder(mine);
  share.owned = share.size();
  return share;
}
inline Bodies deal_slices(const Bodies& all) {
  return deal(all, [&](Local i) { return static_cast<int>(Global(i) * world_comm().size() / all.size()); });
}

inline Array<Real> same_reach(const Bodies& bodies, Real reach) {
  return Array<Real>(bodies.owned, reach);
}

/// Every rank's items, together, on every rank.
template <class T>
std::vector<T> gather(const std::vector<T>& mine) {
  const Comm& comm = world_comm();
  std::vector<Message> out(1);
  out[0].rank = 0;
  Writer writer(out[0].data);
  for (const T& item : mine) writer.put(item);
  std::vector<std::byte> together;
  for (const Message& message : comm.exchange(std::move(out)))
    together.insert(together.end(), message.data.begin(), message.data.end());
  comm.broadcast(together);
  std::vector<T> result;
  Reader reader(together);
  while (!reader.at_end()) result.push_back(reader.get<T>());
  return result;
}

/// Pairs whose gap is at most `reach`, by testing all of them and all images.
inline std::vector<SeenPair> pairs_by_force(const Bodies& all, const PeriodicBox& box, Real reach) {
  std::vector<SeenPair> pairs;
  auto range = [&](int k) { return box.periodic[k] ? 1 : 0; };
  for (Local i = 0; i < all.size(); ++i)
    for (Local j = 0; j < all.size(); ++j) {
      if (all.id[i] >= all.id[j]) continue;
      Vec3 xi = all.position[i], xj = all.position[j];
      box.wrap(xi);
      box.wrap(xj);
      for (int x = -range(0); x <= range(0); ++x)
        for (int y = -range(1); y <= range(1); ++y)
          for (int z = -range(2); z <= range(2); ++z) {
            const int image = image_code(x, y, z);
            const Vec3 d = image_position(box, xj, image) - xi;
            if (d.norm() - all.radius[i] - all.radius[j] <= reach)
              pairs.push_back({all.id[i], all.id[j], image});
          }
    }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// Pairs that the ranks treat, all together and sorted; a pair treated twice is there twice.
inline std::vector<SeenPair> pairs_treated(const Bodies& bodies, const Domain& domain, Real reach) {
  struct Flat {
    Global low, high;
    std::int64_t image;
  };
  std::vector<Flat> mine;
  for (Local a = 0; a < bodies.size(); ++a)
    for (Local b = a + 1; b < bodies.size(); ++b) {
      if ((bodies.position[b] - bodies.position[a]).norm() - bodies.radius[a] - bodies.radius[b] > reach)
        continue;
      if (!domain.treats(a, b)) continue;
      const auto [low, high] = bodies.id[a] < bodies.id[b] ? std::pair(a, b) : std::pair(b, a);
      mine.push_back({bodies.id[low], bodies.id[high], domain.relative_image(low, high)});
    }
  std::vector<SeenPair> pairs;
  for (const Flat& f : gather(mine)) pairs.push_back({f.low, f.high, static_cast<int>(f.image)});
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

inline void expect_same_body(const Bodies& got, Local i, const Bodies& want, Local j) {
  auto bytes = [](const Bodies& b, Local k) {
    std::vector<std::byte> data;
    Writer out(data);
    write_body(out, b, k, Sent::with_owner);
    return data;
  };
  EXPECT_EQ(bytes(got, i), bytes(want, j)) << "body " << got.id[i];
}

/// Each body of `all` has one owner, with all its fields; copies have those of a shadow.
inline void expect_partition(const Bodies& all, const Bodies& bodies, const Domain& domain) {
  std::map<Global, Local> index;
  for (Local i = 0; i < all.size(); ++i) index[all.id[i]] = i;
  std::vector<Global> ids;
  for (Local i = 0; i < bodies.owned; ++i) {
    ids.push_back(bodies.id[i]);
    ASSERT_TRUE(index.count(bodies.id[i]));
    Bodies expected = all;
    domain.settings().box.wrap(expected.position[index[bodies.id[i]]]);
    if (all.size() < 400) expect_same_body(bodies, i, expected, index[bodies.id[i]]);
  }
  std::vector<Global> owned = gather(ids), want(all.id.begin(), all.id.end());
  std::sort(owned.begin(), owned.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(owned, want);
  for (Local i = bodies.owned; i < bodies.size(); ++i) {
    const Local j = index.at(bodies.id[i]);
    Vec3 x = all.position[j];
    domain.settings().box.wrap(x);
    EXPECT_EQ(bodies.position[i], image_position(domain.settings().box, x, domain.image(i)));
    EXPECT_EQ(bodies.mass[i], all.mass[j]);
    EXPECT_EQ(bodies.mask[i], all.mask[j]);
    EXPECT_EQ(bodies.velocity[i].angular, all.velocity[j].angular);
    EXPECT_NE(std::pair(domain.owner(i), domain.image(i)), std::pair(world_comm().rank(), 0));
  }
}

}  // namespace talus::test
