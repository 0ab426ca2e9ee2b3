// talus bench: how fast, beside what the machine can do. Every figure is a record of one shape; the table on
// the terminal and the JSON file show the same records.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "talus/base/types.hpp"

namespace talus {

struct BenchRecord {
  std::string bench{}, metric{}, unit{};
  Global bodies = 0, contacts = 0;
  int threads = 1, ranks = 1;
  std::string precision = "f64";
  double value = 0;
  std::string ratio_to{};  ///< what the value is compared with, empty for none
  double ratio = 0;        ///< value over that
  double spread = 0;  ///< (largest − smallest) / smallest over the repetitions; the value is the best of them
};

/// Runs the named benches ("all" for the set that ends within minutes), prints a table, and writes the
/// records to `json_file` unless it is empty. `threads` is the largest number of threads tried. Throws
/// InputError for a name that is no bench. \return the exit code of the program.
int run_bench(const std::vector<std::string>& names, const std::string& json_file, int threads);

/// The names run_bench knows, with one line on each.
std::vector<std::pair<std::string, std::string>> bench_list();

// ---- for the benches themselves ----

struct BenchSettings {
  int threads = 2;
};

/// The records so far; each is a line of the table as soon as it is there.
class BenchReport {
 public:
  void add(BenchRecord record);
  const std::vector<BenchRecord>& records() const { return records_; }

 private:
  std::vector<BenchRecord> records_;
};

/// Best of several repetitions of f(), in seconds, and how much they differ.
struct BestTime {
  double seconds = 0, spread = 0;
};
BestTime best_time(int repetitions, const std::function<void()>& f);

/// Exponent p of the fit value ~ nᵖ through (n, value) on logarithmic scales.
double growth_exponent(const std::vector<std::pair<double, double>>& points);

/// STREAM triad on this machine in GB/s, measured once per number of threads and run of the program.
double stream_triad(int threads);

/// Time to stream what one iteration must at least move per contact: 88 B of contact and impulse data, and
/// 192 B of each body, at the triad's speed with as many threads; s.
double least_stream_time(Global bodies, Global contacts, int threads);

/// Highest resident memory since the last reset, bytes; 0 where the system does not say.
void reset_peak_memory();
std::size_t peak_memory();
std::size_t resident_memory();

void bench_stream(const BenchSettings& settings, BenchReport& report);
void bench_detect(const BenchSettings& settings, BenchReport& report);
void bench_apgd(const BenchSettings& settings, BenchReport& report);
void bench_step(const BenchSettings& settings, BenchReport& report);

}  // namespace talus
