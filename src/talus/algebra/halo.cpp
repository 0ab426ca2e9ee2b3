#include "talus/algebra/halo.hpp"

namespace talus {

const Halo& plain_halo() {
  static const Halo plain;
  return plain;
}

}  // namespace talus
