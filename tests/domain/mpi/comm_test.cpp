// The communicator: sums in a fixed order, sparse exchange, standing messages.
#include <cmath>
#include <cstring>

#include "cloud.hpp"

namespace talus::test {
namespace {

TEST(Comm, SumsHaveTheSameBitsOnEveryRankAndEveryTime) {
  const Comm& comm = world_comm();
  const std::size_t n = 1000;
  auto sum = [&] {
    std::vector<Real> x(n);
    for (std::size_t k = 0; k < n; ++k)
      x[k] = std::sin(Real(k + 1) * (comm.rank() + 1)) * std::pow(10.0, k % 17);
    comm.sum(std::span<Real>(x));
    return x;
  };
  const std::vector<Real> first = sum();
  for (int again = 0; again < 5; ++again) EXPECT_EQ(sum(), first);
  std::vector<std::byte> root(n * sizeof(Real));
  std::memcpy(root.data(), first.data(), root.size());
  comm.broadcast(root);
  EXPECT_EQ(std::memcmp(root.data(), first.data(), root.size()), 0);
  for (std::size_t k = 0; k < n; ++k) {
    Real expected = 0, size = 0;
    for (int r = 0; r < comm.size(); ++r) {
      const Real part = std::sin(Real(k + 1) * (r + 1)) * std::pow(10.0, k % 17);
      expected += part;
      size += std::abs(part);
    }
    EXPECT_NEAR(first[k], expected, 1e-15 * comm.size() * size);
  }
}

TEST(Comm, SumsAndMaximaOfIntegers) {
  const Comm& comm = world_comm();
  std::array<Global, 2> x = {comm.rank() + 1, Global{1} << 60};
  comm.max(std::span<Global>(x));
  EXPECT_EQ(x[0], comm.size());
  EXPECT_EQ(x[1], Global{1} << 60);
  std::array<Global, 1> y = {comm.rank()};
  comm.sum(std::span<Global>(y));
  EXPECT_EQ(y[0], Global(comm.size()) * (comm.size() - 1) / 2);
  std::array<Real, 1> z = {-1.0 - comm.rank()};
  comm.max(std::span<Real>(z));
  EXPECT_EQ(z[0], -1.0);
}

TEST(Comm, SparseExchangeDeliversEverythingInOrderOfTheSender) {
  const Comm& comm = world_comm();
  const int n = comm.size();
  for (int round = 0; round < 200; ++round) {
    // In round k rank r writes to the ranks s for which a hash says so, itself included.
    auto writes = [&](int r, int s) { return mix64(round * 1000 + r * 37 + s) % 3 == 0; };
    std::vector<Message> out;
    for (int s = 0; s < n; ++s)
      if (writes(comm.rank(), s))
        out.push_back({s, std::vector<std::byte>(1 + (comm.rank() + s + round) % 50, std::byte(round))});
    const std::vector<Message> in = comm.exchange(std::move(out));
    std::size_t k = 0;
    for (int r = 0; r < n; ++r) {
      if (!writes(r, comm.rank())) continue;
      ASSERT_LT(k, in.size());
      EXPECT_EQ(in[k].rank, r);
      EXPECT_EQ(in[k].data, std::vector<std::byte>(1 + (comm.rank() + r + round) % 50, std::byte(round)));
      ++k;
    }
    EXPECT_EQ(k, in.size());
  }
}

TEST(Comm, StandingMessagesCanBeSentManyTimes) {
  const Comm& comm = world_comm();
  const int n = comm.size(), next = (comm.rank() + 1) % n, last = (comm.rank() + n - 1) % n;
  if (n == 1) GTEST_SKIP() << "needs two ranks";
  const std::vector<Link> around = {{next, 8, 0}, {last, 0, 8}};
  const auto links = comm.open(around, 5);
  for (int round = 0; round < 20; ++round) {
    const Real mine = 100 * comm.rank() + round;
    std::memcpy(links->send_buffer(0).data(), &mine, 8);
    links->start();
    links->finish();
    Real got = 0;
    std::memcpy(&got, links->receive_buffer(1).data(), 8);
    EXPECT_EQ(got, 100 * last + round);
  }
}

}  // namespace
}  // namespace talus::test
