#include "talus/collision/pairs.hpp"

#include <algorithm>
#include <utility>

namespace talus {
namespace {

/// Sorts pairs whose first body lies in [first, first + width): by a with counters, then each row by b.
void sort_run(std::uint64_t* begin, std::uint64_t* end, Local first, Local width,
              std::vector<std::uint32_t>& count, std::vector<std::uint64_t>& copy) {
  if (end - begin < 64) {
    std::sort(begin, end);
    return;
  }
  count.assign(width + 1, 0);
  for (const std::uint64_t* p = begin; p != end; ++p) ++count[pair_a(*p) - first + 1];
  for (Local i = 0; i < width; ++i) count[i + 1] += count[i];
  copy.assign(begin, end);
  for (std::uint64_t key : copy) begin[count[pair_a(key) - first]++] = key;
  // now count[i] is the end of row i
  for (Local i = 0; i < width; ++i) {
    std::uint64_t *row = begin + (i ? count[i - 1] : 0), *row_end = begin + count[i];
    if (row_end - row > 32) {
      std::sort(row, row_end);
      continue;
    }
    for (std::uint64_t* p = row; p < row_end; ++p) {
      const std::uint64_t key = *p;
      std::uint64_t* q = p;
      for (; q > row && q[-1] > key; --q) *q = q[-1];
      *q = key;
    }
  }
}

}  // namespace

void Pairs::gather(std::vector<std::vector<std::uint64_t>>& found, Local bodies, const Team& team) {
  // runs of 2^shift bodies: few enough for a table of (run, list), small enough to sort in cache
  int shift = 9;
  while ((bodies >> shift) >= 1024) ++shift;
  const int runs = (bodies >> shift) + 1, lists = static_cast<int>(found.size());

  std::vector<std::size_t> place(static_cast<std::size_t>(runs) * lists, 0);
  team.for_pieces(lists, [&](int l) {
    for (std::uint64_t key : found[l]) ++place[static_cast<std::size_t>(pair_a(key) >> shift) * lists + l];
  });
  start_.resize(runs + 1);
  std::size_t total = 0;
  for (int r = 0; r < runs; ++r) {
    start_[r] = total;
    for (int l = 0; l < lists; ++l) {
      std::size_t& at = place[static_cast<std::size_t>(r) * lists + l];
      total += std::exchange(at, total);
    }
  }
  start_[runs] = total;
  if (total > key_.capacity()) key_.reserve(total + total / 16);
  key_.resize(total);
  team.for_pieces(lists, [&](int l) {
    for (std::uint64_t key : found[l])
      key_[place[static_cast<std::size_t>(pair_a(key) >> shift) * lists + l]++] = key;
    std::vector<std::uint64_t>().swap(found[l]);  // the solver needs the memory more than the next step does
  });
  team.for_pieces(runs, [&](int r) {
    std::vector<std::uint32_t> count;
    std::vector<std::uint64_t> copy;
    sort_run(key_.data() + start_[r], key_.data() + start_[r + 1], static_cast<Local>(r) << shift,
             Local{1} << shift, count, copy);
  });
}

}  // namespace talus
