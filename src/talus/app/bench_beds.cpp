#include "talus/app/bench_beds.hpp"

#include <algorithm>
#include <cmath>

#include "talus/base/random.hpp"
#include "talus/collision/detector.hpp"
#include "talus/sim/integrate.hpp"

namespace talus {
namespace {

constexpr Real density = 2500;

World empty_world() {
  World world;
  world.shapes = {{.kind = ShapeKind::sphere}};
  world.materials.add({"grain", density, {0.25}});
  return world;
}

/// Sets everything of body i but its place.
void make_body(World& world, Local i, Local shape, Real size, Mobility mobility) {
  Bodies& b = world.bodies;
  b.id[i] = i;
  b.shape[i] = shape;
  b.material[i] = 0;
  b.name[i] = -1;
  b.group[i] = b.mask[i] = 1;
  b.mobility[i] = mobility;
  b.orientation[i] = Quat::Identity();
  b.radius[i] = bounding_radius(world.shapes[shape], size);
  b.mass[i] = mobility == Mobility::dynamic ? density * volume(world.shapes[shape], size) : 1;
  b.inertia[i] = mobility == Mobility::dynamic ? Vec3(b.mass[i] * inertia_per_mass(world.shapes[shape], size))
                                               : Vec3(Vec3::Ones());
  b.velocity[i] = Twist{};
}

void add_container(World& world, const Vec3& low, const Vec3& high) {
  world.shapes.push_back(
      {.kind = ShapeKind::hollow_box, .half = 0.5 * (high - low), .open = face_bit(Face::top)});
  const Local i = world.bodies.size();
  world.bodies.resize(i + 1);
  make_body(world, i, static_cast<Local>(world.shapes.size()) - 1, 0, Mobility::fixed);
  world.bodies.position[i] = 0.5 * (low + high);
  world.bodies.owned = i + 1;
}

}  // namespace

World shaken_packing(Local spheres) {
  World world = empty_world();
  const Real r = 0.01, spread = 0.001, shake = 0.002;  // of the diameter
  // as deep as 50 layers where there are enough
  const Local layers = std::clamp<Local>(static_cast<Local>(std::cbrt(spheres)), 1, 50);
  const Local across = std::max<Local>(1, static_cast<Local>(std::ceil(std::sqrt(Real(spheres) / layers))));
  const Real pitch = 2 * r * (1 + spread), dy = pitch * std::sqrt(3.0) / 2, dz = pitch * std::sqrt(2.0 / 3.0);
  world.bodies.resize(spheres);
  world.bodies.owned = spheres;
  Random random(1);
  for (Local n = 0; n < spheres; ++n) {
    const Local k = n / (across * across), j = n / across % across, i = n % across;
    make_body(world, n, 0, r, Mobility::dynamic);
    const Vec3 shift(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
    world.bodies.position[n] =
        Vec3(pitch * (i + 0.5 * ((j + k) % 2)), dy * j + (k % 2) * dy / 3, dz * k) + 2 * r * shake * shift;
  }
  add_container(world, Vec3::Constant(-r),
                Vec3(pitch * (across + 0.5), dy * (across + 0.5), dz * layers + 0.5));
  sort_bodies(world.bodies, Team(1));
  return world;
}

World cubic_packing(Local spheres) {
  World world = empty_world();
  const Real r = 0.01, shake = 1e-4;
  const Local layers = std::clamp<Local>(static_cast<Local>(std::cbrt(spheres)), 1, 50);
  const Local across = std::max<Local>(1, static_cast<Local>(std::ceil(std::sqrt(Real(spheres) / layers))));
  world.bodies.resize(spheres);
  world.bodies.owned = spheres;
  Random random(3);
  for (Local n = 0; n < spheres; ++n) {
    make_body(world, n, 0, r, Mobility::dynamic);
    const Vec3 shift(random.uniform(0, 1), random.uniform(0, 1), random.uniform(0, 1));
    world.bodies.position[n] =
        2 * r * Vec3(n % across, n / across % across, n / (across * across)) + r * shake * shift;
  }
  add_container(world, Vec3::Constant(-r), Vec3(2 * r * across, 2 * r * across, 2 * r * layers + 0.5));
  sort_bodies(world.bodies, Team(1));
  return world;
}

World random_mixture(Local spheres, Real ratio) {
  // thrown at random; of two that overlap the smaller goes, until enough remain
  World world = empty_world();
  Random random(2);
  const Local thrown = 2 * spheres;
  world.bodies.resize(thrown);
  world.bodies.owned = thrown;
  Real sum = 0;
  for (Local i = 0; i < thrown; ++i) {
    make_body(world, i, 0, 1e-3 * std::pow(ratio, random.uniform()), Mobility::dynamic);
    sum += volume(world.shapes[0], world.bodies.radius[i]);
  }
  const Real side = std::cbrt(sum / 0.6);
  for (Vec3& x : world.bodies.position) x = side * Vec3(random.uniform(), random.uniform(), random.uniform());
  sort_bodies(world.bodies, Team(1));

  Detector detector;
  Contacts contacts;
  const BodyVector rest(thrown);
  detector.find(world.bodies, world.shapes, world.materials, rest, 1, {}, Team(1), contacts);
  std::vector<char> gone(thrown, 0);
  for (Local c = 0; c < contacts.size(); ++c) {
    const Local a = contacts.a[c], b = contacts.b[c];
    if (contacts.gap[c] < 0) gone[world.bodies.radius[a] < world.bodies.radius[b] ? a : b] = 1;
  }
  // spread the places of those that stay over the whole, so that the number is as asked
  Array<Local> stay;
  for (Local i = 0; i < thrown; ++i)
    if (!gone[i]) stay.push_back(i);
  const Local n = std::min<Local>(spheres, static_cast<Local>(stay.size()));
  Array<Local> order(n);
  for (Local i = 0; i < n; ++i) order[i] = stay[static_cast<std::size_t>(i) * stay.size() / n];
  world.bodies.reorder(order);
  world.bodies.owned = n;
  return world;
}

}  // namespace talus
