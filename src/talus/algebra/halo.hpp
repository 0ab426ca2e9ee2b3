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
  /// Raises owners' entries, component by component, to the largest of theirs and their shadow copies'.
  virtual void max_to_owner(BodyVector&) const {}
  /// Copies owners' entries to all their shadow copies.
  virtual void copy_to_shadows(BodyVector&) const {}

  /// The same two verbs in halves, so that work can be done while messages travel. Between the halves of a sum
  /// the shadows' entries must be complete and owned entries may still be added to; between the halves of a copy
  /// owned entries that have copies elsewhere must not change and shadows' entries must not be read.
  virtual void start_sum_to_owner(const BodyVector&) const {}
  virtual void finish_sum_to_owner(BodyVector& v) const { sum_to_owner(v); }
  virtual void start_copy_to_shadows(const BodyVector&) const {}
  virtual void finish_copy_to_shadows(BodyVector& v) const { copy_to_shadows(v); }
};

/// The halo of a process without shadow copies.
const Halo& plain_halo();

}  // namespace talus
