// `talus compare`: the same problem by several solvers, from the same cold start, failures included.
#include <fmt/format.h>
#include <unistd.h>

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
  std::string plot, json, history;
  bool watches() const { return !plot.empty() || !history.empty(); }
};

/// How one solver went, iteration by iteration.
struct History {
  std::vector<Real> iteration, applications, seconds, residual, objective;
  std::vector<Local> open;  ///< contacts without impulse: Heyn13's active set
};

struct Entry {
  SolverSettings settings;
  SolveReport report;
  History history;
  std::string refused;  ///< why the solver does not take this problem; empty when it ran
};

/// The first iterate below each power of ten that the tolerance allows: "how long to 1e-4" from one run to
/// 1e-8.
nlohmann::ordered_json levels_of(const History& h, Real tolerance) {
  nlohmann::ordered_json levels = nlohmann::ordered_json::array();
  for (int decade = 1; decade <= 16 && std::pow(10.0, -decade) >= 0.999 * tolerance; ++decade) {
    const Real level = std::pow(10.0, -decade);
    for (std::size_t k = 0; k < h.residual.size(); ++k)
      if (h.residual[k] <= level * (1 + 1e-12)) {
        levels.push_back({{"residual", level},
                          {"iterations", static_cast<int>(h.iteration[k])},
                          {"applications", static_cast<int>(h.applications[k])},
                          {"cpu_s", h.seconds[k]}});
        break;
      }
  }
  return levels;
}

Local open_contacts(const Cones& cones, std::span<const Real> gamma) {
  Local count = 0;
  for (Local i = 0; i < cones.blocks(); ++i) {
    const Real* x = gamma.data() + cones.begin(i);
    count += std::all_of(x, x + cones.rows(i), [](Real e) { return e == 0; });
  }
  return count;
}

Entry run_one(const ConeProblem& problem, SolverSettings settings, const ProblemOptions& o,
              bool watch_objective) {
  Entry entry;
  const double start = cpu_seconds();
  settings.watch_objective = watch_objective;
  settings.monitor = [&entry, &problem, watch_objective, start,
                      limit = time_limit_monitor(o)](const Iteration& it) {
    History& h = entry.history;
    h.iteration.push_back(it.iteration);
    h.applications.push_back(it.applications);
    h.seconds.push_back(cpu_seconds() - start);
    h.residual.push_back(it.residual);
    h.objective.push_back(it.objective);
    if (watch_objective) h.open.push_back(open_contacts(problem.cones(), it.gamma));
    return !limit || limit(it);
  };
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
               e.settings.solver, status_text(e.report.status), e.report.iterations, e.report.applications,
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

void write_history(const std::vector<Entry>& entries, const ProblemOptions& o, const std::string& path) {
  std::ofstream out(path);
  out << fmt::format("solver,iteration,applications,cpu_s,{},objective,open_contacts\n", o.residual);
  for (const Entry& e : entries)
    for (std::size_t k = 0; k < e.history.iteration.size(); ++k)
      out << fmt::format("{},{},{},{:.6g},{:.6e},{:.15g},{}\n", e.settings.solver, e.history.iteration[k],
                         e.history.applications[k], e.history.seconds[k], e.history.residual[k],
                         e.history.objective[k], e.history.open[k]);
  out.close();
  if (!out) throw RunError(fmt::format("{}: cannot be written", path));
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
  if (o.watches()) fmt::print("times include watching the objective \n");

  std::vector<Entry> entries;
  for (const SolverSettings& s : settings) {
    if (isatty(fileno(stderr))) fmt::print(stderr, "  {} ...\033[K\r", s.solver);
    std::fflush(stdout);
    entries.push_back(run_one(problem, s, o.problem, o.watches()));
  }
  print_table(entries, o.problem);
  if (!o.plot.empty()) {
    write_svg(figure_of(file, entries, o.problem), o.plot);
    fmt::print("plot: {}\n", o.plot);
  }
  if (!o.history.empty()) write_history(entries, o.problem, o.history);
  if (!o.json.empty()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Entry& e : entries) {
      nlohmann::ordered_json record = problem_record(file, problem, e.settings, e.report);
      record["levels"] = levels_of(e.history, e.settings.tolerance);
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
  sub->add_option("--history", o->history, "write every iteration of every solver")->type_name("FILE.csv");
  sub->add_option("--json", o->json, "write the table as JSON")->type_name("FILE");
  sub->footer("Solvers that do not converge are part of the comparison: the exit code is 0 all the same.");
  sub->callback([o, &command] { command = [o] { return run(*o); }; });
}

}  // namespace talus
