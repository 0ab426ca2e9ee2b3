// talus bench NAME...: how fast this machine runs Talus.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "talus/app/bench.hpp"
#include "talus/app/commands.hpp"

namespace talus {

void add_bench_command(CLI::App& app, Command& command) {
  struct Arguments {
    std::vector<std::string> names;
    std::string json;
    int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  };
  auto a = std::make_shared<Arguments>();
  std::string list = "Benches:\n";
  for (const auto& [name, what] : bench_list()) list += fmt::format("  {:<12} {}\n", name, what);
  CLI::App* sub = app.add_subcommand("bench", "Measure speed beside what the machine can do");
  sub->add_option("NAME", a->names, "Benches to run; all: those that end within minutes")->required();
  sub->add_option("--json", a->json, "Write the records to this file");
  sub->add_option("--threads", a->threads, "Most threads tried (default: all processors)")
      ->check(CLI::Range(1, 4096));
  sub->footer(list);
  sub->callback([a, &command] { command = [a] { return run_bench(a->names, a->json, a->threads); }; });
}

}  // namespace talus
