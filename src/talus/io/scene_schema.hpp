// The one description of all keys of a scene. Reading, resolved scenes, comparison, docs/scene.md's reference
// and docs/scene.schema.json follow from it.
#pragma once
#include "talus/io/scene.hpp"
#include "talus/io/schema.hpp"

namespace talus {

const TableSchema& scene_schema();

}  // namespace talus
