// `talus solve`: one solver on one problem file.   `talus compare`: several, as a table and a plot.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace talus {

/// Add the commands to the command line; when one was chosen, `command` becomes what to run and gives the
/// exit code.
void add_solve_command(CLI::App& app, std::function<int()>& command);
void add_compare_command(CLI::App& app, std::function<int()>& command);

}  // namespace talus
