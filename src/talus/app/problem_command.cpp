#include "talus/app/problem_command.hpp"

#include <fmt/format.h>

#include <cmath>

#include "talus/base/error.hpp"
#include "talus/base/timer.hpp"

namespace talus {

void add_problem_options(CLI::App& command, ProblemOptions& o) {
  command.add_option("problem", o.path, "contact problem in the FCLib layout (HDF5)")
      ->required()
      ->type_name("PROBLEM.hdf5");
  command.add_option("--model", o.model, "ccp: relaxed cone problem; ncp: exact Coulomb friction")
      ->check(CLI::IsMember({"ccp", "ncp"}))
      ->capture_default_str();
  command.add_option("--tolerance", o.tolerance, "stop when the residual is below this")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  std::string names;
  for (const std::string_view name : residual_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  command.add_option("--residual", o.residual, "residual the tolerance is on: " + names)
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--max-iterations", o.max_iterations, "most iterations (sweeps)")
      ->check(CLI::Range(0, 2000000000))
      ->capture_default_str();
  command.add_option("--threads", o.threads, "threads of this process; results do not depend on it")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command.add_option("--time-limit", o.time_limit, "stop a solve after so many CPU seconds; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--set", o.set,
                  "an option of a solver, e.g. solver.apgd.step=growing (see `talus solvers`)")
      ->type_name("solver.NAME.OPTION=VALUE")
      ->expected(1)
      ->take_all();
}

std::string model_word(Model model) {
  return model == Model::exact ? "ncp" : "ccp";
}

std::string default_solver(Model model) {
  // The exact law is best left to a method that has it built in; the relaxed one to the engine's own default.
  if (model == Model::exact)
    for (const SolverInfo& info : solver_table())
      if (info.exact_law) return std::string(info.name);
  return SolverSettings().solver;
}

namespace {

/// The text of a value as the type the option has.
OptionValue parsed(const OptionInfo& info, const std::string& text, const std::string& where) {
  const auto bad = [&](const char* right) {
    throw InputError(fmt::format("--set {}: '{}' is not {}", where, text, right));
  };
  try {
    std::size_t used = 0;
    if (info.type == "bool") {
      if (text == "true") return true;
      if (text == "false") return false;
      bad("true or false");
    }
    if (info.type == "int") {
      const int value = std::stoi(text, &used);
      if (used == text.size()) return value;
      bad("a whole number");
    }
    if (info.type == "real") {
      const double value = std::stod(text, &used);
      if (used == text.size()) return value;
      bad("a number");
    }
  } catch (const std::logic_error&) {  // stoi, stod
    bad(info.type == "int" ? "a whole number" : "a number");
  }
  return text;
}

/// "solver.GROUP.OPTION=VALUE", or "solver.OPTION=VALUE" for the solver at hand.
void set_from_text(SolverOptions& options, const std::string& solver, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  if (equals == std::string::npos || key.rfind("solver.", 0) != 0)
    throw InputError(fmt::format("--set {}: should be solver.NAME.OPTION=VALUE", text));
  const std::string rest = key.substr(7);
  const std::size_t dot = rest.find('.');
  const std::string group = dot == std::string::npos ? solver : rest.substr(0, dot);
  const std::string name = dot == std::string::npos ? rest : rest.substr(dot + 1);
  for (const OptionInfo& info : option_infos(group))
    if (info.name == name) {
      set_option(options, group, name, parsed(info, text.substr(equals + 1), key));
      return;
    }
  set_option(options, group, name, text.substr(equals + 1));  // throws, saying what exists
}

}  // namespace

SolverSettings solver_settings(const ProblemOptions& options, const std::string& solver) {
  SolverSettings settings;
  settings.solver = std::string(find_solver(solver).name);
  settings.model = model_kind(options.model);
  settings.tolerance = options.tolerance;
  settings.residual = std::string(residual_name(residual_kind(options.residual)));
  settings.max_iterations = options.max_iterations;
  for (const std::string& text : options.set) set_from_text(settings.options, settings.solver, text);
  return settings;
}

Monitor time_limit_monitor(const ProblemOptions& options) {
  if (options.time_limit <= 0) return nullptr;
  const double end = cpu_seconds() + options.time_limit;
  return [end](const Iteration&) { return cpu_seconds() < end; };
}

std::string status_text(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::max_iterations:
      return "max iterations";
    case Status::stalled:
      return "stalled";
    case Status::interrupted:
      return "time limit";  // nothing else interrupts these commands
  }
  return "";
}

std::string describe(const FclibProblem& file, const ConeProblem& problem) {
  const auto range = [](const Vector& mu) {
    if (mu.size() == 0) return std::string("none");
    return mu.minCoeff() == mu.maxCoeff() ? fmt::format("{:.4g}", mu[0])
                                          : fmt::format("{:.4g} to {:.4g}", mu.minCoeff(), mu.maxCoeff());
  };
  const bool global = file.form == FclibProblem::Form::global;
  std::string text = fmt::format("{}: {} contacts{}, {} form", file.name, file.contacts(),
                                 file.block == 2   ? ", planar"
                                 : file.block == 5 ? ", with rolling resistance"
                                                   : "",
                                 global ? "global" : "local");
  if (global) text += fmt::format(" with {} degrees of freedom", file.M.rows());
  if (file.G.cols()) text += fmt::format(" and {} equality rows", file.G.cols());
  text += fmt::format(", friction {}", range(file.friction));
  if (file.is_rolling()) text += fmt::format(", rolling friction {}", range(file.rolling));
  text += fmt::format("\n  W: {} x {}, {} entries, {}", problem.dim(), problem.dim(),
                      problem.matrix_operator()->own().nonZeros(),
                      problem.symmetric() ? "symmetric" : "not symmetric");
  if (!file.title.empty()) text += fmt::format("\n  title: {}", file.title.substr(0, file.title.find('\n')));
  return text + "\n";
}

}  // namespace talus
