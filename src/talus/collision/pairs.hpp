// Pairs: candidates of the broad phase in canonical order, ascending (a, b) with a < b.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "talus/base/array.hpp"
#include "talus/base/team.hpp"

namespace talus {

/// a in the high half, b in the low: comparing two pairs compares (a, b).
constexpr std::uint64_t make_pair_key(Local i, Local j) {
  const auto low = static_cast<std::uint32_t>(i < j ? i : j),
             high = static_cast<std::uint32_t>(i < j ? j : i);
  return static_cast<std::uint64_t>(low) << 32 | high;
}
constexpr Local pair_a(std::uint64_t key) {
  return static_cast<Local>(key >> 32);
}
constexpr Local pair_b(std::uint64_t key) {
  return static_cast<Local>(key & 0xffffffffu);
}

class Pairs {
 public:
  /// Takes pairs in any order, as lists that pieces of work have found, and puts them in order. Each must be
  /// there once. The lists are emptied and their memory is freed.
  void gather(std::vector<std::vector<std::uint64_t>>& found, Local bodies, const Team& team);

  /// Pairs come in runs of neighbouring bodies a; a run is a piece of work.
  int runs() const { return static_cast<int>(start_.size()) - 1; }
  std::size_t begin(int run) const { return start_[run]; }
  std::size_t end(int run) const { return start_[run + 1]; }
  std::uint64_t operator[](std::size_t k) const { return key_[k]; }
  std::uint64_t& operator[](std::size_t k) { return key_[k]; }
  std::size_t size() const { return key_.size(); }
  /// Puts a run whose pairs were moved about back in order.
  void restore_order(int run) { std::sort(key_.begin() + begin(run), key_.begin() + end(run)); }

 private:
  Array<std::uint64_t> key_;
  std::vector<std::size_t> start_{0};  ///< first pair of each run, and the end
};

}  // namespace talus
