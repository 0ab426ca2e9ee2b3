// talus solvers: the table of methods with papers, cones and options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "talus/app/commands.hpp"
#include "talus/solvers/solver.hpp"

namespace talus {
namespace {

void print_options(std::string_view group) {
  for (const OptionInfo& option : option_infos(group))
    fmt::print("      {:<14} {:<10} {}{}\n", option.name, option_text(option.default_value), option.doc,
               option.choices.empty() ? "" : fmt::format(" ({})", fmt::join(option.choices, " | ")));
}

int list_solvers() {
  const SolverSettings defaults;
  fmt::print("Solvers, for --solver NAME; options with defaults, for --set solver.NAME.OPTION=VALUE\n\n");
  for (const SolverInfo& solver : solver_table()) {
    fmt::print("  {}{}\n      {}\n      cones: {}; exact Coulomb: {}\n", solver.name,
               solver.name == defaults.solver ? "  (default)" : "", solver.paper, solver.cones,
               solver.exact_law ? "native" : "by the fixed point on De Saxcé's term");
    print_options(solver.name);
    fmt::print("\n");
  }
  fmt::print("  exact: the fixed point around solvers of the relaxed problem (solver.model = \"exact\")\n");
  print_options("exact");
  return 0;
}

}  // namespace

void add_solvers_command(CLI::App& app, Command& command) {
  app.add_subcommand("solvers", "List the solvers with their papers, cones and options")
      ->callback([&command] { command = list_solvers; });
}

}  // namespace talus
