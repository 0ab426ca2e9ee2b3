// Morton (Z-order) codes: 21 bits a direction, neighbours in space stay near in the order (De20 §IV).
#pragma once
#include <cstdint>

namespace talus {

/// Spreads the low 21 bits of x so that two zero bits follow each.
inline std::uint64_t morton_spread(std::uint64_t x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffffULL;
  x = (x | x << 16) & 0x1f0000ff0000ffULL;
  x = (x | x << 8) & 0x100f00f00f00f00fULL;
  x = (x | x << 4) & 0x10c30c30c30c30c3ULL;
  x = (x | x << 2) & 0x1249249249249249ULL;
  return x;
}

inline std::uint64_t morton_code(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return morton_spread(x) | morton_spread(y) << 1 | morton_spread(z) << 2;
}

}  // namespace talus
