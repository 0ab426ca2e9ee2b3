// PeriodicBox: directions in which space closes on itself, and the images of a body in them.
#pragma once
#include <array>
#include <cmath>

#include "talus/math/vec.hpp"

namespace talus {

struct PeriodicBox {
  std::array<bool, 3> periodic = {false, false, false};
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();  ///< used in periodic directions only

  bool any() const { return periodic[0] || periodic[1] || periodic[2]; }
  Real length(int axis) const { return high[axis] - low[axis]; }

  /// Moves x into [low, high) in the periodic directions.
  void wrap(Vec3& x) const {
    for (int k = 0; k < 3; ++k) {
      if (!periodic[k] || (x[k] >= low[k] && x[k] < high[k])) continue;
      x[k] -= length(k) * std::floor((x[k] - low[k]) / length(k));
      if (x[k] < low[k]) x[k] += length(k);  // rounding can leave x just outside on either side
      if (x[k] >= high[k]) x[k] = low[k];
    }
  }
};

/// An image is a shift by −1, 0 or 1 box lengths in each direction, coded in base 3 (0 → 0, 1 → 1, −1 → 2),
/// so that the body itself is image 0.
inline constexpr int image_count = 27;

inline int image_code(int x, int y, int z) {
  return (x + 3) % 3 + 3 * ((y + 3) % 3) + 9 * ((z + 3) % 3);
}

inline std::array<int, 3> image_shift(int code) {
  constexpr std::array<int, 3> shift = {0, 1, -1};
  return {shift[code % 3], shift[code / 3 % 3], shift[code / 9]};
}

/// The image of `to` seen from image `from`, or −1 when they are two boxes apart.
inline int image_difference(int to, int from) {
  const auto t = image_shift(to), f = image_shift(from);
  std::array<int, 3> d{};
  for (int k = 0; k < 3; ++k) {
    d[k] = t[k] - f[k];
    if (d[k] < -1 || d[k] > 1) return -1;
  }
  return image_code(d[0], d[1], d[2]);
}

/// The image `image` shifted on by `by`, or −1 when that is two boxes away.
inline int image_sum(int image, int by) {
  const auto a = image_shift(image), b = image_shift(by);
  std::array<int, 3> s{};
  for (int k = 0; k < 3; ++k) {
    s[k] = a[k] + b[k];
    if (s[k] < -1 || s[k] > 1) return -1;
  }
  return image_code(s[0], s[1], s[2]);
}

inline Vec3 image_position(const PeriodicBox& box, const Vec3& x, int code) {
  const auto s = image_shift(code);
  Vec3 shifted = x;
  for (int k = 0; k < 3; ++k)
    if (s[k] != 0) shifted[k] += s[k] * box.length(k);
  return shifted;
}

}  // namespace talus
