#include "talus/io/run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "talus/base/timer.hpp"
#include "talus/io/fclib_problem.hpp"
#include "talus/io/output_file.hpp"

namespace talus {
namespace {

constexpr int most_halvings = 4;      ///< of a step that is retried: down to h/16
constexpr Global warnings_shown = 5;  ///< unconverged steps told one by one; the summary counts all

/// Steps of length h until `time`; a hair more than a whole number is that number.
Global steps_until(Real time, Real h) {
  return static_cast<Global>(std::ceil(time / h - 1e-9));
}

}  // namespace

Run::Run(Scene scene, RunOptions options)
    : scene_(std::move(scene)),
      options_(std::move(options)),
      resolved_(resolved_toml(scene_)),
      team_(options_.threads),
      world_(build_world(scene_)),
      store_(options_.out / "checkpoints", scene_.output.checkpoints.keep),
      frames_(options_.out / "frames", scene_.output.frames.contacts),
      progress_(stderr, options_.quiet) {
  last_step_ = options_.steps   ? *options_.steps
               : options_.until ? steps_until(*options_.until, scene_.simulation.step)
                                : step_count(scene_);
  facts_.steps_wanted = last_step_;
  facts_.threads = team_.threads();
  facts_.ranks = team_.comm().size();
  facts_.out = options_.out.string();
  facts_.overrides = options_.overrides;
  guards_ = std::make_unique<Guards>(scene_.guards, world_);
}

Run::~Run() {
  if (lock_ >= 0) ::close(lock_);
}

void Run::say(const std::string& text) const {
  progress_.clear();
  fmt::print(stderr, "{}\n", text);
}

// ---- before the loop ----

ExitCode Run::execute() {
  wall_start_ = wall_seconds();
  cpu_start_ = cpu_seconds();
  if (options_.resume) find_checkpoint();
  try {
    open_outputs();
    announce();
    return loop();
  } catch (const RunError& error) {
    finish("failed", error.what());
    say(fmt::format("talus: {}\n  {}", error.what(), kept()));
    return error.code();
  }
}

/// Takes up the newest checkpoint that is whole; without any, the run begins at the start, and says so.
void Run::find_checkpoint() {
  std::vector<std::string> damaged;
  const std::filesystem::path good = store_.newest_good(damaged);
  for (const std::string& complaint : damaged)
    say(fmt::format("warning: {}; the one before is used", complaint));
  if (good.empty()) {
    if (!damaged.empty())
      throw InputError(fmt::format("{}: no checkpoint here is whole; start again without --resume",
                                   (options_.out / "checkpoints").string()));
    say(fmt::format("no checkpoint in {} yet: starting from the beginning", options_.out.string()));
    return;
  }
  check_same_scene(read_checkpoint_info(good));
  read_checkpoint(good, world_, state_);
  if (world_.step > last_step_)
    throw InputError(fmt::format("{} is at step {}, beyond the end of this run at step {}", good.string(),
                                 world_.step, last_step_));
  checkpoint_ = good;
  checkpoint_step_ = world_.step;
  facts_.resumed_from = good.string();
  wall_before_ = state_.totals.wall_s;
  cpu_before_ = state_.totals.cpu_s;
}

void Run::check_same_scene(const CheckpointInfo& info) const {
  const Scene before = parse_scene(info.scene, "scene of the checkpoint");
  std::string refused;
  for (const SceneDifference& d : compare_scenes(before, scene_)) {
    const std::string change = fmt::format("{}: {} → {}", d.key, d.before.empty() ? "(absent)" : d.before,
                                           d.after.empty() ? "(absent)" : d.after);
    if (d.allowed_on_resume)
      say("resuming with a changed scene: " + change);
    else
      refused += "\n  " + change;
  }
  if (!refused.empty())
    throw InputError(
        fmt::format("{}: the scene differs from the one that was started in keys that cannot change on the "
                    "way:{}\nRun it into "
                    "another directory, or put the keys back.",
                    scene_.path, refused));
}

/// One run at a time per directory; the system lets go of the lock however this process ends.
void Run::lock_directory() {
  make_directory(options_.out);
  lock_ = ::open(options_.out.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw InputError(fmt::format("{}: another run is writing here; give this one its own directory (--out)",
                                 options_.out.string()));
}

void Run::open_outputs() {
  lock_directory();
  make_directory(options_.out / "frames");
  make_directory(options_.out / "checkpoints");
  std::optional<Global> resume_after;
  if (checkpoint_.empty()) {
    store_.clear();  // of an earlier run: a later --resume must not take them up
    std::error_code ignored;
    std::filesystem::remove(options_.out / "summary.json", ignored);
    std::filesystem::remove_all(options_.out / "problems", ignored);
  } else {
    store_.remove_parts();
    store_.set_aside_newer(checkpoint_);
    resume_after = world_.step;
  }
  frames_.resume(state_.frame_times, world_);
  write_text_file(options_.out / "scene.resolved.toml", resolved_);
  telemetry_ = std::make_unique<Telemetry>(options_.out, resume_after);
  for (const std::string& note : telemetry_->notes()) say("warning: " + note);

  StepSettings settings = step_settings(scene_);
  if (options_.stop) settings.solver.monitor = [this](const Iteration&) { return !stop_asked(); };
  if (scene_.output.problems > 0)
    settings.observer = [this](const ConeProblem& problem, const DualVector& gamma) {
      write_problem(problem, gamma);
    };
  stepper_ = std::make_unique<Stepper>(world_, settings, team_);
  snapshots_.resize(scene_.solver.on_unconverged == OnUnconverged::retry ? most_halvings + 1 : 1);
  checkpoint_time_ = wall_seconds();
}

void Run::announce() const {
  for (const std::string& warning : scene_.warnings) say("warning: " + warning);
  if (options_.quiet) return;
  const std::string title = scene_.title.empty() ? scene_.path : scene_.title;
  say(fmt::format("{}: {} bodies, {} steps of {:g} s, {} {}", title, body_count(world_), last_step_,
                  scene_.simulation.step, team_.threads(), team_.threads() == 1 ? "thread" : "threads"));
  say("solver: " + solver_text(scene_));
  if (!checkpoint_.empty())
    say(fmt::format("resuming at step {}, {:.6g} s, from {}", world_.step, world_.time,
                    checkpoint_.string()));
}

// ---- the loop ----

ExitCode Run::loop() {
  progress_.start(world_.step, last_step_, scene_.simulation.step);
  if (world_.step == 0 && frames_.times().empty() && frame_due(0)) write_frame();
  while (world_.step < last_step_) {
    StepRecord record;
    const Outcome outcome = advance(record);
    if (outcome == Outcome::interrupted) return stopped_by_signal();
    if (outcome == Outcome::unconverged) return stopped_unconverged(record);
    const auto trouble = guards_->check(world_, stepper_->contacts(), record.report, team_,
                                        snapshots_[0].energy().dissipated, state_.energy_scale);
    if (trouble) return stopped_by_guard(world_.step, *trouble);
    record_step(record);
  }
  if (checkpoint_step_ != world_.step) write_checkpoint();
  finish("finished", "");
  if (!options_.quiet) fmt::print("{}", summary_text(scene_, world_, state_.totals, facts_));
  return ExitCode::ok;
}

/// One step of the scene's length, whole or not at all. \post unless done, the world is as it was.
Run::Outcome Run::advance(StepRecord& record) {
  if (stop_asked()) return Outcome::interrupted;
  const Global next = step_under_way_ = world_.step + 1;
  const Outcome outcome = attempt(scene_.simulation.step, 0, record);
  if (outcome == Outcome::done) {
    world_.step = next;                                              // however many pieces it took
    world_.time = static_cast<Real>(next) * scene_.simulation.step;  // on the grid, without summed rounding
  } else {
    snapshots_[0].restore(world_, team_);
  }
  return outcome;
}

/// A step of length h, which `retry` cuts into halves, and those again, until all converge.
Run::Outcome Run::attempt(Real h, int halvings, StepRecord& record) {
  snapshots_[halvings].take(world_, team_);
  last_piece_ = h;
  record = StepRecord{h, 1, stepper_->step(h), {}};
  const Status status = record.report.solve.status;
  if (status == Status::interrupted) return Outcome::interrupted;
  record.forces = stepper_->named_forces();
  if (status == Status::converged || scene_.solver.on_unconverged == OnUnconverged::warn)
    return Outcome::done;
  if (scene_.solver.on_unconverged == OnUnconverged::stop || halvings == most_halvings)
    return Outcome::unconverged;

  const StepReport failed = record.report;
  snapshots_[halvings].restore(world_, team_);
  StepRecord second;
  if (const Outcome o = attempt(h / 2, halvings + 1, record); o != Outcome::done) return o;
  if (const Outcome o = attempt(h / 2, halvings + 1, second); o != Outcome::done) {
    record = second;
    return o;
  }
  add_piece(record, second);
  record.report.solve.iterations += failed.solve.iterations;  // work done, though thrown away
  record.report.solve.applications += failed.solve.applications;
  record.report.seconds.solve += failed.seconds.solve;
  return Outcome::done;
}

void Run::record_step(StepRecord& record) {
  double seconds = 0;
  {
    const ScopedTimer timer(seconds);
    if (frame_due(world_.step)) write_frame();
  }
  record.report.seconds.output = seconds;
  state_.totals.add(world_.step, record);
  {
    const ScopedTimer timer(seconds);
    telemetry_->write(world_, record);
    if (checkpoint_due()) write_checkpoint();  // last: it counts on the row and the frame
  }
  state_.totals.seconds.output += seconds;
  if (record.report.solve.status != Status::converged) warn_unconverged(record.report);
  progress_.step(world_, record.report);
}

void Run::warn_unconverged(const StepReport& report) {
  const Global count = state_.totals.unconverged_steps;
  if (count > warnings_shown) return;
  say(fmt::format(
      "warning: step {} did not converge: residual \"{}\" {:.2e} after {} iterations, {:g} wanted{}",
      world_.step, scene_.solver.residual, report.solve.residual, report.solve.iterations,
      scene_.solver.tolerance, count == warnings_shown ? " (further ones are counted, not told)" : ""));
}

bool Run::frame_due(Global step) const {
  const SceneFrames& f = scene_.output.frames;
  if (f.every_steps > 0) return step % f.every_steps == 0;
  if (f.every <= 0) return false;
  // Frame k belongs to the first step that ends at k·every or later.
  const auto frames_by = [&](Global s) {
    return std::floor(static_cast<Real>(s) * scene_.simulation.step / f.every + 1e-9);
  };
  return step == 0 || frames_by(step) > frames_by(step - 1);
}

void Run::write_frame() {
  frames_.write(world_, {stepper_->contacts(), stepper_->impulses(), last_piece_});
  state_.frame_times = frames_.times();
}

/// Every N-th step's problem, of its last piece when it was retried with shorter steps.
void Run::write_problem(const ConeProblem& problem, const DualVector& gamma) const {
  if (step_under_way_ % scene_.output.problems != 0) return;
  write_step_problem(options_.out / "problems", step_under_way_, world_.time, last_piece_, problem,
                     world_.bodies, gamma);
}

bool Run::checkpoint_due() const {
  const SceneCheckpoints& c = scene_.output.checkpoints;
  if (c.every_steps > 0 && world_.step % c.every_steps == 0) return true;
  return c.every_minutes > 0 && wall_seconds() - checkpoint_time_ >= 60 * c.every_minutes;
}

void Run::write_checkpoint() {
  telemetry_->sync();  // what the checkpoint counts on must be there first
  state_.totals.wall_s = wall_before_ + wall_seconds() - wall_start_;
  state_.totals.cpu_s = cpu_before_ + cpu_seconds() - cpu_start_;
  checkpoint_ = store_.write(world_, state_, resolved_);
  checkpoint_step_ = world_.step;
  checkpoint_time_ = wall_seconds();
}

// ---- the end ----

ExitCode Run::stopped_by_signal() {
  const int signal = options_.stop->load();
  if (checkpoint_step_ != world_.step) write_checkpoint();
  const std::string reason = signal == SIGINT ? "interrupted (SIGINT)" : "terminated (SIGTERM)";
  finish("interrupted", reason);
  say(fmt::format("{} in step {}, which is discarded\n  {}", reason, world_.step + 1, kept()));
  return signal == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
}

ExitCode Run::stopped_unconverged(const StepRecord& record) {
  if (checkpoint_step_ != world_.step) write_checkpoint();
  const SolveReport& s = record.report.solve;
  const std::string reason = fmt::format(
      "step {} did not converge{}: residual \"{}\" {:.2e} after {} iterations, {:g} wanted "
      "(solver.on_unconverged = "
      "\"{}\")",
      world_.step + 1,
      record.h < scene_.simulation.step ? fmt::format(", not even with a step of {:.3g} s", record.h) : "",
      scene_.solver.residual, s.residual, s.iterations, scene_.solver.tolerance,
      scene_.solver.on_unconverged == OnUnconverged::stop ? "stop" : "retry");
  finish("not_converged", reason);
  say(fmt::format("talus: {}\n  {}", reason, kept()));
  return ExitCode::not_converged;
}

ExitCode Run::stopped_by_guard(Global step, const std::string& trouble) {
  snapshots_[0].restore(world_, team_);
  if (checkpoint_step_ != world_.step) write_checkpoint();
  const std::string reason = fmt::format("step {}: {}", step, trouble);
  finish("guard", reason);
  say(fmt::format("talus: {}\n  the state before that step is kept; {}", reason, kept()));
  return ExitCode::physics_guard;
}

std::string Run::kept() const {
  if (checkpoint_.empty()) return "no checkpoint had been written yet";
  return fmt::format("step {} is kept in {}; --resume goes on from there", checkpoint_step_,
                     checkpoint_.string());
}

/// The summary; where even that cannot be written, the run has said why already or says it now.
void Run::finish(const std::string& outcome, const std::string& reason) {
  progress_.clear();
  facts_.outcome = outcome;
  facts_.reason = reason;
  facts_.wall_s = wall_before_ + wall_seconds() - wall_start_;
  facts_.cpu_s = cpu_before_ + cpu_seconds() - cpu_start_;
  const std::string text = summary_json(scene_, world_, state_.totals, facts_);
  if (outcome != "failed") {
    telemetry_->flush();
    write_text_file(options_.out / "summary.json", text);
    return;
  }
  try {
    write_text_file(options_.out / "summary.json", text);
  } catch (const RunError&) {
    // the disk is full: that is what the caller is about to say
  }
}

}  // namespace talus
