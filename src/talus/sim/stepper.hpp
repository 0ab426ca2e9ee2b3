// Stepper: advances a World by one time step. docs/step.md has the same headings in the same order.
#pragma once
#include <cstdint>
#include <functional>
#include <functional>
#include <vector>

#include "talus/base/team.hpp"
#include "talus/collision/detector.hpp"
#include "talus/domain/domain.hpp"
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
  DomainSettings domain;     ///< its box is the world's
};

/// Wall seconds per phase, with the names of summary.json's phase_s.
struct PhaseSeconds {
  double detect = 0, build = 0, solve = 0, integrate = 0, exchange = 0, output = 0;
};

struct StepReport {
  Global contacts = 0;
  DetectorReport detector;   ///< overlap and margins at the beginning of the step, of all ranks; indices are local
  DomainReport domain;
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

/// Leaves to this rank its share of a world that every rank has built in full: `counts` bodies per rank in their
/// present order, or about the same number for each. The first step puts every body where it belongs.
void take_share(World& world, const Team& team, std::span<const Global> counts = {});

class Stepper {
 public:
  Stepper(World& world, StepSettings settings, const Team& team);

  /// One step of length h. On any outcome but `interrupted` the world is at the end of the step; when the solver
  /// was interrupted the world is left untouched.
  StepReport step(Real h);

  /// To be called on every rank when the world's bodies were replaced from outside (a state taken up again): only owned
  /// bodies are there, and copies are to be made anew.
  void world_replaced();

  StepSettings& settings() { return settings_; }
  const Domain& domain() const { return domain_; }
  /// Contacts and impulses (3 per contact, N·s, on body b) of the last step; poses in the world are already new.
  const Contacts& contacts() const { return contacts_; }
  std::span<const Real> impulses() const { return impulse_.values(); }
  /// In the order of the world's names, each named body followed by its container faces. All ranks must call it; all
  /// get the same.
  std::vector<NamedForce> named_forces() const;

 private:
  DomainReport update_domain();

  World& world_;
  StepSettings settings_;
  const Team& team_;
  Domain domain_;
  std::vector<Local> shape_of_name_;  ///< of each named body, −1 where no body has the name
  Array<Real> reach_;
  Detector detector_;
  Contacts contacts_;
  BodyVector free_velocity_, new_velocity_;
  DualVector impulse_;
  Real last_step_ = 0;
};

}  // namespace talus
