// Snapshot: the state at the beginning of a step, kept in memory so that a step can be taken back (a retry
// with shorter steps, a guard that wants the state before). Only what a step changes is copied.
#pragma once
#include "talus/base/team.hpp"
#include "talus/sim/world.hpp"

namespace talus {

class Snapshot {
 public:
  void take(const World& world, const Team& team);
  /// Puts the world back, bit for bit, into the order it had.
  void restore(World& world, const Team& team) const;
  const EnergyLedger& energy() const { return energy_; }

 private:
  Array<Global> id_;
  Array<Vec3> position_;
  Array<Quat> orientation_;
  Array<Twist> velocity_;
  WarmStart warm_start_;
  EnergyLedger energy_;
  Real time_ = 0;
  Global step_ = 0;
};

}  // namespace talus
