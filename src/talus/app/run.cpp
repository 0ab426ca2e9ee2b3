// talus run SCENE.toml: from a scene to results in a directory.
#include "talus/io/run.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "talus/app/commands.hpp"
#include "talus/app/signals.hpp"

namespace talus {
namespace {

struct Arguments {
  std::string scene, out, solver, residual;
  Global steps = 0;
  Real until = 0, tolerance = 0;
  int threads = 0, max_iterations = 0;
  std::vector<std::string> set;
  bool resume = false, quiet = false;
};

/// Processors this process may use.
int available_threads() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return out + '"';
}

int run(const CLI::App& app, const Arguments& a) {
  RunOptions options;
  options.overrides = a.set;
  // The short options are keys of the scene like any other; given together with --set they win.
  if (app.count("--solver")) options.overrides.push_back("solver.name=" + quoted(a.solver));
  if (app.count("--residual")) options.overrides.push_back("solver.residual=" + quoted(a.residual));
  if (app.count("--tolerance")) options.overrides.push_back(fmt::format("solver.tolerance={}", a.tolerance));
  if (app.count("--max-iterations"))
    options.overrides.push_back(fmt::format("solver.max_iterations={}", a.max_iterations));
  Scene scene = load_scene(a.scene, options.overrides);

  options.out = app.count("--out") ? std::filesystem::path(a.out)
                                   : std::filesystem::path("out") / std::filesystem::path(a.scene).stem();
  if (app.count("--steps")) options.steps = a.steps;
  if (app.count("--until")) options.until = a.until;
  options.threads = app.count("--threads") ? a.threads : available_threads();
  options.resume = a.resume;
  options.quiet = a.quiet;
  options.stop = &stop_on_signals();
  return static_cast<int>(Run(std::move(scene), options).execute());
}

}  // namespace

void add_run_command(CLI::App& app, Command& command) {
  auto a = std::make_shared<Arguments>();
  CLI::App* sub = app.add_subcommand("run", "Simulate a scene; results go into a directory");
  sub->add_option("SCENE", a->scene, "Scene file (TOML; docs/scene.md)")->required();
  sub->add_option("--out", a->out, "Directory of the results (default: out/<name of the scene>)");
  CLI::Option* steps =
      sub->add_option("--steps", a->steps, "End after this many steps in all (default: the scene's duration)")
          ->check(CLI::NonNegativeNumber);
  sub->add_option("--until", a->until, "End at this simulated time, s")
      ->check(CLI::NonNegativeNumber)
      ->excludes(steps);
  sub->add_option("--threads", a->threads, "Threads (default: all processors); results do not depend on it")
      ->check(CLI::Range(1, 4096));
  sub->add_option("--solver", a->solver,
                  "Solver (`talus solvers` lists them); same as --set solver.name=...");
  sub->add_option("--tolerance", a->tolerance, "Wanted residual; same as --set solver.tolerance=...");
  sub->add_option("--residual", a->residual,
                  "Residual the tolerance is on; same as --set solver.residual=...");
  sub->add_option("--max-iterations", a->max_iterations, "Most iterations of one solve");
  sub->add_option("--set", a->set, "key.path=value: changes a key of the scene; may be repeated")
      ->allow_extra_args(false);
  sub->add_flag("--resume", a->resume, "Go on from the newest checkpoint in the directory");
  sub->add_flag("--quiet", a->quiet, "No progress and no closing summary; warnings stay");
  sub->callback([a, sub, &command] { command = [a, sub] { return run(*sub, *a); }; });
}

}  // namespace talus
