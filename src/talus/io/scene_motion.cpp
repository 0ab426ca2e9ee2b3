#include "talus/io/scene_motion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "talus/io/body_file.hpp"

namespace talus {
namespace {

bool is_zero(const SceneMotion::Component& c) {
  return std::holds_alternative<Real>(c) && std::get<Real>(c) == 0;
}
bool is_number(const SceneMotion::Component& c) {
  return std::holds_alternative<Real>(c);
}

}  // namespace

bool has_velocity(const SceneMotion& m) {
  return !std::all_of(m.velocity.begin(), m.velocity.end(), is_zero) ||
         !std::all_of(m.angular_velocity.begin(), m.angular_velocity.end(), is_zero);
}

std::unique_ptr<Motion> make_motion(const SceneMotion& m) {
  const auto rows = m.file.empty() ? m.table : read_motion_file(m.file);
  if (!rows.empty()) {
    std::vector<Real> times;
    std::vector<Twist> velocities;
    for (const auto& r : rows) {
      times.push_back(r[0]);
      velocities.push_back({Vec3(r[1], r[2], r[3]), Vec3(r[4], r[5], r[6])});
    }
    return table_motion(std::move(times), std::move(velocities));
  }
  if (std::all_of(m.velocity.begin(), m.velocity.end(), is_number) &&
      std::all_of(m.angular_velocity.begin(), m.angular_velocity.end(), is_number)) {
    Twist v;
    for (int k = 0; k < 3; ++k)
      v.linear[k] = std::get<Real>(m.velocity[k]), v.angular[k] = std::get<Real>(m.angular_velocity[k]);
    return constant_motion(v);
  }
  std::array<std::string, 6> expressions;
  for (int k = 0; k < 6; ++k) {
    const SceneMotion::Component& c = k < 3 ? m.velocity[k] : m.angular_velocity[k - 3];
    expressions[k] = is_number(c) ? fmt::format("{}", std::get<Real>(c)) : std::get<std::string>(c);
  }
  return expression_motion(expressions);
}

}  // namespace talus
