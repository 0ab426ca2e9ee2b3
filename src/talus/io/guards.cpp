#include "talus/io/guards.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace talus {
namespace {

constexpr Real room_to_fly = 10;       ///< of the start's diagonal, on each side
constexpr Real default_energy = 0.05;  ///< of the energy in motion
constexpr Real default_overlap = 0.5;  ///< of the smaller radius
constexpr std::size_t ids_shown = 8;

Eigen::AlignedBox3d start_box(const World& world) {
  const Bodies& b = world.bodies;
  Eigen::AlignedBox3d box;
  for (Local i = 0; i < b.owned; ++i) {
    const Shape& shape = world.shapes[b.shape[i]];
    Real reach = b.radius[i];
    if (shape.kind == ShapeKind::hollow_box) reach = shape.half.norm();
    if (shape.kind == ShapeKind::hollow_cylinder) reach = std::hypot(shape.radius, shape.half.z());
    if (!std::isfinite(reach)) reach = 0;  // a half-space: its point alone
    box.extend(b.position[i] - Vec3::Constant(reach));
    box.extend(b.position[i] + Vec3::Constant(reach));
  }
  return box;
}

/// "body 7" or "bodies 7, 8, 9 and 12 more".
std::string list_bodies(const std::vector<Global>& ids) {
  const std::size_t shown = std::min(ids.size(), ids_shown);
  std::string text =
      fmt::format("{} {}", ids.size() == 1 ? "body" : "bodies",
                  fmt::join(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (ids.size() > shown) text += fmt::format(" and {} more", ids.size() - shown);
  return text;
}

/// Ids of all bodies for which `bad` holds, ascending. Looked up only once something is known to be wrong.
template <class F>
std::vector<Global> ids_where(const Bodies& bodies, F&& bad) {
  std::vector<Global> ids;
  for (Local i = 0; i < bodies.owned; ++i)
    if (bad(i)) ids.push_back(bodies.id[i]);
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// A limit that a scene gives, or the standard one where it leaves it open.
template <class T>
Real limit(const T& setting, Real standard) {
  if constexpr (requires { setting.value; })
    return setting.value.value_or(standard);
  else
    return setting;
}

}  // namespace

Guards::Guards(const SceneGuards& settings, const World& start)
    : escape_(settings.escape),
      energy_(limit(settings.energy, default_energy)),
      penetration_(limit(settings.penetration, default_overlap)) {
  const Eigen::AlignedBox3d box = start_box(start);
  const Vec3 room = Vec3::Constant(box.isEmpty() ? 0 : room_to_fly * box.diagonal().norm());
  min_ = settings.min.value_or(box.min() - room);
  max_ = settings.max.value_or(box.max() + room);
  const Bodies& b = start.bodies;
  for (Local i = 0; i < b.owned; ++i)
    if (b.moves_freely(i) && std::isfinite(b.radius[i]))
      least_energy_ += b.mass[i] * start.gravity.norm() * b.radius[i];
}

std::optional<std::string> Guards::check(const World& world, const Contacts& contacts,
                                         const StepReport& report, const Team& team, Real dissipated_before,
                                         Real& energy_scale) const {
  if (auto trouble = find_unbound(world, team)) return trouble;
  if (auto trouble = find_overlap(world, contacts, team)) return trouble;

  // Energy from nothing: the books do not close, or contacts gave in one step what nobody had put in.
  const Real gained = std::max(std::abs(report.energy_balance), dissipated_before - world.energy.dissipated);
  energy_scale = std::max({energy_scale, least_energy_, report.kinetic_energy, world.energy.dissipated,
                           std::abs(world.energy.drive_work)});
  if (energy_ > 0 && energy_scale > 0 && !(gained <= energy_ * energy_scale)) {
    Local fastest = 0;
    for (Local i = 0; i < world.bodies.owned; ++i)
      if (kinetic_energy(world.bodies, i) > kinetic_energy(world.bodies, fastest)) fastest = i;
    return fmt::format(
        "{:.3g} J came from nothing, {:.2g} of the {:.3g} J in play (guards.energy allows {:.2g}); the most "
        "energetic "
        "is body {}",
        gained, gained / energy_scale, energy_scale, energy_, world.bodies.id[fastest]);
  }
  return std::nullopt;
}

std::optional<std::string> Guards::find_unbound(const World& world, const Team& team) const {
  const Bodies& b = world.bodies;
  const auto nan = [&](Local i) {
    return !b.position[i].allFinite() || !b.orientation[i].coeffs().allFinite() ||
           !b.velocity[i].linear.allFinite() || !b.velocity[i].angular.allFinite();
  };
  const auto outside = [&](Local i) {
    return b.moves_freely(i) &&
           ((b.position[i].array() < min_.array()).any() || (b.position[i].array() > max_.array()).any());
  };
  const auto found = team.max<2>(b.owned, [&](Local i, std::array<Real, 2>& any) {
    if (nan(i))
      any[0] = 1;
    else if (escape_ && outside(i))
      any[1] = 1;
  });
  if (found[0] > 0)
    return fmt::format("position or velocity of {} is no finite number (NaN)",
                       list_bodies(ids_where(b, nan)));
  if (found[1] > 0)
    return fmt::format("{} left the box from ({}) to ({}) (guards.min, guards.max)",
                       list_bodies(ids_where(b, outside)), fmt::join(min_.begin(), min_.end(), ", "),
                       fmt::join(max_.begin(), max_.end(), ", "));
  return std::nullopt;
}

std::optional<std::string> Guards::find_overlap(const World& world, const Contacts& contacts,
                                                const Team& team) const {
  const Bodies& b = world.bodies;
  const auto overlap = [&](Local k) {
    return -contacts.gap[k] / std::min(b.radius[contacts.a[k]], b.radius[contacts.b[k]]);
  };
  const Real deepest = team.max<1>(contacts.size(), [&](Local k, std::array<Real, 1>& most) {
    most[0] = std::max(most[0], overlap(k));
  })[0];
  if (penetration_ <= 0 || deepest <= penetration_) return std::nullopt;
  for (Local k = 0; k < contacts.size(); ++k)
    if (overlap(k) == deepest)
      return fmt::format(
          "bodies {} and {} overlap by {:.3g} of the smaller radius (guards.penetration allows {:.2g})",
          b.id[contacts.a[k]], b.id[contacts.b[k]], deepest, penetration_);
  return std::nullopt;
}

}  // namespace talus
