// Prescribed motion: the velocity of a body as a function of time, constant, from a table, or from expressions.
// A motion has no state of its own: it is given by the scene and the time.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "talus/math/vec.hpp"

namespace talus {

class Motion {
 public:
  virtual ~Motion() = default;
  /// Velocity of the mass centre and angular velocity at time t, world axes.
  virtual Twist at(Real t) const = 0;
};

std::unique_ptr<Motion> constant_motion(const Twist& velocity);

/// Linear between the given times (ascending), constant before the first and after the last.
std::unique_ptr<Motion> table_motion(std::vector<Real> times, std::vector<Twist> velocities);

/// vx, vy, vz, wx, wy, wz as muparser expressions of t (an empty one is 0). Throws InputError naming the
/// expression and what is wrong in it.
std::unique_ptr<Motion> expression_motion(const std::array<std::string, 6>& expressions);

}  // namespace talus
