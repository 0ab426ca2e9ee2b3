// Small worlds by hand, for tests of laws: no scene file in between.
#pragma once
#include <limits>
#include <string>

#include "talus/sim/stepper.hpp"
#include "talus/sim/world.hpp"

namespace talus::test {

struct BodySpec {
  Shape shape;
  Real size = 0;       ///< radius of a sphere
  Real mass = 1;
  Vec3 position = Vec3::Zero();
  Quat orientation = Quat::Identity();
  Twist velocity;
  Mobility mobility = Mobility::dynamic;
  std::string name;
  Local material = 0;
};

/// A world with one material of friction μ and gravity g along −z.
inline World make_world(Real friction, const Vec3& gravity = Vec3(0, 0, -9.81)) {
  World world;
  world.materials.add({"stuff", 1000.0, {friction}});
  world.gravity = gravity;
  return world;
}

inline Local add(World& world, const BodySpec& spec) {
  Bodies& b = world.bodies;
  const Local i = b.size();
  b.resize(i + 1);
  b.owned = i + 1;
  world.shapes.push_back(spec.shape);
  b.id[i] = i;
  b.shape[i] = static_cast<Local>(world.shapes.size()) - 1;
  b.material[i] = spec.material;
  b.name[i] = -1;
  if (!spec.name.empty()) {
    b.name[i] = static_cast<Local>(world.names.size());
    world.names.push_back(spec.name);
  }
  b.group[i] = 1;
  b.mask[i] = ~0u;
  b.mobility[i] = spec.mobility;
  b.position[i] = spec.position;
  b.orientation[i] = spec.orientation;
  b.radius[i] = bounding_radius(spec.shape, spec.size);
  b.mass[i] = spec.mass;
  b.inertia[i] = spec.mass * inertia_per_mass(spec.shape, spec.size);
  b.velocity[i] = spec.velocity;
  return i;
}

inline Shape sphere() { return {ShapeKind::sphere}; }
inline Shape box(const Vec3& edges) { return {ShapeKind::box, 0.5 * edges}; }
inline Shape half_space() { return {ShapeKind::half_space}; }
inline Shape hollow_box(const Vec3& edges, std::uint32_t open = face_bit(Face::top)) {
  return {ShapeKind::hollow_box, 0.5 * edges, 0, open};
}

inline Local add_sphere(World& w, Real r, Real mass, const Vec3& x, const Vec3& v = Vec3::Zero()) {
  BodySpec s{.shape = sphere(), .size = r, .mass = mass, .position = x};
  s.velocity.linear = v;
  return add(w, s);
}
inline Local add_box(World& w, const Vec3& edges, Real mass, const Vec3& x, const Vec3& v = Vec3::Zero(),
                     const Quat& q = Quat::Identity()) {
  BodySpec s{.shape = box(edges), .mass = mass, .position = x, .orientation = q};
  s.velocity.linear = v;
  return add(w, s);
}
/// A fixed plane through x whose outward normal is z turned by q.
inline Local add_plane(World& w, const Vec3& x = Vec3::Zero(), const Quat& q = Quat::Identity()) {
  return add(w, {.shape = half_space(), .position = x, .orientation = q, .mobility = Mobility::fixed, .name = "ground"});
}

/// The body with this id, wherever sorting has put it.
inline Local at(const World& w, Global id) { return w.index_of(id); }

inline StepSettings settings(Model model, Real tolerance = 1e-10, int max_iterations = 100000) {
  StepSettings s;
  s.solver.model = model;
  s.solver.tolerance = tolerance;
  s.solver.max_iterations = max_iterations;
  return s;
}

}  // namespace talus::test
