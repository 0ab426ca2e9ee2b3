// Stepper: advances a World by one time step. docs/step.md has the same headings in the same order.
#pragma once
#include <cstdint>
#include <functional>
#include <functional>
#include <vector>

#include "talus/base/team.hpp"
#include "talus/collision/detector.hpp"
#include "talus/problem/cone_problem.hpp"
#include "talus/sim/world.hpp"
#include "talus/solvers/solver.hpp"

namespace talus {

/// Sees the problem of a step and its answer once the contacts are complete, before bodies move.
using ProblemObserver = std::function<void(const ConeProblem& problem, const DualVector& gamma)>;

struct StepSettings {
  SolverSettings solver;
  DetectorSettings detector;
  bool warm_start = true;
  Real recovery_speed = -1;  ///< m/s; overlap is corrected at most this fast. Negative: 0.1·√(g R) of each pair
  int reorder_every = 64;    ///< steps between sorts of the bodies along the Morton curve
  ProblemObserver observer;  ///< none by default
};

/// Wall seconds per phase, with the names of summary.json's phase_s.
struct PhaseSeconds {
  double detect = 0, build = 0, solve = 0, integrate = 0, exchange = 0, output = 0;
};

struct StepReport {
  Global contacts = 0;
  DetectorReport detector;   ///< overlap and margins at the beginning of the step
  SolveReport solve;         ///< iterations and applications are summed over rounds
  int rounds = 0;            ///< how often the contacts had to be completed and solved for again
  PhaseSeconds seconds;
  Real kinetic_energy = 0, potential_energy = 0;  ///< at the end of the step, J
  Real energy_balance = 0;   ///< kinetic + potential + dissipated − drive work − initial, J
  Real max_speed = 0;
};

/// Force and torque (about its mass centre) of all contacts on one named body, or on one face of a container,
/// averaged over the step; N and N·m, world axes.
struct NamedForce {
  Local name = -1;
  int face = -1;  ///< −1: the whole body; else a Face of a container
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
};

/// Sees a step's contact problem and its answer γ before the bodies move (problem files).
using ProblemObserver = std::function<void(const ConeProblem& problem, const DualVector& gamma)>;

class Stepper {
 public:
  Stepper(World& world, StepSettings settings, const Team& team);
  /// Called in every step that is not interrupted; null: nobody watches.
  void observe(ProblemObserver observer) { observer_ = std::move(observer); }

  /// One step of length h. On any outcome but `interrupted` the world is at the end of the step; when the solver
  /// was interrupted the world is left untouched.
  StepReport step(Real h);

  StepSettings& settings() { return settings_; }
  /// Contacts and impulses (3 per contact, N·s, on body b) of the last step; poses in the world are already new.
  const Contacts& contacts() const { return contacts_; }
  std::span<const Real> impulses() const { return impulse_.values(); }
  /// In the order of the world's names, each named body followed by its container faces.
  std::vector<NamedForce> named_forces() const;

 private:
  World& world_;
  StepSettings settings_;
  const Team& team_;
  Detector detector_;
  Contacts contacts_;
  BodyVector free_velocity_, new_velocity_;
  DualVector impulse_;
  ProblemObserver observer_;
  Real last_step_ = 0;
};

}  // namespace talus
