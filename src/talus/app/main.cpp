// The `talus` command. Exit codes are those of base/error.hpp.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <new>

#include "talus/app/commands.hpp"
#include "talus/app/solve.hpp"
#include "talus/base/error.hpp"
#include "talus/io/version.hpp"

int main(int argc, char** argv) {
  using namespace talus;
  CLI::App app{
      "Talus: many rigid bodies in hard frictional contact, one cone complementarity problem a step."};
  app.set_version_flag("--version", "talus " + version());
  app.require_subcommand(1);
  app.footer(
      "talus COMMAND --help says more. Exit codes: 0 done, 1 failed on the way, 2 bad input or usage, 3 not "
      "converged,\n"
      "4 physics guard, 130/143 stopped by SIGINT/SIGTERM.");
  Command command;
  add_run_command(app, command);
  add_solve_command(app, command);
  add_compare_command(app, command);
  add_check_command(app, command);
  add_info_command(app, command);
  add_solvers_command(app, command);
  add_bench_command(app, command);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::bad_input);
  }
  try {
    return command();
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "talus: out of memory; `talus check` estimates what a scene needs\n");
    return static_cast<int>(ExitCode::run_failed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "talus: {}\n", error.what());
    return static_cast<int>(ExitCode::run_failed);
  }
}
