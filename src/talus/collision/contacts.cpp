#include "talus/collision/contacts.hpp"

namespace talus {

namespace {

/// std::vector doubles as it grows; a step's contacts hardly change in number, so a little room is enough.
template <class A>
void resize_tight(A& array, std::size_t n) {
  if (n > array.capacity()) array.reserve(n + n / 16);
  array.resize(n);
}

}  // namespace

void Contacts::resize(Local n) {
  resize_tight(a, n);
  resize_tight(b, n);
  resize_tight(feature, n);
  resize_tight(normal, n);
  resize_tight(arm_a, n);
  resize_tight(arm_b, n);
  resize_tight(gap, n);
  resize_tight(friction, n);
}

}  // namespace talus
