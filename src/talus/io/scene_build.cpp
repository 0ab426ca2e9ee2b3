// From a Scene to a World.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "talus/base/error.hpp"
#include "talus/io/body_file.hpp"
#include "talus/io/fill.hpp"
#include "talus/io/scene_motion.hpp"
#include "talus/io/scene_start.hpp"

namespace talus {
namespace {

Vec3 box_size(const SceneContainer& c) {
  return c.size ? *c.size : Vec3(*c.max - *c.min);
}

Vec3 centre_of(const SceneContainer& c) {
  if (c.shape == ContainerShape::half_space) return c.point.value_or(Vec3::Zero());
  if (c.min) return 0.5 * (*c.min + *c.max);
  return c.position.value_or(Vec3::Zero());
}

/// A container's axes; a half-space has z along its normal.
Quat orientation_of(const SceneContainer& c) {
  if (c.shape != ContainerShape::half_space || !c.normal) return c.orientation.value;
  const Vec3 n = c.normal->stableNormalized();
  return n == Vec3::UnitZ() ? Quat::Identity() : Quat::FromTwoVectors(Vec3::UnitZ(), n);
}

Shape shape_of(const SceneContainer& c) {
  constexpr std::pair<const char*, Face> faces[] = {{"x_minus", Face::x_minus}, {"x_plus", Face::x_plus},
                                                    {"y_minus", Face::y_minus}, {"y_plus", Face::y_plus},
                                                    {"floor", Face::floor},     {"top", Face::top},
                                                    {"side", Face::side}};
  Shape s;
  switch (c.shape) {
    case ContainerShape::box:
      s.kind = ShapeKind::hollow_box;
      s.half = 0.5 * box_size(c);
      break;
    case ContainerShape::cylinder:
      s.kind = ShapeKind::hollow_cylinder;
      s.radius = *c.radius;
      s.half = Vec3(*c.radius, *c.radius, 0.5 * *c.height);
      break;
    case ContainerShape::half_space:
      s.kind = ShapeKind::half_space;
      break;
  }
  for (const std::string& name : c.open)
    for (const auto& [word, face] : faces)
      if (name == word) s.open |= face_bit(face);
  return s;
}

Shape shape_of(const SceneBody& b) {
  Shape s;
  switch (b.shape) {
    case BodyShape::sphere:
      break;
    case BodyShape::box:
      s.kind = ShapeKind::box;
      s.half = 0.5 * *b.size;
      break;
    case BodyShape::cylinder:
      s.kind = ShapeKind::cylinder;
      s.radius = *b.radius;
      s.half = Vec3(*b.radius, *b.radius, 0.5 * *b.height);
      break;
  }
  return s;
}

/// Appends bodies to a World and remembers where in the scene each came from.
class Builder {
 public:
  explicit Builder(const Scene& scene) : scene_(scene) {
    world_.gravity = scene.simulation.gravity;
    for (const auto& [name, m] : scene.materials)
      world_.materials.add({name, m.density, ContactLaw{m.friction}});
    for (const ScenePair& p : scene.pairs)
      world_.materials.set_pair(world_.materials.find(p.between[0]), world_.materials.find(p.between[1]),
                                ContactLaw{p.friction});
    auto collect = [&](const auto& items) {
      for (const auto& item : items)
        if (std::find(groups_.begin(), groups_.end(), item.group) == groups_.end())
          groups_.push_back(item.group);
    };
    collect(scene.containers), collect(scene.bodies), collect(scene.files), collect(scene.fills);
  }

  void add(const SceneBody& b) {
    const Shape shape = shape_of(b);
    const Real size = b.radius.value_or(0);
    begin(b.at, b.name.empty() ? "body" : "body '" + b.name + "'");
    const Local i = append(shape, size, b);
    Bodies& bodies = world_.bodies;
    bodies.position[i] = b.position;
    bodies.orientation[i] = b.orientation.value;
    bodies.velocity[i] = {b.velocity, b.angular_velocity};
    set_mass(i, shape, size, b, 0);
    if (!b.name.empty()) bodies.name[i] = add_name(b.name);
    if (b.fixed) bodies.mobility[i] = Mobility::fixed;
    set_motion(i, b.motion);
    obstacles_.push_back({shape, b.position, b.orientation.value, size});
    end();
  }

  void add(const SceneFile& f) {
    begin(f.at, f.name.empty() ? "file '" + std::filesystem::path(f.path).filename().string() + "'"
                               : "file '" + f.name + "'");
    add_spheres(read_body_file(f.path, f.dataset), f);
    end();
  }

  void add(const SceneFill& f) {
    begin(f.at, f.name.empty() ? "fill" : "fill '" + f.name + "'");
    add_spheres(fill_region(f, region_of(f), obstacles_, spheres_), f);
    end();
  }

  void add(const SceneContainer& c) {
    begin(c.at, "container '" + c.name + "'");
    const Local i = append(shape_of(c), 0, c);
    world_.bodies.position[i] = centre_of(c);
    world_.bodies.orientation[i] = orientation_of(c);
    world_.bodies.mobility[i] = Mobility::fixed;
    world_.bodies.name[i] = add_name(c.name);
    set_motion(i, c.motion);
    end();
  }

