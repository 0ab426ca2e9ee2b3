#include "talus/collision/contacts.hpp"

namespace talus {

void Contacts::resize(Local n) {
  a.resize(n);
  b.resize(n);
  feature.resize(n);
  normal.resize(n);
  arm_a.resize(n);
  arm_b.resize(n);
  gap.resize(n);
  friction.resize(n);
}

}  // namespace talus
