// The Motion that a scene prescribes.
#pragma once
#include <memory>

#include "talus/io/scene.hpp"

namespace talus {

/// True when a velocity other than zero is written.
bool has_velocity(const SceneMotion& motion);

/// Throws InputError when an expression or the file cannot be read.
std::unique_ptr<Motion> make_motion(const SceneMotion& motion);

}  // namespace talus
