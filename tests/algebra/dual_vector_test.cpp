// DualVector: expressions are what they say, reductions have the same bits for any number of threads.
#include "talus/algebra/dual_vector.hpp"

#include <gtest/gtest.h>

namespace talus {
namespace {

DualVector waves(const Team& team, Local n, Real step) {
  DualVector x(team, n);
  for (Local i = 0; i < n; ++i) x[i] = std::sin(step * i);
  return x;
}

TEST(DualVector, ExpressionsRowByRow) {
  const Team team(2);
  const Local n = 3 * DualVector::piece + 5;
  const DualVector a = waves(team, n, 0.1), b = waves(team, n, 0.3);
  DualVector y(team, n);
  y = a + 0.5 * (a - b);
  for (Local i = 0; i < n; i += 97) EXPECT_EQ(y[i], a[i] + 0.5 * (a[i] - b[i]));
  y += -b;
  for (Local i = 0; i < n; i += 97) EXPECT_EQ(y[i], (a[i] + 0.5 * (a[i] - b[i])) + -1.0 * b[i]);
  y = 2.0;
  EXPECT_EQ(y[n - 1], 2.0);
  DualVector z;
  z = y;
  EXPECT_EQ(z.size(), n);
  EXPECT_EQ(z.dim(), n);
}

TEST(DualVector, DotsAreTheSameBitsForAnyNumberOfThreads) {
  for (Local n : {0, 1, 7, 3 * 2048, 50001}) {
    const Team one(1);
    const DualVector a = waves(one, n, 0.1), b = waves(one, n, 0.3);
    const auto reference = dots(inner(a, b), inner(a - b, a));
    Real naive = 0;
    for (Local i = 0; i < n; ++i) naive += a[i] * b[i];
    EXPECT_NEAR(reference[0], naive, 1e-10 * std::max<Real>(1, n));
    for (int threads : {2, 3, 4}) {
      const Team team(threads);
      const DualVector c = waves(team, n, 0.1), d = waves(team, n, 0.3);
      EXPECT_EQ(dots(inner(c, d), inner(c - d, c)), reference);
    }
  }
}

}  // namespace
}  // namespace talus
