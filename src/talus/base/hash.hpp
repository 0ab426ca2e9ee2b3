// A 64-bit hash of bits, for the state hash that determinism tests compare.
#pragma once
#include <cstdint>
#include <cstring>

#include "talus/base/random.hpp"

namespace talus {

class Hash64 {
 public:
  void add(std::uint64_t word) { value_ = mix64(value_ ^ word) + 0x632be59bd9b4e019ULL * ++count_; }
  void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
  void add(double x) {
    std::uint64_t word;
    std::memcpy(&word, &x, sizeof word);
    add(word);
  }
  std::uint64_t value() const { return mix64(value_); }

 private:
  std::uint64_t value_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace talus
