// talus check SCENE.toml: reads a scene, says everything that is wrong with it, and prints derived figures.
#include <fmt/format.h>

#include "talus/app/commands.hpp"
#include "talus/io/scene.hpp"
#include "talus/io/scene_text.hpp"

namespace talus {
namespace {

int check(const std::string& path, const std::vector<std::string>& overrides) {
  const Scene scene = load_scene(path, overrides);
  for (const std::string& warning : scene.warnings) fmt::print(stderr, "warning: {}\n", warning);
  fmt::print("{}", scene_text(scene, build_world(scene)));
  return 0;
}

}  // namespace

void add_check_command(CLI::App& app, Command& command) {
  auto path = std::make_shared<std::string>();
  auto set = std::make_shared<std::vector<std::string>>();
  CLI::App* sub =
      app.add_subcommand("check", "Check a scene without running it; prints bodies, mass, step, memory");
  sub->add_option("SCENE", *path, "Scene file (TOML)")->required();
  sub->add_option("--set", *set, "key.path=value: changes a key of the scene; may be repeated")
      ->allow_extra_args(false);
  sub->callback([=, &command] { command = [=] { return check(*path, *set); }; });
}

}  // namespace talus
