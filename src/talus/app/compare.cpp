// `talus compare`: the same problem by several solvers, from the same cold start, failures included.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>

#include "talus/app/problem_json.hpp"
#include "talus/app/solve.hpp"
#include "talus/base/error.hpp"
#include "talus/base/timer.hpp"
#include "talus/io/plot.hpp"

namespace talus {
namespace {

struct CompareOptions {
  ProblemOptions problem;
  std::vector<std::string> solvers;  ///< empty: all
  std::string plot, json;
};

/// How one solver went, iteration by iteration.
struct History {
  std::vector<Real> iteration, applications, seconds, residual, objective;
};

struct Entry {
  SolverSettings settings;
  SolveReport report;
  History history;
  std::string refused;  ///< why the solver does not take this problem; empty when it ran
};

Entry run_one(const ConeProblem& problem, SolverSettings settings, bool watch) {
  Entry entry;
  const double start = cpu_seconds();
  if (watch) {
    settings.watch_objective = true;
    settings.monitor = [&entry, start](const Iteration& it) {
      History& h = entry.history;
      h.iteration.push_back(it.iteration);
      h.applications.push_back(it.applications);
      h.seconds.push_back(cpu_seconds() - start);
      h.residual.push_back(it.residual);
      h.objective.push_back(it.objective);
      return true;
    };
  }
  DualVector gamma = problem.zero();
  try {
    entry.report = solve(problem, gamma, settings);
  } catch (const InputError& e) {
    entry.refused = e.what();
  }
  settings.monitor = nullptr;  // it refers to this call
  entry.settings = std::move(settings);
  return entry;
}

void print_table(const std::vector<Entry>& entries, const ProblemOptions& o) {
  fmt::print("\n{:<14} {:<14} {:>10} {:>12} {:>9} {:>10} {:>10} {:>10} {:>10} {:>18}\n", "solver", "status",
             "iterations", "applications", "CPU s", "natural", "siconos", "faf", "de20", "objective");
  for (const Entry& e : entries) {
    if (!e.refused.empty()) {
      fmt::print("{:<14} {:<14} {}\n", e.settings.solver, "refused", e.refused);
      continue;
    }
    const Residuals& r = e.report.residuals;
    fmt::print("{:<14} {:<14} {:>10} {:>12} {:>9.3g} {:>10.2e} {:>10.2e} {:>10.2e} {:>10.2e} {:>18.10g}\n",
               e.settings.solver, status_name(e.report.status), e.report.iterations, e.report.applications,
               e.report.cpu_seconds, r.natural, r.natural_siconos, r.natural_faf, r.de20, e.report.objective);
  }
  const auto failed = std::count_if(entries.begin(), entries.end(), [](const Entry& e) {
    return e.refused.empty() && !e.report.converged();
  });
  fmt::print("\n{} of {} solvers reached {} <= {:.3g} within {} iterations{}\n",
             std::count_if(entries.begin(), entries.end(),
                           [](const Entry& e) { return e.refused.empty() && e.report.converged(); }),
             entries.size(), o.residual, o.tolerance, o.max_iterations, failed ? "; NOT CONVERGED: " : "");
  if (failed) {
    std::string names;
    for (const Entry& e : entries)
      if (e.refused.empty() && !e.report.converged())
        names += (names.empty() ? "  " : ", ") + e.settings.solver;
    fmt::print("{}\n", names);
  }
}

/// Residual and objective against iterations, applications and time. The relaxed problem has one minimum: its
/// objective is shown as the distance to the best seen. The exact law minimises nothing: its objective as it
/// is.
Figure figure_of(const FclibProblem& file, const std::vector<Entry>& entries, const ProblemOptions& o) {
  const bool relaxed = model_kind(o.model) != Model::exact;
  Real best = std::numeric_limits<Real>::infinity();
  for (const Entry& e : entries) {
    if (e.refused.empty()) best = std::min(best, e.report.objective);
    for (const Real f : e.history.objective)
      if (std::isfinite(f)) best = std::min(best, f);
  }
  const Real unit = best != 0 && std::isfinite(best) ? std::abs(best) : 1;

  Figure figure;
  figure.title = fmt::format("{}: {} contacts, {}", file.name, file.contacts(),
                             relaxed ? "relaxed cone problem (ccp)" : "exact Coulomb (ncp)");
  figure.subtitle =
      fmt::format("cold start; tolerance {:.3g} on {}; at most {} iterations{}", o.tolerance, o.residual,
                  o.max_iterations, relaxed ? fmt::format("; best objective {:.10g}", best) : std::string());
  figure.columns = 3;
  const std::array<std::pair<const char*, std::vector<Real> History::*>, 3> axes = {
      {{"iterations", &History::iteration},
       {"applications of N", &History::applications},
       {"CPU time [s]", &History::seconds}}};
  for (const bool residual : {true, false})
    for (const auto& [label, x] : axes) {
      Panel panel;
      panel.title = residual  ? "residual " + o.residual
                    : relaxed ? "objective above the best, relative"
                              : "objective";
      panel.x_label = label;
      panel.y_label = residual ? o.residual : relaxed ? "(f - best) / |best|" : "f";
      panel.x_scale = Scale::log;
      panel.y_scale = residual || relaxed ? Scale::log : Scale::linear;
      for (const Entry& e : entries) {
        Curve curve{e.settings.solver, e.history.*x, residual ? e.history.residual : e.history.objective};
        if (!residual && relaxed)
          for (Real& f : curve.y) f = (f - best) / unit;
        panel.curves.push_back(std::move(curve));
      }
      figure.panels.push_back(std::move(panel));
    }
  return figure;
}

int run(const CompareOptions& o) {
  std::vector<SolverSettings> settings;  // all of them first: a wrong name is found before any work
  if (o.solvers.empty())
    for (const SolverInfo& info : solver_table())
      settings.push_back(solver_settings(o.problem, std::string(info.name)));
  for (const std::string& name : o.solvers) settings.push_back(solver_settings(o.problem, name));

  const Team team(o.problem.threads);
  const FclibProblem file = read_fclib(o.problem.path);
  const ConeProblem problem = cone_problem(file, team);
  fmt::print("{}", describe(file, problem));
  fmt::print("{}, cold start, to {} <= {:.3g}, at most {} iterations, {} thread{}\n",
             model_kind(o.problem.model) == Model::exact ? "exact Coulomb (ncp)" : "relaxed (ccp)",
             o.problem.residual, o.problem.tolerance, o.problem.max_iterations, team.threads(),
             team.threads() > 1 ? "s" : "");
  if (!o.plot.empty()) fmt::print("times include watching residual and objective for the plot\n");

  std::vector<Entry> entries;
  for (const SolverSettings& s : settings) {
    fmt::print(stderr, "  {} ...\r", s.solver);
    std::fflush(stdout);
    entries.push_back(run_one(problem, s, !o.plot.empty()));
  }
  print_table(entries, o.problem);
  if (!o.plot.empty()) {
    write_svg(figure_of(file, entries, o.problem), o.plot);
    fmt::print("plot: {}\n", o.plot);
  }
  if (!o.json.empty()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Entry& e : entries) {
      nlohmann::ordered_json record = problem_record(file, problem, e.settings, e.report);
      if (!e.refused.empty()) record["status"] = "refused", record["reason"] = e.refused;
      list.push_back(std::move(record));
    }
    std::ofstream out(o.json);
    out << list.dump(2) << "\n";
    out.close();
    if (!out) throw RunError(fmt::format("{}: cannot be written", o.json));
  }
  return static_cast<int>(ExitCode::ok);
}

}  // namespace

void add_compare_command(CLI::App& app, std::function<int()>& command) {
  auto o = std::make_shared<CompareOptions>();
  CLI::App* sub = app.add_subcommand(
      "compare", "solve a contact problem file by several solvers: table and convergence plot");
  add_problem_options(*sub, o->problem);
  sub->add_option("--solvers", o->solvers, "names of `talus solvers`, separated by commas (default: all)")
      ->delimiter(',')
      ->type_name("A,B,C");
  sub->add_option("--plot", o->plot, "residual and objective against iterations, applications and time")
      ->type_name("FILE.svg");
  sub->add_option("--json", o->json, "write the table as JSON")->type_name("FILE");
  sub->footer("Solvers that do not converge are part of the comparison: the exit code is 0 all the same.");
  sub->callback([o, &command] { command = [o] { return run(*o); }; });
}

}  // namespace talus
