#include "talus/io/version.hpp"

namespace talus {

std::string version() {
  return TALUS_VERSION;
}

}  // namespace talus
