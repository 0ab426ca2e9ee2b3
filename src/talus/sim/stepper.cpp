#include "talus/sim/stepper.hpp"

#include "talus/base/timer.hpp"
#include "talus/sim/integrate.hpp"
#include "talus/sim/warm_start.hpp"

namespace talus {
namespace {

/// What a step did to the energies, J.
struct Work {
  Real dissipated = 0, drive_work = 0;
};

/// From the implicit step itself. With Δv = v⁺ − v and displacements h v⁺,
///   ΔE_kin + ΔE_pot = γᵀu⁺ − γᵀu_driven − ½ Δvᵀ M Δv,
/// so the step dissipates −γᵀu⁺ + ½ ΔvᵀMΔv (friction and impact; overlap pushed apart counts negative) and the
/// driven bodies do the work −γᵀu_driven, u_driven being their part of the relative velocity.
Work work_of_step(const World& world, const Contacts& contacts, std::span<const Real> impulse,
                  const BodyVector& new_velocity, const Team& team) {
  const Bodies& bodies = world.bodies;
  const auto [slid, driven] = team.sum<2>(contacts.size(), [&](Local i, auto& s) {
    const Local a = contacts.a[i], b = contacts.b[i];
    const Vec3 gamma(impulse[3 * i], impulse[3 * i + 1], impulse[3 * i + 2]);
    const Real on_a = gamma.dot(velocity_at(new_velocity[a], contacts.arm_a[i]));
    const Real on_b = gamma.dot(velocity_at(new_velocity[b], contacts.arm_b[i]));
    s[0] += on_b - on_a;
    s[1] += (bodies.moves_freely(b) ? 0 : on_b) - (bodies.moves_freely(a) ? 0 : on_a);
  });
  const Real jump = team.sum<1>(bodies.owned, [&](Local i, auto& s) {
    if (!bodies.moves_freely(i)) return;
    const Vec3 dv = new_velocity[i].linear - bodies.velocity[i].linear;
    const Vec3 dw = bodies.orientation[i].conjugate() * (new_velocity[i].angular - bodies.velocity[i].angular);
    s[0] += 0.5 * (bodies.mass[i] * dv.squaredNorm() + dw.cwiseAbs2().dot(bodies.inertia[i]));
  })[0];
  return {jump - slid, -driven};
}

/// Kinetic and potential energy of all ranks, J, and the largest speed.
struct Energies {
  Real kinetic = 0, potential = 0, max_speed = 0;
};
Energies energies_of(const World& world, const Team& team) {
  const auto sum = team.sum<2>(world.bodies.owned, [&](Local i, auto& s) {
    s[0] += kinetic_energy(world.bodies, i);
    s[1] += potential_energy(world, i);
  });
  const auto fastest = team.max<1>(world.bodies.owned, [&](Local i, auto& m) {
    if (world.bodies.moves_freely(i)) m[0] = std::max(m[0], world.bodies.velocity[i].linear.norm());
  });
  return {sum[0], sum[1], fastest[0]};
}

}  // namespace

Stepper::Stepper(World& world, StepSettings settings, const Team& team)
    : world_(world), settings_(std::move(settings)), team_(team) {
  if (world_.step == 0) {
    const Energies start = energies_of(world_, team_);
    world_.energy.initial = start.kinetic + start.potential;
  }
}

StepReport Stepper::step(Real h) {
  StepReport report;
  Bodies& bodies = world_.bodies;

  {  // Order: bodies along the Morton curve, so that neighbours in space are neighbours in memory.
    ScopedTimer timer(report.seconds.detect);
    if (world_.step % settings_.reorder_every == 0) sort_bodies(bodies, team_);
  }
  {  // Free flight: v* = v + h M⁻¹ f.
    ScopedTimer timer(report.seconds.integrate);
    free_flight(world_, h, team_, free_velocity_);
  }
  {  // Detect: all contacts that can close within this step.
    ScopedTimer timer(report.seconds.detect);
    report.detector = detector_.find(bodies, world_.shapes, world_.materials, free_velocity_, h, settings_.detector,
                                     team_, contacts_);
  }

  constexpr int max_rounds = 4;
  WarmStart known;  // impulses of the round before
  const WarmStart* guess = &world_.warm_start;
  for (int round = 0;; ++round) {
    const Local nc = contacts_.size();
    report.contacts = nc;

    // Build: N, r and the cones; the guess, from the impulses of persisting contacts.
    const double build_start = wall_seconds();
    const ProblemScales units = step_units(world_, free_velocity_, h, team_);
    const ConeProblem problem = ConeProblem::from_contacts(
        contacts_, bodies, free_velocity_, {h, settings_.recovery_speed, world_.gravity.norm()}, units, team_);
    impulse_ = problem.zero();
    std::vector<Real> slip(nc);
    guess_impulses(*guess, contacts_, bodies, h, team_, impulse_.values(), slip);
    if (!settings_.warm_start && round == 0) impulse_ = 0.0;
    report.seconds.build += wall_seconds() - build_start;

    {  // Solve the cone complementarity problem.
      ScopedTimer timer(report.seconds.solve);
      const SolveReport before = report.solve;
      report.solve = solve(problem, impulse_, settings_.solver, slip);
      report.solve.iterations += before.iterations;
      report.solve.applications += before.applications;
      if (report.solve.status == Status::interrupted) return report;
      problem.body_velocities(impulse_, new_velocity_);
    }
    // Complete: an impact can send a body into one that nobody expected it to reach. List such contacts and solve again.
    ScopedTimer timer(report.seconds.detect);
    if (round == max_rounds ||
        detector_.count_missed(bodies, world_.shapes, world_.materials, new_velocity_, h, team_) == 0) {
      if (settings_.observer) settings_.observer(problem, impulse_);
      break;
    }
    keep_impulses(contacts_, bodies, new_velocity_, h, team_, impulses(), known);
    known.slip.assign(slip.begin(), slip.end());
    guess = &known;
    detector_.list_again(bodies, world_.shapes, world_.materials, team_, contacts_);
    ++report.rounds;
  }

  // Integrate: v⁺ = v* + M⁻¹ D γ, q⁺ = q + h v⁺; book the energies; remember the impulses.
  ScopedTimer timer(report.seconds.integrate);
  const Work work = work_of_step(world_, contacts_, impulses(), new_velocity_, team_);
  world_.energy.dissipated += work.dissipated;
  world_.energy.drive_work += work.drive_work;
  keep_impulses(contacts_, bodies, new_velocity_, h, team_, impulses(), world_.warm_start);
  integrate(world_, new_velocity_, h, team_);
  world_.time += h;
  ++world_.step;
  last_step_ = h;

  const Energies now = energies_of(world_, team_);
  report.kinetic_energy = now.kinetic;
  report.potential_energy = now.potential;
  report.max_speed = now.max_speed;
  report.energy_balance = now.kinetic + now.potential + world_.energy.dissipated - world_.energy.drive_work -
                          world_.energy.initial;
  return report;
}

std::vector<NamedForce> Stepper::named_forces() const {
  const Bodies& bodies = world_.bodies;
  // One entry per named body, then one per face of a container that carries a name.
  std::vector<NamedForce> forces;
  std::vector<Local> body_of(world_.names.size(), -1);
  for (Local i = 0; i < bodies.size(); ++i)
    if (bodies.name[i] >= 0) body_of[bodies.name[i]] = i;
  std::vector<int> first(world_.names.size(), -1);  // entry of a name; its faces follow in the order of `faces_of`
  for (Local name = 0; name < static_cast<Local>(world_.names.size()); ++name) {
    const Local body = body_of[name];
    if (body < 0) continue;
    first[name] = static_cast<int>(forces.size());
    forces.push_back({name, -1});
    for (Face face : faces_of(world_.shapes[bodies.shape[body]])) forces.push_back({name, static_cast<int>(face)});
  }
  auto add = [&](Local body, std::uint32_t feature, const Vec3& force, const Vec3& arm) {
    const Local name = bodies.name[body];
    if (name < 0 || first[name] < 0) return;
    auto put = [&](NamedForce& f) {
      f.force += force;
      f.torque += arm.cross(force);
    };
    put(forces[first[name]]);
    if (!is_container(world_.shapes[bodies.shape[body]].kind)) return;
    for (std::size_t k = first[name] + 1; k < forces.size() && forces[k].name == name; ++k)
      if (forces[k].face == static_cast<int>(container_face(feature))) put(forces[k]);
  };
  for (Local i = 0; i < contacts_.size(); ++i) {
    const Vec3 force = Vec3(impulse_[3 * i], impulse_[3 * i + 1], impulse_[3 * i + 2]) / last_step_;
    add(contacts_.a[i], contacts_.feature[i], -force, contacts_.arm_a[i]);
    add(contacts_.b[i], contacts_.feature[i], force, contacts_.arm_b[i]);
  }
  return forces;
}

}  // namespace talus
