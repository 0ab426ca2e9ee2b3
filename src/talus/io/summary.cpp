#include "talus/io/summary.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "talus/io/version.hpp"

namespace talus {
namespace {

using Json = nlohmann::ordered_json;

Real mean(Global sum, Global count) {
  return count > 0 ? static_cast<Real>(sum) / static_cast<Real>(count) : 0;
}

}  // namespace

Global body_count(const World& world) {
  Global count = 0;
  for (Local i = 0; i < world.bodies.owned; ++i) count += !is_unbounded(world.shapes[world.bodies.shape[i]].kind);
  return count;
}

Global peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Global>(usage.ru_maxrss) * 1024;
}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<long long>(std::lround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string solver_text(const Scene& scene) {
  const SceneSolver& s = scene.solver;
  const char* model = s.model == Model::relaxed ? "relaxed model (cone complementarity)"
                      : s.model == Model::exact
                          ? "exact Coulomb model"
                          : "lagged model (exact Coulomb, De Saxcé term of the last step)";
  return fmt::format("{} on the {}, until residual \"{}\" ≤ {:g} or {} iterations", s.name, model, s.residual,
                     s.tolerance, s.max_iterations);
}

std::string summary_json(const Scene& scene, const World& world, const RunTotals& t, const RunFacts& facts) {
  Json j;
  j["outcome"] = facts.outcome;
  if (!facts.reason.empty()) j["reason"] = facts.reason;
  if (!scene.title.empty()) j["title"] = scene.title;
  j["bodies"] = body_count(world);
  j["steps"] = world.step;
  j["steps_wanted"] = facts.steps_wanted;
  j["simulated_s"] = world.time;
  j["wall_s"] = facts.wall_s;
  j["cpu_s"] = facts.cpu_s;
  j["model"] = model_name(scene.solver.model);
  j["phase_s"] = {{"detect", t.seconds.detect},     {"build", t.seconds.build},
                  {"solve", t.seconds.solve},       {"integrate", t.seconds.integrate},
                  {"exchange", t.seconds.exchange}, {"output", t.seconds.output}};
  j["contacts"] = {{"mean", mean(t.contacts_sum, t.steps)},
                   {"max", t.contacts_max},
                   {"last", t.contacts_last},
                   {"first", t.contacts_first}};
  j["iterations"] = {
      {"mean", mean(t.iterations_sum, t.steps)}, {"max", t.iterations_max}, {"last", t.iterations_last}};
  j["applications"] = {{"mean", mean(t.applications_sum, t.steps)}, {"max", t.applications_max}};
  j["residual"] = {{"scaled", {{"max", t.scaled_max}, {"last", t.scaled_last}}},
                   {"de20", {{"max", t.de20_max}, {"last", t.de20_last}}}};
  j["unconverged_steps"] = t.unconverged_steps;
  j["worst_step"] = t.worst_step;
  j["retried_steps"] = t.retried_steps;
  j["capped_margin_steps"] = t.capped_steps;
  j["max_penetration_m"] = t.max_penetration;
  j["max_speed_m_per_s"] = t.max_speed;
  j["kinetic_energy_J"] = t.kinetic_energy;
  j["potential_energy_J"] = t.potential_energy;
  j["dissipated_J"] = world.energy.dissipated;
  j["drive_work_J"] = world.energy.drive_work;
  j["energy_balance_J"] = {{"last", t.energy_balance}, {"max", t.energy_balance_max}};
  j["state_hash"] = fmt::format("{:016x}", state_hash(world.bodies));
  j["threads"] = facts.threads;
  j["ranks"] = facts.ranks;
  j["peak_rss_bytes"] = peak_memory_bytes();
  j["version"] = version();
  j["options"] = {{"scene", scene.path},
                  {"out", facts.out},
                  {"resumed_from", facts.resumed_from},
                  {"set", facts.overrides},
                  {"step_s", scene.simulation.step},
                  {"solver", scene.solver.name},
                  {"tolerance", scene.solver.tolerance},
                  {"residual", scene.solver.residual},
                  {"max_iterations", scene.solver.max_iterations},
                  {"warm_start", scene.solver.warm_start}};
  return j.dump(2) + "\n";
}

std::string summary_text(const Scene& scene, const World& world, const RunTotals& t, const RunFacts& facts) {
  std::string text;
  const auto line = [&](std::string s) { text += s + '\n'; };
  line(fmt::format("{}: step {} of {}, {:.6g} s simulated in {}", facts.outcome, world.step,
                   facts.steps_wanted, world.time, duration_text(facts.wall_s)));
  if (!facts.reason.empty()) line("  why         " + facts.reason);
  if (t.unconverged_steps > 0)
    line(
        fmt::format("  UNCONVERGED {} of {} steps; worst scaled residual {:.2e} in step {} (column status of "
                    "{}/steps.csv)",
                    t.unconverged_steps, t.steps, t.scaled_max, t.worst_step, facts.out));
  line(fmt::format("  contacts    {} at the end, {:.0f} on average, {} at most", t.contacts_last,
                   mean(t.contacts_sum, t.steps), t.contacts_max));
  line(fmt::format(
      "  solver      {:.1f} iterations a step, {} at most; worst residual scaled {:.2e}, de20 {:.2e}",
      mean(t.iterations_sum, t.steps), t.iterations_max, t.scaled_max, t.de20_max));
  if (t.retried_steps > 0) line(fmt::format("  retried     {} steps with shorter ones", t.retried_steps));
  line(fmt::format("  overlap     {:.3g} m at most", t.max_penetration));
  if (t.capped_steps > 0)
    line(
        fmt::format("  MARGIN      cut in {} steps: bodies move far in one step; a step of {:.2g} s would do",
                    t.capped_steps, t.suggested_step));
  line(
      fmt::format("  energy      kinetic {:.4g} J, potential {:.4g} J, dissipated {:.4g} J, drives {:.4g} J; "
                  "balance {:.2g} J",
                  t.kinetic_energy, t.potential_energy, world.energy.dissipated, world.energy.drive_work,
                  t.energy_balance));
  line(fmt::format(
      "  time        detect {:.3g} s, build {:.3g} s, solve {:.3g} s, integrate {:.3g} s, output {:.3g} s",
      t.seconds.detect, t.seconds.build, t.seconds.solve, t.seconds.integrate, t.seconds.output));
  line(fmt::format("  state       {:016x}", state_hash(world.bodies)));
  line(fmt::format("  results     {}/summary.json, steps.csv, forces.csv, frames/bodies.pvd", facts.out));
  (void)scene;
  return text;
}

}  // namespace talus
