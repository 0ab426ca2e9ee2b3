#include "talus/base/comm.hpp"

namespace talus {

const Comm& plain_comm() {
  static const Comm plain;
  return plain;
}

}  // namespace talus
