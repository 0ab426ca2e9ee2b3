// Halo: how body vectors agree between owners and shadow copies. The plain one has no shadows and does nothing;
// the MPI and the periodic one live in `domain`.
#pragma once
#include "talus/base/array.hpp"
#include "talus/math/vec.hpp"

namespace talus {

/// Per-body vectors: owned bodies first, shadow copies after them.
using BodyVector = Array<Twist>;

class Halo {
 public:
  virtual ~Halo() = default;
  /// Adds what shadow copies gathered to their owners' entries.
  virtual void sum_to_owner(BodyVector&) const {}
  /// Copies owners' entries to all their shadow copies.
  virtual void copy_to_shadows(BodyVector&) const {}
};

/// The halo of a process without shadow copies.
const Halo& plain_halo();

}  // namespace talus
