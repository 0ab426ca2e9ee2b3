// Surfaces of shapes for looking at: polygons in world coordinates.
#pragma once
#include <vector>

#include "talus/sim/world.hpp"

namespace talus {

struct Surfaces {
  std::vector<Vec3> point;
  std::vector<std::int32_t> connectivity, offset;  ///< as VTK has them
  std::vector<Local> body;                         ///< of each polygon: index into Bodies
  std::vector<std::int32_t> face;                  ///< of each polygon: a Face of a container, −1 elsewhere
};

/// Polygons of every owned body that is not a sphere. Half-spaces, which have no end, are cut to the room
/// that everything else takes.
Surfaces surfaces_of(const World& world);

}  // namespace talus
