// Team: same bits for any number of threads, every item visited once.
#include "talus/base/team.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace talus {
namespace {

TEST(Team, VisitsEveryItemOnce) {
  for (int threads : {1, 2, 3, 4})
    for (Local n : {0, 1, 5, Team::piece_size, 3 * Team::piece_size + 7}) {
      std::vector<int> seen(n, 0);
      Team(threads).for_each(n, [&](Local i) { ++seen[i]; });
      EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), n);
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int s) { return s == 1; }));
    }
}

TEST(Team, SumsAreBitIdenticalForAnyNumberOfThreads) {
  const Local n = 100003;
  auto sum = [&](int threads) {
    return Team(threads).sum<2>(n, [](Local i, auto& s) {
      s[0] += std::sin(Real(i));
      s[1] += 1.0;
    });
  };
  const auto reference = sum(1);
  EXPECT_EQ(reference[1], Real(n));
  for (int threads : {2, 3, 4}) EXPECT_EQ(sum(threads), reference);
}

TEST(Team, MaxOfNothingIsZero) {
  EXPECT_EQ(Team(2).max<1>(0, [](Local, auto& m) { m[0] = 7; })[0], 0.0);
  EXPECT_EQ((Team(2).max<1>(10000, [](Local i, auto& m) { m[0] = std::max(m[0], Real(i)); })[0]), 9999.0);
}

}  // namespace
}  // namespace talus
