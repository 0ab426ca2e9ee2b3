// The commands of `talus`, one file each. Each adds itself to the command line; when it was chosen, `command`
// becomes what to run and gives the exit code. Bad input is thrown as InputError; main prints it.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace talus {

using Command = std::function<int()>;

void add_run_command(CLI::App& app, Command& command);
void add_check_command(CLI::App& app, Command& command);
void add_info_command(CLI::App& app, Command& command);
void add_solvers_command(CLI::App& app, Command& command);
void add_bench_command(CLI::App& app, Command& command);

}  // namespace talus