  World finish(std::vector<BodySource>& sources) {
    world_.bodies.owned = world_.bodies.size();
    sources = std::move(sources_);
    return std::move(world_);
  }

 private:
  void begin(const Position& at, std::string label) {
    sources_.push_back({world_.bodies.size(), 0, at, std::move(label)});
  }
  void end() { sources_.back().end = world_.bodies.size(); }

  FillRegion region_of(const SceneFill& f) const {
    FillRegion region;
    if (f.container.empty()) {
      region.min = *f.min;
      region.max = f.max ? *f.max : Vec3::Constant(std::numeric_limits<Real>::infinity());
      return region;
    }
    const SceneContainer& c = *std::find_if(scene_.containers.begin(), scene_.containers.end(),
                                            [&](const SceneContainer& x) { return x.name == f.container; });
    const Shape shape = shape_of(c);
    region.centre = centre_of(c);
    region.orientation = c.orientation.value;
    region.max = shape.half;
    region.min = -shape.half;
    if (c.shape == ContainerShape::cylinder) region.radius = *c.radius;
    if (c.min) {  // corners as written, so that nothing is lost to rounding
      region.centre = Vec3::Zero();
      region.min = *c.min;
      region.max = *c.max;
      if (c.orientation.value.coeffs() != Quat::Identity().coeffs())
        region.centre = centre_of(c), region.min = -shape.half, region.max = shape.half;
    }
    if (f.min) region.min = region.min.cwiseMax(*f.min - region.centre);
    if (f.max) region.max = region.max.cwiseMin(*f.max - region.centre);
    if (!(region.min.array() < region.max.array()).all())
      throw InputError(
          fmt::format("{}: error: min and max are outside of container '{}'", f.at.text(), f.container));
    return region;
  }

  std::uint32_t bits(const std::vector<std::string>& names) const {
    std::uint32_t b = 0;
    for (const std::string& n : names)
      b |= std::uint32_t{1} << (std::find(groups_.begin(), groups_.end(), n) - groups_.begin());
    return b;
  }

  Local shape_index(const Shape& shape) {
    // from the back: the many follow each other
    for (Local k = static_cast<Local>(world_.shapes.size()) - 1; k >= 0; --k)
      if (world_.shapes[k] == shape) return k;
    world_.shapes.push_back(shape);
    return static_cast<Local>(world_.shapes.size()) - 1;
  }

  Local add_name(const std::string& name) {
    world_.names.push_back(name);
    return static_cast<Local>(world_.names.size()) - 1;
  }

  template <class Item>
  Local append(const Shape& shape, Real size, const Item& item, Local count = 1) {
    Bodies& b = world_.bodies;
    const Local first = b.size();
    if (static_cast<Real>(first) + static_cast<Real>(count) > static_cast<Real>(most_bodies()))
      throw InputError(
          fmt::format("{}: error: more than {:.2g} bodies, which this machine's memory cannot hold",
                      item.at.text(), static_cast<Real>(most_bodies())));
    b.resize(first + count);
    const Local shape_id = shape_index(shape), material = world_.materials.find(item.material);
    const std::uint32_t group = bits({item.group}), mask = ~bits(item.ignores);
    for (Local i = first; i < first + count; ++i) {
      b.id[i] = i;
      b.shape[i] = shape_id;
      b.material[i] = material;
      b.name[i] = -1;
      b.group[i] = group;
      b.mask[i] = mask;
      b.mobility[i] = Mobility::dynamic;
      b.position[i].setZero();
      b.orientation[i].setIdentity();
      b.radius[i] = bounding_radius(shape, size);
      b.mass[i] = 0;
      b.inertia[i].setZero();
      b.velocity[i] = {};
    }
    return first;
  }

  /// Its own mass where there is one (`own` > 0), else the scene's mass, density, or the material's density.
  template <class Item>
  void set_mass(Local i, const Shape& shape, Real size, const Item& item, Real own) {
    Bodies& b = world_.bodies;
    const Real density = item.density.value_or(world_.materials[b.material[i]].density);
    b.mass[i] = own > 0 ? own : item.mass ? *item.mass : density * volume(shape, size);
    b.inertia[i] = b.mass[i] * inertia_per_mass(shape, size);
    if (!(b.mass[i] > 0) || !std::isfinite(b.mass[i]) || !(b.inertia[i].minCoeff() > 0) ||
        !b.inertia[i].allFinite())
      throw InputError(fmt::format(
          "{}: error: the mass of a body is {} kg and its inertia {} kg m², beyond what numbers can hold; "
          "check radius and density",
          item.at.text(), b.mass[i], b.inertia[i].minCoeff()));
  }

