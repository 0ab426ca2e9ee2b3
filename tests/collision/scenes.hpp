// Scenes for tests of detection.
#pragma once
#include <cmath>
#include <vector>

#include "talus/base/random.hpp"
#include "talus/collision/detector.hpp"

namespace talus::testing {

/// Bodies with their shapes, one material, and free velocities.
struct TestScene {
  Bodies bodies;
  std::vector<Shape> shapes{{.kind = ShapeKind::sphere}};
  Materials materials;
  Array<Twist> velocity;
  Real h = 1e-3;

  TestScene() { materials.add({"stuff", 1000, {0.5}}); }

  Local add_shape(const Shape& shape) {
    shapes.push_back(shape);
    return static_cast<Local>(shapes.size()) - 1;
  }
  Local add(Local shape, Real size, const Vec3& position, const Quat& orientation = Quat::Identity(),
            Mobility mobility = Mobility::dynamic, const Twist& v = {}) {
    const Local i = bodies.size();
    bodies.resize(i + 1);
    bodies.owned = i + 1;
    bodies.id[i] = i;
    bodies.shape[i] = shape;
    bodies.material[i] = 0;
    bodies.name[i] = -1;
    bodies.group[i] = bodies.mask[i] = 1;
    bodies.mobility[i] = mobility;
    bodies.position[i] = position;
    bodies.orientation[i] = orientation;
    bodies.radius[i] = bounding_radius(shapes[shape], size);
    const Real m = 1000 * volume(shapes[shape], size);
    bodies.mass[i] = m > 0 ? m : 1;
    bodies.inertia[i] = inertia_per_mass(shapes[shape], size) * bodies.mass[i];
    bodies.velocity[i] = v;
    velocity.push_back(v);
    return i;
  }
  Local add_sphere(Real radius, const Vec3& position, const Vec3& v = Vec3::Zero()) {
    return add(0, radius, position, Quat::Identity(), Mobility::dynamic, {v, Vec3::Zero()});
  }
  Local add_wall(const Shape& shape, const Vec3& position = Vec3::Zero(), const Quat& q = Quat::Identity()) {
    return add(add_shape(shape), 0, position, q, Mobility::fixed);
  }

  DetectorReport find(Contacts& contacts, Real margin = 0, int threads = 1) const {
    Detector detector;
    return detector.find(bodies, shapes, materials, velocity, h, {margin}, Team(threads), contacts);
  }
  Contacts contacts(Real margin = 0, int threads = 1) const {
    Contacts c;
    find(c, margin, threads);
    return c;
  }
  Contacts brute_force(Real margin = 0, DetectorReport* report = nullptr) const {
    Contacts c;
    const DetectorReport r = find_contacts_brute_force(bodies, shapes, materials, velocity, h, {margin}, c);
    if (report) *report = r;
    return c;
  }
};

inline Vec3 random_in_box(Random& random, const Vec3& low, const Vec3& high) {
  Vec3 p;
  for (int k = 0; k < 3; ++k) p[k] = random.uniform(low[k], high[k]);
  return p;
}

inline Quat random_rotation(Random& random) {
  Vec3 axis;
  do axis = random_in_box(random, Vec3::Constant(-1), Vec3::Ones());
  while (axis.norm() > 1 || axis.norm() < 1e-3);
  return rotation_exp(axis.normalized() * random.uniform(0, 3.14));
}

/// Same contacts, to the last bit.
inline bool same_bits(const Contacts& p, const Contacts& q) {
  return p.a == q.a && p.b == q.b && p.feature == q.feature && p.gap == q.gap && p.friction == q.friction &&
         p.normal == q.normal && p.arm_a == q.arm_a && p.arm_b == q.arm_b;
}

}  // namespace talus::testing
