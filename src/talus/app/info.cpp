// talus info FILE: what a checkpoint, scene, problem, frame or result directory holds.
#include <fmt/format.h>

#include "talus/app/commands.hpp"
#include "talus/io/file_info.hpp"

namespace talus {

void add_info_command(CLI::App& app, Command& command) {
  auto path = std::make_shared<std::string>();
  CLI::App* sub =
      app.add_subcommand("info", "Say what a checkpoint, scene, problem, frame or result directory holds");
  sub->add_option("FILE", *path, "File or directory")->required();
  sub->callback([=, &command] {
    command = [=] {
      fmt::print("{}", file_info(*path));
      return 0;
    };
  });
}

}  // namespace talus
