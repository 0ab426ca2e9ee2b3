// Guards: what no healthy run does. A step that trips one ends the run (exit code 4) with the state before it
// kept.
#pragma once
#include <optional>
#include <string>

#include "talus/base/team.hpp"
#include "talus/collision/contacts.hpp"
#include "talus/io/scene.hpp"
#include "talus/sim/stepper.hpp"

namespace talus {

class Guards {
 public:
  /// `start` is the world as the scene gives it: the box that bodies must stay in follows from it.
  Guards(const SceneGuards& settings, const World& start);

  /// What is wrong with the step that just ended, with the ids of the bodies it concerns; empty when nothing
  /// is. `energy_scale` is the largest energy in motion so far and is raised here: a part of the run's state.
  std::optional<std::string> check(const World& world, const Contacts& contacts, const StepReport& report,
                                   const Team& team, Real dissipated_before, Real& energy_scale) const;

 private:
  std::optional<std::string> find_unbound(const World& world, const Team& team) const;
  std::optional<std::string> find_overlap(const World& world, const Contacts& contacts,
                                          const Team& team) const;

  bool escape_;
  Vec3 min_, max_;
  Real energy_, penetration_;
  Real least_energy_ = 0;  ///< every free body falling by its own radius: below it nothing has really moved
};

}  // namespace talus
