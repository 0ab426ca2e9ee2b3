#include "talus/app/solve.hpp"

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "talus/app/problem_command.hpp"
#include "talus/app/problem_json.hpp"
#include "talus/base/error.hpp"

namespace talus {
namespace {

struct SolveOptions {
  ProblemOptions problem;
  std::string solver;  ///< empty: the default of the model
  std::string json;
  std::string solution;  ///< problem and answer as an FCLib file
};

void print_report(const SolverSettings& settings, const SolveReport& report) {
  fmt::print("  iterations {}   applications of N {}", report.iterations, report.applications);
  if (report.outer_iterations) fmt::print("   outer iterations {}", report.outer_iterations);
  if (report.factorizations) fmt::print("   factorisations {}", report.factorizations);
  fmt::print("   CPU {:.3g} s   wall {:.3g} s\n", report.cpu_seconds, report.wall_seconds);
  fmt::print("  objective {:.10g}   |u| {:.10g}\n\n  residual\n", report.objective, report.velocity_norm);
  for (const std::string_view name : residual_names()) {
    fmt::print("    {:<16} {:.3e}", name, report.residuals[residual_kind(name)]);
    if (name == settings.residual) fmt::print("   <- tolerance {:.3g}", settings.tolerance);
    fmt::print("\n");
  }
}

int run(const SolveOptions& o) {
  const std::string solver = o.solver.empty() ? default_solver(model_kind(o.problem.model)) : o.solver;
  SolverSettings settings =
      solver_settings(o.problem, solver);  // before the file: bad options are cheap to find
  const Team team(o.problem.threads);
  FclibProblem file = read_fclib(o.problem.path);
  const ConeProblem problem = cone_problem(file, team);
  fmt::print("{}", describe(file, problem));
  fmt::print("{} ({}) by {} to {} <= {:.3g}, at most {} iterations, {} thread{}\n",
             settings.model == Model::exact ? "exact Coulomb" : "relaxed", model_word(settings.model),
             settings.solver, settings.residual, settings.tolerance, settings.max_iterations, team.threads(),
             team.threads() > 1 ? "s" : "");
  std::fflush(stdout);

  DualVector gamma = problem.zero();
  settings.monitor = time_limit_monitor(o.problem);
  const SolveReport report = solve(problem, gamma, settings);
  print_report(settings, report);
  if (!o.json.empty()) {
    nlohmann::ordered_json record = problem_record(file, problem, settings, report);
    std::ofstream out(o.json);
    out << record.dump(2) << "\n";
    out.close();
    if (!out) throw RunError(fmt::format("{}: cannot be written", o.json));
  }
  if (!o.solution.empty()) {
    file.solution = fclib_state(problem, gamma);
    write_fclib(file, o.solution);
  }
  if (report.converged()) {
    fmt::print("converged\n");
    return static_cast<int>(ExitCode::ok);
  }
  std::fflush(stdout);
  fmt::print(stderr,
             "NOT CONVERGED ({}): {} is {:.3e} after {} iterations, {:.3g} was asked for; the best iterate "
             "is reported\n",
             status_text(report.status), settings.residual, report.residual, report.iterations,
             settings.tolerance);
  return static_cast<int>(ExitCode::not_converged);
}

}  // namespace

void add_solve_command(CLI::App& app, std::function<int()>& command) {
  auto o = std::make_shared<SolveOptions>();
  CLI::App* sub = app.add_subcommand("solve", "solve a contact problem file and report every residual");
  add_problem_options(*sub, o->problem);
  sub->add_option("--solver", o->solver,
                  "a name of `talus solvers` (default for ccp: " + default_solver(Model::relaxed) +
                      ", for ncp: " + default_solver(Model::exact) + ")")
      ->type_name("NAME");
  sub->add_option("--json", o->json, "write the result as JSON")->type_name("FILE");
  sub->add_option("--solution", o->solution, "write the problem with its answer as an FCLib file")
      ->type_name("FILE.hdf5");
  sub->footer(
      "Exit code 0 when converged, 3 when not (the best iterate is reported all the same), 2 for bad input.");
  sub->callback([o, &command] { command = [o] { return run(*o); }; });
}

}  // namespace talus
