// World: all state of a simulation between two steps. What is here (and nothing else) is what a checkpoint holds;
// shapes, materials, names and motions come from the scene again.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "talus/bodies/bodies.hpp"
#include "talus/bodies/materials.hpp"
#include "talus/domain/domain.hpp"
#include "talus/shapes/shape.hpp"
#include "talus/sim/motion.hpp"

namespace talus {

/// Where energy went since the start, J. kinetic + potential + dissipated − drive_work stays at its first value.
struct EnergyLedger {
  Real dissipated = 0;  ///< by friction, impact and the implicit step itself
  Real drive_work = 0;  ///< done by prescribed bodies on the rest, and by the periodic box on bodies it lifts
  Real initial = 0;     ///< kinetic + potential at the start
};

/// The impulses of the last step by contact, in the order of its contacts: the guess of the next solve.
struct WarmStart {
  struct Key {
    Global low, high;       ///< body ids
    std::uint32_t feature;  ///< of the contact, and in the highest bits which periodic image of `high` it is with
    auto operator<=>(const Key&) const = default;
  };
  Array<Key> key;
  Array<Vec3> impulse;      ///< on the body with the higher id, world axes, over the step's length (a force, N)
  Array<Real> slip;         ///< ‖u_T‖ at the end of the step: the lagged De Saxcé term
};

struct World {
  // given by the scene
  std::vector<Shape> shapes;
  Materials materials;
  std::vector<std::string> names;                    ///< Bodies::name indexes these
  std::map<Global, std::unique_ptr<Motion>> motions; ///< by body id, for Mobility::prescribed
  Vec3 gravity = Vec3(0, 0, -9.81);
  PeriodicBox box;
  // state
  Bodies bodies;
  Real time = 0;
  Global step = 0;
  WarmStart warm_start;
  EnergyLedger energy;
  Domain::State partition;  ///< how the bodies were last cut among ranks

  /// Present index of the body with this id, −1 when there is none. Meant for the few driven bodies, which sort
  /// last: it looks from the end.
  Local index_of(Global id) const;
};

/// Energies of one body, J; zero for bodies that do not move freely.
Real kinetic_energy(const Bodies& bodies, Local i);
Real potential_energy(const World& world, Local i);

}  // namespace talus
