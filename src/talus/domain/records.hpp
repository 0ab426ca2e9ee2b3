// Bodies as bytes of a message. Which fields a record holds follows from the field table of Bodies alone.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "talus/base/error.hpp"
#include "talus/bodies/bodies.hpp"

namespace talus {

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}
  template <class T>
  void put(const T& value) {
    const std::size_t at = out_.size();
    out_.resize(at + sizeof(T));
    std::memcpy(out_.data() + at, static_cast<const void*>(&value), sizeof(T));
  }

 private:
  std::vector<std::byte>& out_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}
  bool at_end() const { return at_ == in_.size(); }
  template <class T>
  void get(T& value) {
    if (in_.size() - at_ < sizeof(T))
      throw RunError("a message between ranks ends in the middle of a record");
    std::memcpy(static_cast<void*>(&value), in_.data() + at_, sizeof(T));
    at_ += sizeof(T);
  }
  template <class T>
  T get() {
    T value;
    get(value);
    return value;
  }

 private:
  std::span<const std::byte> in_;
  std::size_t at_ = 0;
};

/// A record for `occasion` holds the fields that are sent on it: an update `always`, a new shadow copy those
/// and `with_shadow`, a change of owner those and `with_owner`.
inline bool in_record(Sent field, Sent occasion) {
  return field <= occasion && field != Sent::never;
}
static_assert(Sent::always < Sent::with_shadow && Sent::with_shadow < Sent::with_owner &&
              Sent::with_owner < Sent::never);

inline void write_body(Writer& out, const Bodies& bodies, Local i, Sent occasion) {
  for_each_field(bodies, [&](const char*, Sent sent, const auto& field) {
    if (in_record(sent, occasion)) out.put(field[i]);
  });
}

inline void read_body(Reader& in, Bodies& bodies, Local i, Sent occasion) {
  for_each_field(bodies, [&](const char*, Sent sent, auto& field) {
    if (in_record(sent, occasion)) in.get(field[i]);
  });
}

}  // namespace talus
