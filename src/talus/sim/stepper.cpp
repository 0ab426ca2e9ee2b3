#include "talus/sim/stepper.hpp"

#include <limits>
#include <numeric>

#include "talus/base/timer.hpp"
#include "talus/collision/margin.hpp"
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

/// What all ranks noticed. The deepest pair stays named where it is; elsewhere there is none.
void reduce(DetectorReport& report, const Comm& comm) {
  if (comm.size() == 1) return;
  std::array<Global, 2> sums = {report.pairs, report.capped};
  comm.sum(std::span<Global>(sums));
  report.pairs = sums[0];
  report.capped = sums[1];
  const Real infinity = std::numeric_limits<Real>::infinity();
  std::array<Real, 2> most = {report.deepest, report.suggested_step > 0 ? -report.suggested_step : -infinity};
  comm.max(std::span<Real>(most));
  if (most[0] > report.deepest) report.deepest_a = report.deepest_b = -1;
  report.deepest = most[0];
  report.suggested_step = report.capped > 0 ? -most[1] : 0;
}

DomainSettings settings_of(const StepSettings& settings, const World& world) {
  DomainSettings domain = settings.domain;
  domain.box = world.box;
  return domain;
}

}  // namespace

Stepper::Stepper(World& world, StepSettings settings, const Team& team)
    : world_(world), settings_(std::move(settings)), team_(team), domain_(settings_of(settings_, world), team) {
  world_replaced();
  std::vector<Global> shape(world_.names.size(), -1);
  for (Local i = 0; i < world_.bodies.owned; ++i)
    if (world_.bodies.name[i] >= 0) shape[world_.bodies.name[i]] = world_.bodies.shape[i];
  team_.comm().max(std::span<Global>(shape));
  shape_of_name_.assign(shape.begin(), shape.end());
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
    if (world_.step % settings_.reorder_every == 0) {
      domain_.forget(bodies);
      sort_bodies(bodies, team_);
    }
  }
  {  // Exchange: every body to its owner, copies to wherever its hull reaches, impulses to who will treat the contact.
    ScopedTimer timer(report.seconds.exchange);
    report.domain = update_domain();
  }
  {  // Free flight: v* = v + h M⁻¹ f.
    ScopedTimer timer(report.seconds.integrate);
    free_flight(world_, h, team_, free_velocity_);
  }
  {  // Detect: all contacts that can close within this step.
    ScopedTimer timer(report.seconds.detect);
    report.detector = detector_.find(bodies, world_.shapes, world_.materials, free_velocity_, h, settings_.detector,
                                     team_, contacts_, domain_, domain_.halo());
    reduce(report.detector, team_.comm());
  }

  constexpr int max_rounds = 4;
  WarmStart known;  // impulses of the round before
  const WarmStart* guess = &world_.warm_start;
  for (int round = 0;; ++round) {
    const Local nc = contacts_.size();

    // Build: N, r and the cones; the guess, from the impulses of persisting contacts.
    const double build_start = wall_seconds();
    const ProblemScales units = step_units(world_, free_velocity_, h, team_);
    const ConeProblem problem = ConeProblem::from_contacts(
        contacts_, bodies, free_velocity_, {h, settings_.recovery_speed, world_.gravity.norm()}, units, team_,
        domain_.halo());
    report.contacts = problem.contacts();
    impulse_ = problem.zero();
    std::vector<Real> slip(nc);
    guess_impulses(*guess, contacts_, bodies, h, team_, impulse_.values(), slip, domain_);
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
        detector_.count_missed(bodies, world_.shapes, world_.materials, new_velocity_, h, team_, domain_) == 0) {
      if (settings_.observer) settings_.observer(problem, impulse_);
      break;
    }
    keep_impulses(contacts_, bodies, new_velocity_, h, team_, impulses(), known, domain_);
    known.slip.assign(slip.begin(), slip.end());
    guess = &known;
    detector_.list_again(bodies, world_.shapes, world_.materials, team_, contacts_, domain_);
    ++report.rounds;
  }

  // Integrate: v⁺ = v* + M⁻¹ D γ, q⁺ = q + h v⁺; book the energies; remember the impulses.
  ScopedTimer timer(report.seconds.integrate);
  const Work work = work_of_step(world_, contacts_, impulses(), new_velocity_, team_);
  world_.energy.dissipated += work.dissipated;
  world_.energy.drive_work += work.drive_work;
  keep_impulses(contacts_, bodies, new_velocity_, h, team_, impulses(), world_.warm_start, domain_);
  domain_.count_contacts(bodies, contacts_.a, contacts_.b);
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

DomainReport Stepper::update_domain() {
  if (domain_.trivial()) return domain_.update(world_.bodies, {});
  const Bodies& bodies = world_.bodies;
  reach_.resize(bodies.owned);
  team_.for_each(bodies.owned, [&](Local i) {
    reach_[i] = Margins::largest_reach(world_.shapes[bodies.shape[i]], bodies.radius[i], settings_.detector.margin);
  });
  const DomainReport report = domain_.update(world_.bodies, reach_);
  share_impulses(world_.warm_start, world_.bodies, domain_, team_);
  if (world_.box.any()) {
    // A body that leaves at the low side comes in at the high one: the box has lifted it.
    Vec3 moment = domain_.wrapped_moment();
    team_.comm().sum(std::span<Real>(moment.data(), 3));
    world_.energy.drive_work -= world_.gravity.dot(moment);
  }
  world_.partition = domain_.state();
  return report;
}

void Stepper::world_replaced() {
  domain_.forget(world_.bodies);
  if (static_cast<int>(world_.partition.partition.first.size()) == team_.comm().size()) domain_.restore(world_.partition);
}

void take_share(World& world, const Team& team, std::span<const Global> counts) {
  const int ranks = team.comm().size(), me = team.comm().rank();
  if (ranks == 1) return;
  const Global n = world.bodies.size();
  Global begin = n * me / ranks, end = n * (me + 1) / ranks;
  if (static_cast<int>(counts.size()) == ranks) {
    begin = std::accumulate(counts.begin(), counts.begin() + me, Global{0});
    end = begin + counts[me];
  }
  Array<Local> mine(end - begin);
  std::iota(mine.begin(), mine.end(), static_cast<Local>(begin));
  world.bodies.reorder(mine);
  world.bodies.owned = world.bodies.size();
}

std::vector<NamedForce> Stepper::named_forces() const {
  const Bodies& bodies = world_.bodies;
  // One entry per named body, then one per face of a container that carries a name.
  std::vector<NamedForce> forces;
  std::vector<int> first(world_.names.size(), -1);  // entry of a name; its faces follow in the order of `faces_of`
  for (Local name = 0; name < static_cast<Local>(world_.names.size()); ++name) {
    const Local shape = shape_of_name_[name];
    if (shape < 0) continue;
    first[name] = static_cast<int>(forces.size());
    forces.push_back({name, -1});
    for (Face face : faces_of(world_.shapes[shape])) forces.push_back({name, static_cast<int>(face)});
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
  std::vector<Real> sums;
  for (const NamedForce& f : forces)
    for (const Vec3* v : {&f.force, &f.torque}) sums.insert(sums.end(), v->data(), v->data() + 3);
  team_.comm().sum(std::span<Real>(sums));
  for (std::size_t k = 0; k < forces.size(); ++k) {
    forces[k].force = Vec3(sums[6 * k], sums[6 * k + 1], sums[6 * k + 2]);
    forces[k].torque = Vec3(sums[6 * k + 3], sums[6 * k + 4], sums[6 * k + 5]);
  }
  return forces;
}

}  // namespace talus
