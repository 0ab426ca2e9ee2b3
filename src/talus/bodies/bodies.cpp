#include "talus/bodies/bodies.hpp"

#include "talus/base/hash.hpp"

namespace talus {

Mat33 Bodies::inverse_inertia(Local i) const {
  if (!moves_freely(i)) return Mat33::Zero();
  const Vec3& I = inertia[i];
  if (I.x() == I.y() && I.y() == I.z()) return Mat33(Vec3::Constant(1.0 / I.x()).asDiagonal());
  const Mat33 R = orientation[i].toRotationMatrix();
  return R * I.cwiseInverse().asDiagonal() * R.transpose();
}

void Bodies::resize(Local n) {
  for_each_field(*this, [n](const char*, Sent, auto& field) { field.resize(n); });
}

void Bodies::reorder(const Array<Local>& order) {
  for_each_field(*this, [&order](const char*, Sent, auto& field) {
    std::remove_reference_t<decltype(field)> sorted(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) sorted[k] = field[order[k]];
    field.swap(sorted);
  });
}

std::uint64_t state_hash(const Bodies& bodies) {
  std::uint64_t total = 0;  // a sum of per-body hashes does not depend on the order of bodies or ranks
  for (Local i = 0; i < bodies.owned; ++i) {
    Hash64 h;
    h.add(bodies.id[i]);
    for (int k = 0; k < 3; ++k) h.add(bodies.position[i][k]);
    for (int k = 0; k < 4; ++k) h.add(bodies.orientation[i].coeffs()[k]);
    for (int k = 0; k < 3; ++k) h.add(bodies.velocity[i].linear[k]);
    for (int k = 0; k < 3; ++k) h.add(bodies.velocity[i].angular[k]);
    total += h.value();
  }
  return total;
}

}  // namespace talus
