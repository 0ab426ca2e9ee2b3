// A hand-made world with one body of every shape, and contacts between some of them.
#pragma once
#include <limits>

#include "talus/bodies/bodies.hpp"
#include "talus/collision/contacts.hpp"
#include "talus/sim/world.hpp"

namespace talus {

inline World small_world() {
  World world;
  world.shapes.resize(6);
  world.shapes[1] = {ShapeKind::box, Vec3(1, 2, 3), 0, 0};
  world.shapes[2] = {ShapeKind::cylinder, Vec3(0, 0, 0.5), 0.25, 0};
  world.shapes[3] = {ShapeKind::half_space, Vec3::Zero(), 0, 0};
  world.shapes[4] = {ShapeKind::hollow_box, Vec3(5, 5, 5), 0, face_bit(Face::top)};
  world.shapes[5] = {ShapeKind::hollow_cylinder, Vec3(0, 0, 2), 3, 0};
  world.materials.add({"rock", 2500, {0.5}});
  world.names = {"crate", "floor, \"flat\"", "bin"};
  Bodies& b = world.bodies;
  b.resize(7);
  b.owned = 7;
  for (Local i = 0; i < 7; ++i) {
    b.id[i] = 100 + i;
    b.shape[i] = i < 2 ? 0 : i - 1;  // two spheres, then one of each
    b.name[i] = i == 2 ? 0 : i == 4 ? 1 : i == 5 ? 2 : -1;
    b.group[i] = b.mask[i] = 1;
    b.mobility[i] = i < 4 ? Mobility::dynamic : Mobility::fixed;
    b.position[i] = Vec3(i, 0.5 * i, -0.25 * i);
    b.orientation[i] = Quat(Eigen::AngleAxisd(0.1 * i, Vec3(1, 2, 3).normalized()));
    b.radius[i] = i < 4 ? 0.5 + i : std::numeric_limits<Real>::infinity();
    b.mass[i] = 1 + i;
    b.inertia[i] = Vec3(1, 2, 3) * (1 + i);
    b.velocity[i] = {Vec3(1, i, 2), Vec3(-i, 0.1, 0.3)};
  }
  world.time = 0.125;
  world.step = 12;
  world.energy = {1.5, -0.25, 7};
  world.warm_start.key = {{100, 101, 0}, {100, 104, 7}};
  world.warm_start.impulse = {Vec3(1, 2, 3), Vec3(0.1, 0.2, 0.3)};
  world.warm_start.slip = {0.5, 0};
  return world;
}

inline Contacts small_contacts(const World& world) {
  Contacts c;
  c.resize(2);
  for (Local k = 0; k < 2; ++k) {
    c.a[k] = 0;
    c.b[k] = k == 0 ? 1 : 4;
    c.feature[k] = 0;
    c.normal[k] = Vec3::UnitZ();
    c.arm_a[k] = Vec3(0.25, 0, 0.5);
    c.arm_b[k] = world.bodies.position[0] + c.arm_a[k] - world.bodies.position[c.b[k]];
    c.gap[k] = -0.001 * k;
    c.friction[k] = 0.5;
  }
  return c;
}

}  // namespace talus
