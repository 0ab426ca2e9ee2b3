#include "talus/sim/world.hpp"

namespace talus {

Local World::index_of(Global id) const {
  for (Local i = bodies.size() - 1; i >= 0; --i)
    if (bodies.id[i] == id) return i;
  return -1;
}

Real kinetic_energy(const Bodies& bodies, Local i) {
  if (!bodies.moves_freely(i)) return 0;
  const Twist& v = bodies.velocity[i];
  const Vec3 spin = bodies.orientation[i].conjugate() * v.angular;  // in body axes, where the inertia is diagonal
  return 0.5 * (bodies.mass[i] * v.linear.squaredNorm() + spin.cwiseAbs2().dot(bodies.inertia[i]));
}

Real potential_energy(const World& world, Local i) {
  const Bodies& bodies = world.bodies;
  return bodies.moves_freely(i) ? -bodies.mass[i] * world.gravity.dot(bodies.position[i]) : 0;
}

}  // namespace talus
