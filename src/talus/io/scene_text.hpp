// A scene in a few lines for people: what `talus check` and `talus info` print.
#pragma once
#include <string>

#include "talus/io/scene.hpp"

namespace talus {

std::string scene_text(const Scene& scene, const World& world);
/// 1.5 kB, 20 MB, ...
std::string bytes_text(Global bytes);

}  // namespace talus
