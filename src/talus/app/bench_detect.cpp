// Detection: what a body costs, and whether that grows with their number.
#include <fmt/format.h>

#include "talus/app/bench.hpp"
#include "talus/app/bench_beds.hpp"
#include "talus/collision/detector.hpp"
#include "talus/sim/integrate.hpp"

namespace talus {
namespace {

constexpr double target_us = 0.5;  // settled spheres, one thread

/// \return µs per body.
double measure(const World& world, const std::string& sizes, int threads, BenchReport& report) {
  const Team team(threads);
  const Real h = 1e-3;
  BodyVector velocity;
  free_flight(world, h, team, velocity);
  Detector detector;
  Contacts contacts;
  const auto find = [&] {
    detector.find(world.bodies, world.shapes, world.materials, velocity, h, {}, team, contacts);
  };
  find();
  const int repetitions = static_cast<int>(std::max<Global>(5, 2'000'000 / world.bodies.size()));
  const BestTime t = best_time(std::min(repetitions, 40), find);
  const double us = 1e6 * t.seconds / world.bodies.size();
  report.add({.bench = "detect",
              .metric = "time per body, sizes " + sizes,
              .unit = "us",
              .bodies = world.bodies.size(),
              .contacts = contacts.size(),
              .threads = threads,
              .value = us,
              .ratio_to = sizes == "1:1" && threads == 1 ? fmt::format("target {} us", target_us) : "",
              .ratio = us / target_us,
              .spread = t.spread});
  return us;
}

}  // namespace

void bench_detect(const BenchSettings& settings, BenchReport& report) {
  for (const bool mixed : {false, true}) {
    const std::string sizes = mixed ? "1:1000" : "1:1";
    std::vector<std::vector<std::pair<double, double>>> seconds(settings.threads + 1);
    for (const Local n : {10'000, 100'000, 1'000'000}) {
      const World world = mixed ? random_mixture(n, 1000) : shaken_packing(n);
      for (int threads = 1; threads <= settings.threads; threads *= 2)
        seconds[threads].emplace_back(world.bodies.size(),
                                      measure(world, sizes, threads, report) * world.bodies.size());
    }
    for (int threads = 1; threads <= settings.threads; threads *= 2)
      report.add({.bench = "detect",
                  .metric = "growth exponent, sizes " + sizes,
                  .unit = "",
                  .threads = threads,
                  .value = growth_exponent(seconds[threads]),
                  .ratio_to = "target 1.05",
                  .ratio = growth_exponent(seconds[threads]) / 1.05});
  }
}

}  // namespace talus
