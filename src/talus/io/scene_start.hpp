// What must hold of a World before its first step.
#pragma once
#include <string>
#include <vector>

#include "talus/io/scene.hpp"

namespace talus {

/// Bodies [begin, end) of a freshly built World came from the same table of the scene.
struct BodySource {
  Local begin = 0, end = 0;
  Position at;
  std::string label;
};

/// Throws InputError when shapes meet that the narrow phase cannot handle, or bodies overlap.
void check_start(const Scene& scene, const World& world, const std::vector<BodySource>& sources);

}  // namespace talus
