#include "talus/io/scene_text.hpp"

#include <fmt/format.h>

#include <array>

#include "talus/io/summary.hpp"

namespace talus {

std::string bytes_text(Global bytes) {
  static constexpr std::array<const char*, 5> unit{"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t k = 0;
  for (; value >= 1000 && k + 1 < unit.size(); ++k) value /= 1000;
  return fmt::format("{:.3g} {}", value, unit[k]);
}

std::string scene_text(const Scene& scene, const World& world) {
  const SceneFigures f = scene_figures(scene, world);
  std::string text;
  const auto line = [&](const char* what, const std::string& value) {
    text += fmt::format("  {:<16}{}\n", what, value);
  };
  text += fmt::format("{}{}\n", scene.path, scene.title.empty() ? "" : ": " + scene.title);
  line("bodies", fmt::format("{} ({} move freely, {} walls and containers)", f.bodies, f.moving, f.walls));
  if (f.moving > 0) line("mass", fmt::format("{:.6g} kg", f.mass));
  if (f.largest_radius > 0)
    line("radii", fmt::format("{:.4g} to {:.4g} m", f.smallest_radius, f.largest_radius));
  if (f.solid_fraction > 0) line("solid fraction", fmt::format("{:.3f} of the containers", f.solid_fraction));
  line("step",
       fmt::format("{:g} s, {} steps to {:g} s", scene.simulation.step, f.steps, scene.simulation.duration));
  if (f.suggested_step > 0)
    line("suggested step",
         fmt::format("{:.2g} s{}", f.suggested_step,
                     scene.simulation.step > f.suggested_step ? " (the scene's is longer)" : ""));
  line("solver", solver_text(scene));
  line("memory", fmt::format("about {}", bytes_text(f.memory_bytes)));
  return text;
}

}  // namespace talus
