// Stable sort of (key, value) by key, eight bits a round, digits that never vary left out. Threads work on
// pieces that depend on the size alone; the result is unique in any case.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "talus/base/array.hpp"
#include "talus/base/team.hpp"

namespace talus {

class RadixSort {
 public:
  /// Sorts both arrays in place. Scratch memory is kept for the next call.
  void sort(Array<std::uint64_t>& key, Array<Local>& value, const Team& team) {
    const Local n = static_cast<Local>(key.size());
    const int pieces = static_cast<int>(std::clamp<Global>(static_cast<Global>(n) / 8192, 1, 128));
    const auto begin = [&](int p) { return static_cast<Local>(static_cast<Global>(n) * p / pieces); };

    // which bits vary at all, and is there anything to do?
    std::vector<std::uint64_t> varying(pieces, 0);
    std::vector<char> ordered(pieces, 1);
    team.for_pieces(pieces, [&](int p) {
      std::uint64_t bits = 0;
      bool rising = true;
      for (Local i = begin(p); i < begin(p + 1); ++i) {
        bits |= key[i] ^ key[0];
        rising &= i == 0 || key[i - 1] <= key[i];
      }
      varying[p] = bits;
      ordered[p] = rising;
    });
    if (std::all_of(ordered.begin(), ordered.end(), [](char c) { return c; })) return;
    std::uint64_t all = 0;
    for (std::uint64_t bits : varying) all |= bits;

    other_key_.resize(n);
    other_value_.resize(n);
    std::vector<std::array<Local, 256>> count(pieces);
    for (int shift = 0; shift < 64; shift += 8) {
      if (!(all >> shift & 0xff)) continue;
      team.for_pieces(pieces, [&](int p) {
        auto& mine = count[p];
        mine.fill(0);
        for (Local i = begin(p); i < begin(p + 1); ++i) ++mine[key[i] >> shift & 0xff];
      });
      Local total = 0;
      for (int digit = 0; digit < 256; ++digit)
        for (int p = 0; p < pieces; ++p) total += std::exchange(count[p][digit], total);
      team.for_pieces(pieces, [&](int p) {
        auto& at = count[p];
        for (Local i = begin(p); i < begin(p + 1); ++i) {
          const Local to = at[key[i] >> shift & 0xff]++;
          other_key_[to] = key[i];
          other_value_[to] = value[i];
        }
      });
      key.swap(other_key_);
      value.swap(other_value_);
    }
  }

 private:
  Array<std::uint64_t> other_key_;
  Array<Local> other_value_;
};

}  // namespace talus
