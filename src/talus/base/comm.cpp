#include "talus/base/comm.hpp"

namespace talus {

std::span<std::byte> Links::send_buffer(int) { return {}; }
std::span<const std::byte> Links::receive_buffer(int) { return {}; }

const Comm& plain_comm() {
  static const Comm plain;
  return plain;
}

}  // namespace talus
