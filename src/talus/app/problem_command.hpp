// What `talus solve` and `talus compare` share: the options of a problem file, reading it, and saying what it
// is.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "talus/base/team.hpp"
#include "talus/io/fclib_problem.hpp"
#include "talus/solvers/solver.hpp"

namespace talus {

struct ProblemOptions {
  std::string path;
  std::string model = "ccp";
  double tolerance = 1e-6;
  std::string residual = "natural";
  int max_iterations = 10000;
  int threads = 1;
  double time_limit = 0;         ///< CPU seconds of one solve; 0: none
  std::vector<std::string> set;  ///< "solver.NAME.option=value"
};

void add_problem_options(CLI::App& command, ProblemOptions& options);

/// The name of a model on this command line: ccp or ncp.
std::string model_word(Model model);

/// The solver used when none is named.
std::string default_solver(Model model);

/// Settings of one solver from the options; throws InputError for names and values that do not exist.
SolverSettings solver_settings(const ProblemOptions& options, const std::string& solver);

/// A monitor that asks to stop when the time limit is over; null without a limit. The clock starts now.
Monitor time_limit_monitor(const ProblemOptions& options);

/// The status for people: "converged", "max iterations", "stalled" or "time limit".
std::string status_text(Status status);

/// "NAME: 570 contacts (3 rows each), local, W symmetric, friction 0.3" and the title of the file.
std::string describe(const FclibProblem& file, const ConeProblem& problem);

}  // namespace talus