  template <class Item>
  void add_spheres(const BodyList& list, const Item& item) {
    const Shape sphere;
    const Real count = static_cast<Real>(list.position.size());
    if (count > static_cast<Real>(most_bodies()))
      throw InputError(fmt::format("{}: error: {:.3g} bodies cannot fit in the memory of this machine",
                                   item.at.text(), count));
    const Local first = append(sphere, 0, item, static_cast<Local>(list.position.size()));
    Bodies& b = world_.bodies;
    for (std::size_t k = 0; k < list.position.size(); ++k) {
      const Local i = first + static_cast<Local>(k);
      b.position[i] = list.position[k];
      b.radius[i] = list.radius[k];
      if (!list.orientation.empty()) b.orientation[i] = list.orientation[k].normalized();
      if (!list.velocity.empty()) b.velocity[i].linear = list.velocity[k];
      if (!list.angular_velocity.empty()) b.velocity[i].angular = list.angular_velocity[k];
      set_mass(i, sphere, list.radius[k], item, list.mass.empty() ? 0 : list.mass[k]);
    }
    spheres_.position.insert(spheres_.position.end(), list.position.begin(), list.position.end());
    spheres_.radius.insert(spheres_.radius.end(), list.radius.begin(), list.radius.end());
  }

  void set_motion(Local i, const std::optional<SceneMotion>& motion) {
    if (!motion) return;
    world_.bodies.mobility[i] = Mobility::prescribed;
    std::unique_ptr<Motion> m = make_motion(*motion);
    world_.bodies.velocity[i] = m->at(0);
    world_.motions[world_.bodies.id[i]] = std::move(m);
  }

  const Scene& scene_;
  World world_;
  std::vector<std::string> groups_;
  std::vector<BodySource> sources_;
  std::vector<Obstacle> obstacles_;  ///< single bodies, for random fills
  BodyList spheres_;                 ///< those of files and fills so far
};

}  // namespace

World build_world(const Scene& scene) {
  Builder builder(scene);
  for (const SceneBody& b : scene.bodies) builder.add(b);
  for (const SceneFile& f : scene.files) builder.add(f);
  for (const SceneFill& f : scene.fills) builder.add(f);
  for (const SceneContainer& c : scene.containers) builder.add(c);
  std::vector<BodySource> sources;
  World world = builder.finish(sources);
  check_start(scene, world, sources);
  return world;
}

StepSettings step_settings(const Scene& scene) {
  StepSettings s;
  s.solver.solver = scene.solver.name;
  s.solver.model = scene.solver.model;
  s.solver.tolerance = scene.solver.tolerance;
  s.solver.residual = scene.solver.residual;
  s.solver.max_iterations = scene.solver.max_iterations;
  s.solver.options = scene.solver.options;
  s.warm_start = scene.solver.warm_start;
  s.detector.margin = scene.collision.margin.value.value_or(0);
  s.recovery_speed = scene.collision.recovery_speed.value.value_or(-1);
  s.reorder_every = scene.collision.reorder_every;
  return s;
}

Global step_count(const Scene& scene) {
  return static_cast<Global>(std::llround(scene.simulation.duration / scene.simulation.step));
}

SceneFigures scene_figures(const Scene& scene, const World& world) {
  SceneFigures f;
  const Bodies& b = world.bodies;
  Real solid = 0, room = 0, speed = 0;
  Vec3 low = Vec3::Constant(std::numeric_limits<Real>::infinity()), high = -low;
  Real smallest = std::numeric_limits<Real>::infinity();
  for (Local i = 0; i < b.size(); ++i) {
    const Shape& shape = world.shapes[b.shape[i]];
    if (shape.kind == ShapeKind::hollow_box) room += 8 * shape.half.prod();
    if (shape.kind == ShapeKind::hollow_cylinder)
      room += 2 * std::numbers::pi * shape.radius * shape.radius * shape.half.z();
    speed = std::max(speed, b.velocity[i].linear.norm());
    if (is_unbounded(shape.kind)) {
      ++f.walls;
      if (shape.kind != ShapeKind::half_space) {
        const Vec3 reach = b.orientation[i].toRotationMatrix().cwiseAbs() * shape.half;
        low = low.cwiseMin(b.position[i] - reach);
        high = high.cwiseMax(b.position[i] + reach);
      }
      continue;
    }
    ++f.bodies;
    low = low.cwiseMin(b.position[i]);
    high = high.cwiseMax(b.position[i]);
    if (!b.moves_freely(i)) continue;
    ++f.moving;
    f.mass += b.mass[i];
    solid += volume(shape, b.radius[i]);
    const Real r = inscribed_radius(shape, b.radius[i]);
    smallest = std::min(smallest, r);
    f.largest_radius = std::max(f.largest_radius, b.radius[i]);
  }
  if (f.moving > 0) f.smallest_radius = smallest;
  if (room > 0) f.solid_fraction = solid / room;
  // What falls through the whole scene, or moves already: it should travel at most half the smallest radius
  // in a step, or the contact margin would be cut.
  const Vec3 g = world.gravity;
  const Real drop = g.norm() > 0 && low.allFinite() ? (high - low).dot(g.cwiseAbs()) / g.norm() : 0;
  speed = std::max(speed, std::sqrt(2 * g.norm() * drop));
  if (speed > 0 && f.moving > 0) f.suggested_step = 0.5 * smallest / speed;
  f.steps = step_count(scene);
  f.memory_bytes = 1500 * static_cast<Global>(b.size()) + (Global{40} << 20);
  return f;
}

}  // namespace talus
