#include "talus/sim/integrate.hpp"

#include <cmath>
#include <limits>

#include "talus/math/morton.hpp"

namespace talus {

void free_flight(const World& world, Real h, const Team& team, BodyVector& free_velocity) {
  const Bodies& bodies = world.bodies;
  free_velocity.resize(bodies.size());
  team.for_each(bodies.size(), [&](Local i) {
    free_velocity[i] = bodies.velocity[i];
    if (bodies.moves_freely(i)) free_velocity[i].linear += h * world.gravity;
  });
  if (world.motions.empty()) return;
  for (Local i = 0; i < bodies.size(); ++i) {  // also every copy and image of a driven body
    if (bodies.mobility[i] != Mobility::prescribed) continue;
    const auto motion = world.motions.find(bodies.id[i]);
    if (motion != world.motions.end()) free_velocity[i] = motion->second->at(world.time + 0.5 * h);
  }
}

void integrate(World& world, const BodyVector& new_velocity, Real h, const Team& team) {
  Bodies& bodies = world.bodies;
  team.for_each(bodies.size(), [&](Local i) {
    if (bodies.mobility[i] == Mobility::fixed) return;
    Twist v = new_velocity[i];
    bodies.position[i] += h * v.linear;
    const Quat old = bodies.orientation[i];
    const Quat turned = (rotation_exp(h * v.angular) * old).normalized();
    bodies.orientation[i] = turned;
    const Vec3& I = bodies.inertia[i];
    const bool isotropic = I.x() == I.y() && I.y() == I.z();
    if (bodies.moves_freely(i) && !isotropic) {
      // ω⁺ = I(q⁺)⁻¹ L, refined once: the rounding of one product with a rotation has a direction, and ten thousand
      // steps of it would show in L.
      auto momentum = [&I](const Quat& q, const Vec3& w) { return Vec3(q * I.cwiseProduct(q.conjugate() * w)); };
      auto spin = [&I](const Quat& q, const Vec3& L) { return Vec3(q * (q.conjugate() * L).cwiseQuotient(I)); };
      const Vec3 L = momentum(old, v.angular);
      v.angular = spin(turned, L);
      v.angular += spin(turned, L - momentum(turned, v.angular));
    }
    bodies.velocity[i] = v;
  });
}

namespace {

/// The box of all free bodies' centres.
void bounds_of(const Bodies& bodies, Vec3& low, Vec3& high) {
  const Real infinity = std::numeric_limits<Real>::infinity();
  low = Vec3::Constant(infinity);
  high = Vec3::Constant(-infinity);
  for (Local i = 0; i < bodies.owned; ++i)
    if (bodies.moves_freely(i)) {
      low = low.cwiseMin(bodies.position[i]);
      high = high.cwiseMax(bodies.position[i]);
    }
}

}  // namespace

void sort_bodies(Bodies& bodies, const Team& team) {
  Vec3 low, high;
  bounds_of(bodies, low, high);
  const Real edge = (high - low).maxCoeff();
  struct Place {
    std::uint64_t key;
    Global id;
    Local index;
    auto operator<=>(const Place&) const = default;
  };
  Array<Place> place(bodies.owned);
  team.for_each(bodies.owned, [&](Local i) {
    std::uint64_t key = ~std::uint64_t{0};  // bodies that do not move freely come last
    if (bodies.moves_freely(i)) {
      // One cell count for all directions, so that cells are cubes; NaN and the far edge fall into the last cell.
      const Real cells = 2097151.0;
      auto cell = [&](int k) {
        const Real x = edge > 0 ? (bodies.position[i][k] - low[k]) / edge * cells : 0;
        return x >= 0 && x < cells ? static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(cells);
      };
      key = morton_code(cell(0), cell(1), cell(2));
    }
    place[i] = {key, bodies.id[i], i};
  });
  if (std::is_sorted(place.begin(), place.end())) return;
  std::sort(place.begin(), place.end());
  Array<Local> order(bodies.owned);
  team.for_each(bodies.owned, [&](Local i) { order[i] = place[i].index; });
  bodies.reorder(order);
}

ProblemScales step_units(const World& world, const BodyVector& free_velocity, Real h, const Team& team) {
  const Bodies& bodies = world.bodies;
  const auto [count, mass, speed, radius] = team.sum<4>(bodies.owned, [&](Local i, auto& s) {
    if (!bodies.moves_freely(i)) return;
    s[0] += 1;
    s[1] += bodies.mass[i];
    s[2] += free_velocity[i].linear.norm();
    s[3] += bodies.radius[i];
  });
  if (count == 0) return {};
  const Real gh = world.gravity.norm() * h;
  ProblemScales units;
  units.mass = mass / count;
  units.speed = gh > 0 ? gh : speed > 0 ? speed / count : radius / count / h;
  return units;
}

}  // namespace talus
