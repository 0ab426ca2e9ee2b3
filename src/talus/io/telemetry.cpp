#include "talus/io/telemetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "talus/base/error.hpp"

namespace talus {
namespace {

// Overlap is measured by detection, so at the beginning of the step; energies and speeds are those of its
// end.
constexpr const char* steps_header =
    "step,time_s,step_s,pieces,contacts,rounds,iterations,applications,residual_scaled,residual_de20,status,"
    "kinetic_"
    "J,"
    "potential_J,dissipated_J,drive_work_J,energy_balance_J,max_penetration_m,max_speed_m_per_s,capped_"
    "margins,"
    "detect_s,build_s,solve_s,integrate_s,exchange_s,output_s";

constexpr const char* forces_header =
    "step,time_s,body,face,force_x_N,force_y_N,force_z_N,torque_x_Nm,torque_y_Nm,torque_z_Nm";

CsvFile open_csv(const std::filesystem::path& path, const char* header, std::optional<Global> resume_after) {
  return resume_after ? CsvFile(path, header, *resume_after) : CsvFile(path, header);
}

}  // namespace

void add_piece(StepRecord& record, const StepRecord& piece) {
  const Real h = record.h + piece.h, old_share = record.h / h, new_share = piece.h / h;
  for (std::size_t k = 0; k < record.forces.size() && k < piece.forces.size(); ++k) {
    NamedForce& f = record.forces[k];
    f.force = old_share * f.force + new_share * piece.forces[k].force;
    f.torque = old_share * f.torque + new_share * piece.forces[k].torque;
  }
  record.h = h;
  record.pieces += piece.pieces;
  StepReport& sum = record.report;
  const StepReport& now = piece.report;
  sum.contacts = now.contacts;
  sum.rounds += now.rounds;
  sum.solve.status = sum.solve.status == Status::converged ? now.solve.status : sum.solve.status;
  sum.solve.iterations += now.solve.iterations;
  sum.solve.applications += now.solve.applications;
  sum.solve.residual = std::max(sum.solve.residual, now.solve.residual);
  sum.solve.scaled = std::max(sum.solve.scaled, now.solve.scaled);
  sum.solve.de20 = std::max(sum.solve.de20, now.solve.de20);
  sum.solve.objective = now.solve.objective;
  sum.detector.pairs = now.detector.pairs;
  sum.detector.capped += now.detector.capped;
  if (now.detector.deepest > sum.detector.deepest) {
    sum.detector.deepest = now.detector.deepest;
    sum.detector.deepest_a = now.detector.deepest_a;
    sum.detector.deepest_b = now.detector.deepest_b;
  }
  sum.seconds.detect += now.seconds.detect;
  sum.seconds.build += now.seconds.build;
  sum.seconds.solve += now.seconds.solve;
  sum.seconds.integrate += now.seconds.integrate;
  sum.seconds.exchange += now.seconds.exchange;
  sum.kinetic_energy = now.kinetic_energy;
  sum.potential_energy = now.potential_energy;
  sum.energy_balance = now.energy_balance;
  sum.max_speed = std::max(sum.max_speed, now.max_speed);
}

void RunTotals::add(Global step, const StepRecord& record) {
  const StepReport& r = record.report;
  if (steps++ == 0) contacts_first = r.contacts;
  contacts_last = r.contacts;
  contacts_sum += r.contacts;
  contacts_max = std::max(contacts_max, r.contacts);
  iterations_last = r.solve.iterations;
  iterations_sum += r.solve.iterations;
  iterations_max = std::max<Global>(iterations_max, r.solve.iterations);
  applications_sum += r.solve.applications;
  applications_max = std::max<Global>(applications_max, r.solve.applications);
  if (r.solve.scaled > scaled_max || worst_step == 0) worst_step = step;
  scaled_last = r.solve.scaled;
  scaled_max = std::max(scaled_max, r.solve.scaled);
  de20_last = r.solve.de20;
  de20_max = std::max(de20_max, r.solve.de20);
  unconverged_steps += r.solve.status != Status::converged;
  retried_steps += record.pieces > 1;
  capped_steps += r.detector.capped > 0;
  if (r.detector.capped > 0 && r.detector.suggested_step > 0)
    suggested_step =
        suggested_step > 0 ? std::min(suggested_step, r.detector.suggested_step) : r.detector.suggested_step;
  max_penetration = std::max(max_penetration, r.detector.deepest);
  max_speed = std::max(max_speed, r.max_speed);
  kinetic_energy = r.kinetic_energy;
  potential_energy = r.potential_energy;
  energy_balance = r.energy_balance;
  if (std::abs(r.energy_balance) > std::abs(energy_balance_max)) energy_balance_max = r.energy_balance;
  seconds.detect += r.seconds.detect;
  seconds.build += r.seconds.build;
  seconds.solve += r.seconds.solve;
  seconds.integrate += r.seconds.integrate;
  seconds.exchange += r.seconds.exchange;
}

Telemetry::Telemetry(const std::filesystem::path& directory, std::optional<Global> resume_after)
    : steps_(open_csv(directory / "steps.csv", steps_header, resume_after)),
      forces_(open_csv(directory / "forces.csv", forces_header, resume_after)) {}

std::vector<std::string> Telemetry::notes() const {
  std::vector<std::string> notes;
  for (const CsvFile* file : {&steps_, &forces_})
    if (!file->note().empty()) notes.push_back(file->note());
  return notes;
}

void Telemetry::write(const World& world, const StepRecord& record) {
  const StepReport& r = record.report;
  fmt::memory_buffer line;
  fmt::format_to(std::back_inserter(line), "{},{},{},{},{},{},{},{},{:.6g},{:.6g},{}", world.step, world.time,
                 record.h, record.pieces, r.contacts, r.rounds, r.solve.iterations, r.solve.applications,
                 r.solve.scaled, r.solve.de20, status_name(r.solve.status));
  fmt::format_to(std::back_inserter(line), ",{},{},{},{},{:.6g},{:.6g},{:.6g},{}", r.kinetic_energy,
                 r.potential_energy, world.energy.dissipated, world.energy.drive_work, r.energy_balance,
                 r.detector.deepest, r.max_speed, r.detector.capped);
  fmt::format_to(std::back_inserter(line), ",{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g}", r.seconds.detect,
                 r.seconds.build, r.seconds.solve, r.seconds.integrate, r.seconds.exchange, r.seconds.output);
  steps_.row({line.data(), line.size()});

  for (const NamedForce& f : record.forces) {
    line.clear();
    fmt::format_to(std::back_inserter(line), "{},{},{},{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g}",
                   world.step, world.time, csv_field(world.names[f.name]),
                   f.face < 0 ? std::string_view() : face_name(static_cast<Face>(f.face)), f.force.x(),
                   f.force.y(), f.force.z(), f.torque.x(), f.torque.y(), f.torque.z());
    forces_.row({line.data(), line.size()});
  }
}

void Telemetry::flush() {
  steps_.flush();
  forces_.flush();
}

void Telemetry::sync() {
  steps_.sync();
  forces_.sync();
}

}  // namespace talus
