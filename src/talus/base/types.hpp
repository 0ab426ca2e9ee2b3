// Index types. A size in a formula is Global; an extent of a local array is Local. They never mix silently.
#pragma once
#include <cstdint>

namespace talus {

using Real = double;          ///< every physical quantity; results are defined in double precision
using Local = std::int32_t;   ///< index into an array of this process
using Global = std::int64_t;  ///< count or identity over all processes

}  // namespace talus
