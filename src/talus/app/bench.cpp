#include "talus/app/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "talus/base/array.hpp"
#include "talus/base/error.hpp"
#include "talus/base/team.hpp"
#include "talus/base/timer.hpp"

namespace talus {
namespace {

struct Bench {
  const char* name;
  const char* what;
  void (*run)(const BenchSettings&, BenchReport&);
};
constexpr Bench benches[] = {
    {"stream", "STREAM triad: the memory bandwidth the others are compared with", bench_stream},
    {"detect", "detection: µs per body for 1e4 to 1e6 bodies of equal sizes and of sizes 1:1000",
     bench_detect},
    {"apgd", "APGD: ns per contact and iteration for 1e4 to 1e6 spheres", bench_apgd},
    {"step", "whole steps: detection, solver, memory per body and per contact", bench_step},
};

void print_header() {
  fmt::print("{:<8} {:>9} {:>9} {:>3} {:<34} {:>10} {:<12} {:>7} {:<22} {:>6}\n", "bench", "bodies",
             "contacts", "thr", "metric", "value", "unit", "ratio", "to", "spread");
}

void print(const BenchRecord& r) {
  const auto count = [](Global n) { return n > 0 ? fmt::format("{}", n) : std::string("-"); };
  fmt::print("{:<8} {:>9} {:>9} {:>3} {:<34} {:>10.4g} {:<12} {:>7} {:<22} {:>5.0f}%\n", r.bench,
             count(r.bodies), count(r.contacts), r.threads, r.metric, r.value, r.unit,
             r.ratio_to.empty() ? "" : fmt::format("{:.3g}", r.ratio), r.ratio_to, 100 * r.spread);
}

nlohmann::ordered_json to_json(const BenchRecord& r) {
  nlohmann::ordered_json j;
  j["bench"] = r.bench;
  j["bodies"] = r.bodies;
  j["contacts"] = r.contacts;
  j["threads"] = r.threads;
  j["ranks"] = r.ranks;
  j["precision"] = r.precision;
  j["metric"] = r.metric;
  j["value"] = r.value;
  j["unit"] = r.unit;
  j["ratio_to"] = r.ratio_to;
  j["ratio"] = r.ratio;
  j["spread"] = r.spread;
  return j;
}

void write_json(const std::string& file, const BenchReport& report) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const BenchRecord& r : report.records()) list.push_back(to_json(r));
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code ignored;  // a folder that cannot be made shows when the file cannot be written
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  std::ofstream out(file);
  out << list.dump(1) << "\n";
  out.flush();
  if (!out) throw RunError(fmt::format("cannot write the bench records to {}", file));
}

}  // namespace

void BenchReport::add(BenchRecord record) {
  print(record);
  std::fflush(stdout);
  records_.push_back(std::move(record));
}

BestTime best_time(int repetitions, const std::function<void()>& f) {
  double least = 0, most = 0;
  for (int k = 0; k < repetitions; ++k) {
    const double start = wall_seconds();
    f();
    const double seconds = wall_seconds() - start;
    least = k == 0 ? seconds : std::min(least, seconds);
    most = std::max(most, seconds);
  }
  return {least, most / least - 1};
}

double growth_exponent(const std::vector<std::pair<double, double>>& points) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& [n, value] : points) {
    const double x = std::log(n), y = std::log(value);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const double k = static_cast<double>(points.size());
  return (k * sxy - sx * sy) / (k * sxx - sx * sx);
}

double stream_triad(int threads) {
  static std::map<int, double> measured;
  if (const auto it = measured.find(threads); it != measured.end()) return it->second;
  const Local n = 1 << 24;  // three arrays of 128 MB: well beyond any cache
  Array<Real> a(n), b(n), c(n);
  const Team team(threads);
  team.for_each(n, [&](Local i) { a[i] = 0, b[i] = 1, c[i] = 2; });
  const BestTime t = best_time(8, [&] {
    team.for_ranges(n, [&](Local begin, Local end) {
      for (Local i = begin; i < end; ++i) a[i] = b[i] + 3.0 * c[i];
    });
  });
  return measured[threads] = 3.0 * sizeof(Real) * n / t.seconds * 1e-9;
}

double least_stream_time(Global bodies, Global contacts, int threads) {
  return (88.0 + 192.0 * static_cast<double>(bodies) / static_cast<double>(contacts)) /
         (1e9 * stream_triad(threads));
}

namespace {

/// A line "name: 1234 kB" of /proc/self/status, in bytes.
std::size_t process_status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return 1024 * std::stoull(line.substr(name.size() + 1));
  return 0;
}

/// Which processor, how many of them, which compiler: figures mean little without.
std::string machine() {
  std::string model = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  std::ifstream load("/proc/loadavg");
  double busy = 0;
  load >> busy;
  return fmt::format("{}, {} processors, load {:.1f}; compiled by {} {}", model,
                     std::thread::hardware_concurrency(), busy,
#if defined(__clang__)
                     "clang", __clang_version__);
#else
                     "gcc", __VERSION__);
#endif
}

}  // namespace

void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}
std::size_t peak_memory() {
  return process_status("VmHWM");
}
std::size_t resident_memory() {
  return process_status("VmRSS");
}

void bench_stream(const BenchSettings& settings, BenchReport& report) {
  for (int threads = 1; threads <= settings.threads; threads *= 2)
    report.add({.bench = "stream",
                .metric = "triad",
                .unit = "GB/s",
                .threads = threads,
                .value = stream_triad(threads)});
}

std::vector<std::pair<std::string, std::string>> bench_list() {
  std::vector<std::pair<std::string, std::string>> list{{"all", "every bench below"}};
  for (const Bench& b : benches) list.emplace_back(b.name, b.what);
  return list;
}

int run_bench(const std::vector<std::string>& names, const std::string& json_file, int threads) {
  std::vector<const Bench*> wanted;
  for (const std::string& name : names) {
    const auto before = wanted.size();
    for (const Bench& b : benches)
      if (name == b.name || name == "all") wanted.push_back(&b);
    if (wanted.size() == before) {
      std::string known;
      for (const auto& [n, what] : bench_list()) known += fmt::format("\n  {:<8} {}", n, what);
      throw InputError(fmt::format("no bench is called '{}'; there are:{}", name, known));
    }
  }
  BenchSettings settings;
  settings.threads =
      threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  BenchReport report;
  fmt::print("{}\n\n", machine());
  print_header();
  for (const Bench* b : wanted) b->run(settings, report);
  if (!json_file.empty()) write_json(json_file, report);
  return 0;
}

}  // namespace talus
