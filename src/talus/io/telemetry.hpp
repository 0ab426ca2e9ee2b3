// Telemetry: steps.csv (a row per step), forces.csv (a row per step and named body or face), and the totals
// over all steps that summary.json reports. Totals are part of a checkpoint, so that a resumed run sums up
// the whole.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "talus/io/csv_file.hpp"
#include "talus/sim/stepper.hpp"

namespace talus {

/// What one step of the run was: one call of the stepper, or several when it was retried with shorter steps.
struct StepRecord {
  Real h = 0;
  int pieces = 1;     ///< steps it was cut into by `on_unconverged = "retry"`
  StepReport report;  ///< counts summed, residuals and overlaps the largest, energies those at the end
  std::vector<NamedForce> forces;  ///< averaged over h
};

/// Adds a further piece of a step to what is known of the pieces before it.
void add_piece(StepRecord& record, const StepRecord& piece);

struct RunTotals {
  Global steps = 0;
  Global contacts_sum = 0, contacts_max = 0, contacts_first = 0, contacts_last = 0;
  Global iterations_sum = 0, iterations_max = 0, iterations_last = 0;
  Global applications_sum = 0, applications_max = 0;
  Real scaled_max = 0, scaled_last = 0, de20_max = 0, de20_last = 0;
  Global unconverged_steps = 0, worst_step = 0;  ///< the step with the largest scaled residual
  Global retried_steps = 0, capped_steps = 0;    ///< capped: a contact margin was cut because h is long
  Real suggested_step = 0;                       ///< smallest h suggested by capped margins, 0: none
  Real max_penetration = 0, max_speed = 0;
  Real kinetic_energy = 0, potential_energy = 0;    ///< last
  Real energy_balance = 0, energy_balance_max = 0;  ///< last, largest in size
  PhaseSeconds seconds;
  double wall_s = 0, cpu_s = 0;  ///< of the parts before this process, when resumed

  void add(Global step, const StepRecord& record);
};

/// Visits f(name, number) for every total: checkpoints follow from it.
template <class T, class F>
void for_each_total(T& t, F&& f) {
  f("steps", t.steps);
  f("contacts_sum", t.contacts_sum);
  f("contacts_max", t.contacts_max);
  f("contacts_first", t.contacts_first);
  f("contacts_last", t.contacts_last);
  f("iterations_sum", t.iterations_sum);
  f("iterations_max", t.iterations_max);
  f("iterations_last", t.iterations_last);
  f("applications_sum", t.applications_sum);
  f("applications_max", t.applications_max);
  f("scaled_max", t.scaled_max);
  f("scaled_last", t.scaled_last);
  f("de20_max", t.de20_max);
  f("de20_last", t.de20_last);
  f("unconverged_steps", t.unconverged_steps);
  f("worst_step", t.worst_step);
  f("retried_steps", t.retried_steps);
  f("capped_steps", t.capped_steps);
  f("suggested_step", t.suggested_step);
  f("max_penetration", t.max_penetration);
  f("max_speed", t.max_speed);
  f("kinetic_energy", t.kinetic_energy);
  f("potential_energy", t.potential_energy);
  f("energy_balance", t.energy_balance);
  f("energy_balance_max", t.energy_balance_max);
  f("detect_s", t.seconds.detect);
  f("build_s", t.seconds.build);
  f("solve_s", t.seconds.solve);
  f("integrate_s", t.seconds.integrate);
  f("exchange_s", t.seconds.exchange);
  f("output_s", t.seconds.output);
  f("wall_s", t.wall_s);
  f("cpu_s", t.cpu_s);
}

class Telemetry {
 public:
  /// Starts new files in `directory`, or takes up those that are there after the rows of `resume_after`.
  Telemetry(const std::filesystem::path& directory, std::optional<Global> resume_after);
  /// What was odd about files taken up.
  std::vector<std::string> notes() const;

  void write(const World& world, const StepRecord& record);
  void flush();
  void sync();

 private:
  CsvFile steps_, forces_;
};

}  // namespace talus
