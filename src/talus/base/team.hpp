// Team: the threads of this process and the processes of this run. All loops over bodies and contacts go
// through it; it holds the only `#pragma omp` of the engine.
//
// Work is cut into pieces that depend on the size of the work alone, never on the number of threads, and
// partial sums are added in the order of the pieces. So results are bit-identical for any number of threads.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "talus/base/comm.hpp"
#include "talus/base/types.hpp"

namespace talus {

class Team {
 public:
  explicit Team(int threads = 1, const Comm& comm = plain_comm()) : threads_(std::max(1, threads)), comm_(&comm) {}

  int threads() const { return threads_; }
  const Comm& comm() const { return *comm_; }

  /// Number of items of one piece in loops and reductions.
  static constexpr Local piece_size = 2048;
  static int piece_count(Local n) { return static_cast<int>((static_cast<Global>(n) + piece_size - 1) / piece_size); }

  /// f(p) for p in [0, pieces): each piece is done by one thread, all before this returns.
  template <class F>
  void for_pieces(int pieces, F&& f) const {
    if (threads_ == 1 || pieces <= 1) {
      for (int p = 0; p < pieces; ++p) f(p);
      return;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_)
    for (int p = 0; p < pieces; ++p) f(p);
  }

  /// f(begin, end) over ranges that cover [0, n).
  template <class F>
  void for_ranges(Local n, F&& f) const {
    for_pieces(piece_count(n), [&](int p) {
      const Local begin = p * piece_size;
      f(begin, std::min<Local>(n, begin + piece_size));
    });
  }

  /// f(i) for i in [0, n), in any order.
  template <class F>
  void for_each(Local n, F&& f) const {
    for_ranges(n, [&](Local begin, Local end) {
      for (Local i = begin; i < end; ++i) f(i);
    });
  }

  /// Sums of K quantities over all items of all ranks: f(i, partial) adds item i to `partial`. One all-reduce.
  template <std::size_t K, class F>
  std::array<Real, K> sum(Local n, F&& f) const {
    std::array<Real, K> total = sum_local<K>(n, f);
    comm_->sum(std::span<Real>(total));
    return total;
  }

  /// Maxima of K quantities that are at least zero: f(i, partial) raises `partial`. One all-reduce.
  template <std::size_t K, class F>
  std::array<Real, K> max(Local n, F&& f) const {
    std::vector<std::array<Real, K>> partial(piece_count(n));
    reduce_pieces(n, partial, f);
    std::array<Real, K> total{};
    for (const auto& p : partial)
      for (std::size_t k = 0; k < K; ++k) total[k] = std::max(total[k], p[k]);
    comm_->max(std::span<Real>(total));
    return total;
  }

  /// Like sum, but over the items of this process only.
  template <std::size_t K, class F>
  std::array<Real, K> sum_local(Local n, F&& f) const {
    std::vector<std::array<Real, K>> partial(piece_count(n));
    reduce_pieces(n, partial, f);
    std::array<Real, K> total{};
    for (const auto& p : partial)
      for (std::size_t k = 0; k < K; ++k) total[k] += p[k];
    return total;
  }

 private:
  template <std::size_t K, class F>
  void reduce_pieces(Local n, std::vector<std::array<Real, K>>& partial, F&& f) const {
    for_pieces(static_cast<int>(partial.size()), [&](int p) {
      const Local begin = p * piece_size, end = std::min<Local>(n, begin + piece_size);
      std::array<Real, K> mine{};
      for (Local i = begin; i < end; ++i) f(i, mine);
      partial[p] = mine;
    });
  }

  int threads_;
  const Comm* comm_;
};

}  // namespace talus
