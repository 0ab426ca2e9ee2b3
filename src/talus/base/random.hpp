// Random numbers whose whole state is two integers, so that a checkpoint can hold it and every platform agrees.
#pragma once
#include <cstdint>

namespace talus {

/// A full-period mix of 64 bits (the finaliser of SplitMix64).
inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Counter-based generator: the n-th number of a seed is a pure function of (seed, n).
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t counter = 0) : seed_(mix64(seed)), counter_(counter) {}
  std::uint64_t bits() { return mix64(seed_ ^ mix64(counter_++)); }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  std::uint64_t counter() const { return counter_; }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_;
};

}  // namespace talus
