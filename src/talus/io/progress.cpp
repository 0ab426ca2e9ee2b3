#include "talus/io/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "talus/base/timer.hpp"
#include "talus/io/summary.hpp"

namespace talus {
namespace {
constexpr double terminal_interval = 0.2, plain_interval = 10;  // seconds between lines
}

Progress::Progress(std::FILE* stream, bool quiet)
    : stream_(stream), quiet_(quiet), terminal_(::isatty(::fileno(stream)) == 1) {}

void Progress::start(Global first_step, Global last_step, Real h) {
  first_ = last_step_shown_ = first_step;
  last_ = last_step;
  h_ = h;
  started_ = last_time_ = wall_seconds();
}

std::string progress_line(Global step, Global last, Real time, Real end_time, double steps_per_second,
                          const StepReport& report, double seconds_left) {
  const double percent = last > 0 ? 100.0 * static_cast<double>(step) / static_cast<double>(last) : 100;
  return fmt::format(
      "{:.0f}%  {:.4g}/{:.4g} s  {} left  {:.3g} steps/s  {} contacts  {} iter  scaled {:.1e}{}", percent,
      time, end_time, duration_text(seconds_left), steps_per_second, report.contacts, report.solve.iterations,
      report.solve.scaled, report.solve.status == Status::converged ? "" : " UNCONVERGED");
}

void Progress::step(const World& world, const StepReport& report) {
  if (quiet_) return;
  const double now = wall_seconds(), since = now - last_time_;
  if (since < (terminal_ ? terminal_interval : plain_interval)) return;
  // Steps per second of late, leaning on what was seen before so that the forecast does not jump.
  const double rate = static_cast<double>(world.step - last_step_shown_) / since;
  recent_rate_ = recent_rate_ == 0 ? rate : 0.8 * recent_rate_ + 0.2 * rate;
  const double left = recent_rate_ > 0 ? static_cast<double>(last_ - world.step) / recent_rate_ : 0;
  std::string line =
      progress_line(world.step, last_, world.time, static_cast<Real>(last_) * h_, recent_rate_, report, left);
  if (terminal_) {
    winsize size{};
    const std::size_t width =
        ::ioctl(::fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    if (line.size() >= width) line.resize(width - 1);
    fmt::print(stream_, "\r\x1b[K{}", line);
    shown_ = true;
  } else {
    fmt::print(stream_, "{}\n", line);
  }
  std::fflush(stream_);
  last_time_ = now;
  last_step_shown_ = world.step;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stream_, "\r\x1b[K");
  std::fflush(stream_);
  shown_ = false;
}

}  // namespace talus
