// The solver alone on one step's problem, and whole steps. The number of iterations is fixed: what is
// measured is the cost of one, not how many it takes.
#include <fmt/format.h>

#include <algorithm>

#include "talus/app/bench.hpp"
#include "talus/app/bench_beds.hpp"
#include "talus/collision/detector.hpp"
#include "talus/problem/cone_problem.hpp"
#include "talus/sim/integrate.hpp"
#include "talus/sim/stepper.hpp"

namespace talus {
namespace {

constexpr Real h = 1e-3;
constexpr Local sizes[] = {10'000, 100'000, 1'000'000};

SolverSettings iterations(int count) {
  SolverSettings settings;
  settings.solver = "apgd";
  settings.tolerance = 1e-300;  // never reached
  settings.max_iterations = count;
  return settings;
}

/// Iterations that take about a second for so many bodies.
int enough_iterations(Local bodies) {
  return std::clamp<int>(4'000'000 / bodies, 20, 100);
}

BenchRecord per_contact_iteration(const std::string& bench, Global bodies, Global contacts, int threads,
                                  double seconds, double spread) {
  const double least = least_stream_time(bodies, contacts, threads);
  return {.bench = bench,
          .metric = "time per contact and iteration",
          .unit = "ns",
          .bodies = bodies,
          .contacts = contacts,
          .threads = threads,
          .value = 1e9 * seconds,
          .ratio_to = fmt::format("STREAM {:.1f} ns", 1e9 * least),
          .ratio = seconds / least,
          .spread = spread};
}

void add_growth(const std::string& bench, const std::string& metric, int threads,
                const std::vector<std::pair<double, double>>& points, BenchReport& report) {
  const double exponent = growth_exponent(points);
  report.add({.bench = bench,
              .metric = "growth exponent, " + metric,
              .threads = threads,
              .value = exponent,
              .ratio_to = "target 1.05",
              .ratio = exponent / 1.05});
}

}  // namespace

void bench_apgd(const BenchSettings& settings, BenchReport& report) {
  std::vector<std::vector<std::pair<double, double>>> cost(settings.threads + 1);
  for (const Local n : sizes) {
    const World world = cubic_packing(n);
    for (int threads = 1; threads <= settings.threads; threads *= 2) {
      const Team team(threads);
      BodyVector velocity;
      free_flight(world, h, team, velocity);
      Contacts contacts;
      Detector().find(world.bodies, world.shapes, world.materials, velocity, h, {}, team, contacts);
      const ConeProblem problem =
          ConeProblem::from_contacts(contacts, world.bodies, velocity, {h, -1, world.gravity.norm()},
                                     step_units(world, velocity, h, team), team);
      const SolverSettings solver = iterations(enough_iterations(n));
      int done = 1;
      const BestTime t = best_time(3, [&] {
        DualVector gamma = problem.zero();
        done = std::max(1, solve(problem, gamma, solver).iterations);
      });
      const double each = t.seconds / (static_cast<double>(contacts.size()) * done);
      report.add(per_contact_iteration("apgd", n, contacts.size(), threads, each, t.spread));
      cost[threads].emplace_back(contacts.size(), each * contacts.size());
    }
  }
  for (int threads = 1; threads <= settings.threads; threads *= 2)
    add_growth("apgd", "an iteration", threads, cost[threads], report);
}

void bench_step(const BenchSettings& settings, BenchReport& report) {
  std::vector<std::vector<std::pair<double, double>>> cost(settings.threads + 1);
  for (const Local n : sizes)
    for (int threads = 1; threads <= settings.threads; threads *= 2) {
      const std::size_t before = resident_memory();
      reset_peak_memory();
      World world = cubic_packing(n);
      const Team team(threads);
      StepSettings step;
      step.solver = iterations(20);
      Stepper stepper(world, step, team);
      stepper.step(h);  // the first sorts the bodies and finds its memory
      double detect = 0, solver = 0, whole = 0;
      Global contacts = 0;
      const int steps = n < 100'000 ? 10 : 3;
      for (int k = 0; k < steps; ++k) {
        const StepReport r = stepper.step(h);
        const PhaseSeconds& s = r.seconds;
        const double all = s.detect + s.build + s.solve + s.integrate + s.exchange;
        const double each = s.solve / (static_cast<double>(r.contacts) * std::max(1, r.solve.iterations));
        detect = k == 0 ? s.detect : std::min(detect, s.detect);
        solver = k == 0 ? each : std::min(solver, each);
        whole = k == 0 ? all : std::min(whole, all);
        contacts = r.contacts;
      }
      const double bytes = static_cast<double>(peak_memory()) - static_cast<double>(before);
      const auto record = [&](const std::string& metric, double value, const std::string& unit,
                              double target) {
        report.add({.bench = "step",
                    .metric = metric,
                    .unit = unit,
                    .bodies = n,
                    .contacts = contacts,
                    .threads = threads,
                    .value = value,
                    .ratio_to = target > 0 ? fmt::format("target {:g} {}", target, unit) : "",
                    .ratio = target > 0 ? value / target : 0});
      };
      report.add(per_contact_iteration("step", n, contacts, threads, solver, 0));
      record("detection per body", 1e6 * detect / n, "us", threads == 1 ? 1 : 0);
      record("whole step, 20 iterations, per body", 1e6 * whole / n, "us", 0);
      if (threads == 1 && bytes > 0) {
        record("peak memory per body", bytes / n, "B", 1500);
        record("peak memory per contact", bytes / static_cast<double>(contacts), "B", 0);
      }
      cost[threads].emplace_back(n, whole);
    }
  for (int threads = 1; threads <= settings.threads; threads *= 2)
    add_growth("step", "a step", threads, cost[threads], report);
}

}  // namespace talus
