// Any text is either refused with an InputError, or a scene that reads back from its resolved form as itself and,
// where it is small, becomes a world or is refused. What follows a NUL byte is an override (`--set`).
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz_input.hpp"
#include "talus/base/error.hpp"
#include "talus/io/scene.hpp"

namespace {

/// Building a large world says nothing about the parser and takes long.
bool is_small(const talus::Scene& scene) {
  talus::Global count = 0;
  for (const talus::SceneFill& f : scene.fills) {
    if (!f.count) return false;
    count += *f.count;
  }
  return count <= 100 && scene.files.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace talus;
  std::string_view text = as_text(data, size);
  std::vector<std::string> overrides;
  while (overrides.size() < 3) {
    const std::size_t nul = text.rfind('\0');
    if (nul == std::string_view::npos) break;
    overrides.emplace_back(text.substr(nul + 1));
    text = text.substr(0, nul);
  }
  try {
    const Scene scene = parse_scene(text, "fuzz.toml", overrides);
    const std::string resolved = resolved_toml(scene);
    const Scene again = parse_scene(resolved, "resolved.toml");
    if (!compare_scenes(scene, again).empty() || resolved_toml(again) != resolved) std::abort();
    if (is_small(scene)) scene_figures(scene, build_world(scene));
  } catch (const InputError&) {
  }
  return 0;
}
