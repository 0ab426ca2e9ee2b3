// ContactRule: which contacts this process treats. Every contact is seen by one or more processes (a pair of
// bodies or copies of them); exactly one of them treats it, and in a periodic box through exactly one pair of images.
#pragma once
#include "talus/base/types.hpp"

namespace talus {

class ContactRule {
 public:
  virtual ~ContactRule() = default;
  /// Does this process treat the contacts between local bodies a and b? Only asked when one of them is a shadow copy:
  /// contacts between two owned bodies are always treated here.
  virtual bool treats(Local /*a*/, Local /*b*/) const { return true; }
  /// Which periodic image of b touches a, as a small number that names the direction (0: the body itself). Two
  /// bodies of a small periodic box can touch on both sides; keys of contacts tell them apart by this. Antisymmetric:
  /// relative_image(b, a) names the opposite direction.
  virtual int relative_image(Local /*a*/, Local /*b*/) const { return 0; }
};

/// The rule of a process that sees no shadow copies.
const ContactRule& every_contact();

}  // namespace talus
