// Wall and CPU clocks. Times are reported, never used in a decision that changes results.
#pragma once
#include <chrono>
#include <ctime>

namespace talus {

inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Adds the wall time of a scope to a total.
class ScopedTimer {
 public:
  explicit ScopedTimer(double& total) : total_(total), start_(wall_seconds()) {}
  ~ScopedTimer() { total_ += wall_seconds() - start_; }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  double& total_;
  double start_;
};

}  // namespace talus
