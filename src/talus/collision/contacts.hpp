// Contacts: what detection hands to the problem. Structure of arrays in canonical order: ascending
// (a, b, feature), which is a function of the present state only.
#pragma once
#include "talus/base/array.hpp"
#include "talus/base/types.hpp"
#include "talus/math/vec.hpp"

namespace talus {

struct Contacts {
  Array<Local> a, b;  ///< indices into Bodies, a < b
  Array<std::uint32_t>
      feature;         ///< which of the pair's contacts this is: face of a container, corner of a box, ...
  Array<Vec3> normal;  ///< unit, from a to b
  Array<Vec3> arm_a, arm_b;  ///< from the mass centres to the contact point, world axes
  Array<Real> gap;           ///< φ: signed distance, negative in overlap
  Array<Real> friction;      ///< μ

  Local size() const { return static_cast<Local>(a.size()); }
  void resize(Local n);
  void clear() { resize(0); }
};

}  // namespace talus
