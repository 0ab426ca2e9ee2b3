// Run: a scene from its start (or from a checkpoint) to its end, with all that a run writes on the way.
//
//   Run run(scene, options);
//   ExitCode code = run.execute();
//
// The loop is: step, guards, telemetry, frame when due, checkpoint when due. A step either ends whole, or is
// taken back: after a signal, an unconverged solve or a tripped guard the state kept is that of the step's
// beginning.
#pragma once
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "talus/base/error.hpp"
#include "talus/io/checkpoint.hpp"
#include "talus/io/frames.hpp"
#include "talus/io/guards.hpp"
#include "talus/io/progress.hpp"
#include "talus/io/scene.hpp"
#include "talus/io/snapshot.hpp"
#include "talus/io/summary.hpp"
#include "talus/io/telemetry.hpp"

namespace talus {

struct RunOptions {
  std::filesystem::path out;    ///< directory of all results
  std::optional<Global> steps;  ///< end after this many, counted from the scene's start
  std::optional<Real> until;    ///< end at this simulated time, s
  int threads = 1;
  bool resume = false;
  bool quiet = false;
  std::vector<std::string> overrides;  ///< what the command line changed in the scene; for the summary
  /// Non-zero once a signal came: its number. The solver stops at its next iteration.
  const std::atomic<int>* stop = nullptr;
};

class Run {
 public:
  Run(Scene scene, RunOptions options);
  ~Run();

  /// Runs to the end. Bad input throws InputError before anything is written; what goes wrong later is told
  /// on stderr and returned.
  ExitCode execute();

  const World& world() const { return world_; }
  const RunTotals& totals() const { return state_.totals; }
  const RunFacts& facts() const { return facts_; }

 private:
  enum class Outcome { done, interrupted, unconverged };

  // before the loop
  void find_checkpoint();
  void check_same_scene(const CheckpointInfo& info) const;
  void lock_directory();
  void open_outputs();
  void announce() const;

  // one step
  Outcome advance(StepRecord& record);
  Outcome attempt(Real h, int halvings, StepRecord& record);
  bool stop_asked() const { return options_.stop && options_.stop->load(std::memory_order_relaxed) != 0; }

  // after a step
  void record_step(StepRecord& record);
  bool frame_due(Global step) const;
  void write_frame();
  void write_problem(const ConeProblem& problem, const DualVector& gamma) const;
  bool checkpoint_due() const;
  void write_checkpoint();
  void warn_unconverged(const StepReport& report);

  // the end
  ExitCode loop();
  ExitCode stopped_by_signal();
  ExitCode stopped_unconverged(const StepRecord& record);
  ExitCode stopped_by_guard(Global step, const std::string& trouble);
  void finish(const std::string& outcome, const std::string& reason);
  std::string kept() const;
  void say(const std::string& text) const;

  Scene scene_;
  RunOptions options_;
  std::string resolved_;  ///< the scene's text
  Global last_step_ = 0;
  Team team_;
  World world_;
  RunState state_;
  RunFacts facts_;
  std::filesystem::path checkpoint_;  ///< the last good one, empty when there is none
  Global checkpoint_step_ = -1;
  double checkpoint_time_ = 0;  ///< wall clock
  int lock_ = -1;

  std::unique_ptr<Guards> guards_;
  std::unique_ptr<Stepper> stepper_;
  CheckpointStore store_;
  FrameWriter frames_;
  std::unique_ptr<Telemetry> telemetry_;
  mutable Progress progress_;
  std::vector<Snapshot> snapshots_;  ///< one per level of halving
  Real last_piece_ = 0;              ///< length of the stepper's last step
  Global step_under_way_ = 0;
  double wall_start_ = 0, cpu_start_ = 0, wall_before_ = 0, cpu_before_ = 0;
};

}  // namespace talus
