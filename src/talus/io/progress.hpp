// Progress: one line that renews itself on a terminal, a plain line now and then elsewhere, nothing when
// quiet.
#pragma once
#include <cstdio>
#include <string>

#include "talus/base/types.hpp"
#include "talus/sim/stepper.hpp"

namespace talus {

class Progress {
 public:
  Progress(std::FILE* stream, bool quiet);
  ~Progress() { clear(); }

  /// The run goes from first_step to last_step.
  void start(Global first_step, Global last_step, Real h);
  void step(const World& world, const StepReport& report);
  /// Takes the line off the terminal so that something else can be said.
  void clear();

 private:
  std::FILE* stream_;
  bool quiet_, terminal_, shown_ = false;
  Global first_ = 0, last_ = 0;
  Real h_ = 0;
  double started_ = 0, last_time_ = 0, recent_rate_ = 0;
  Global last_step_shown_ = 0;
};

/// The line itself.
std::string progress_line(Global step, Global last, Real time, Real end_time, double steps_per_second,
                          const StepReport& report, double seconds_left);

}  // namespace talus
