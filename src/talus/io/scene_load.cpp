// From text to a Scene: reading by the schema, then what concerns several keys at once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "talus/base/error.hpp"
#include "talus/io/body_file.hpp"
#include "talus/io/fill.hpp"
#include "talus/io/scene_motion.hpp"
#include "talus/io/scene_schema.hpp"

namespace talus {
namespace {

namespace fs = std::filesystem;

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known,
                         std::string_view what) {
  const std::string near = nearest_word(word, known);
  if (!near.empty()) return fmt::format("did you mean '{}'?", near);
  if (known.empty()) return fmt::format("the scene has no {}", what);
  return fmt::format("known: {}", fmt::join(known, ", "));
}

/// Checks one Scene against itself, with the tree it was read from for the places of keys.
class Checker {
 public:
  Checker(Scene& scene, const Value& root, Complaints& complaints)
      : scene_(scene), root_(root), complaints_(complaints) {}

  void check() {
    simulation();
    materials();
    collect_names();
    each("containers", scene_.containers, [&](SceneContainer& c) { container(c); });
    each("bodies", scene_.bodies, [&](SceneBody& b) { body(b); });
    each("files", scene_.files, [&](SceneFile& f) { file(f); });
    each("fills", scene_.fills, [&](SceneFill& f) { fill(f); });
    groups();
    guards();
    if (scene_.bodies.empty() && scene_.fills.empty() && scene_.files.empty() && !complaints_.any())
      complaints_.error(root_.at, "the scene has no bodies; add [[bodies]], [[fills]] or [[files]]");
  }

 private:
  /// Visits a list with `item_` pointing at the tree of each element.
  template <class T, class F>
  void each(const char* list, std::vector<T>& items, F&& f) {
    const Value* tree = root_.find(list);
    for (std::size_t i = 0; i < items.size(); ++i) {
      item_ = &(*tree->as<List>())[i];
      where_ = fmt::format("{}.{}", list, i);
      f(items[i]);
    }
    item_ = nullptr;
  }
  const Position& at(std::string_view key) const {
    const Value* v = item_->find(key);
    return v ? v->at : item_->at;
  }
  void error(std::string_view key, const std::string& what) {
    complaints_.error(at(key), fmt::format("{}: {}", where_, what));
  }

  void simulation() {
    const SceneSimulation& s = scene_.simulation;
    const Value* table = root_.find("simulation");
    const Value* step = table ? table->find("step") : nullptr;
    const Position& where = step ? step->at : root_.at;
    if (!(s.duration / s.step < 1e15))
      complaints_.error(
          where,
          fmt::format("simulation.step = {} s makes more than 1e15 steps of {} s; is the unit seconds?",
                      s.step, s.duration));
    if (s.duration > 0 && s.duration < 0.5 * s.step)
      complaints_.error(where, fmt::format("simulation.step = {} s is longer than the whole duration of {} s",
                                           s.step, s.duration));
  }

  void materials() {
    for (const auto& [name, m] : scene_.materials) material_names_.push_back(name);
    std::set<std::pair<std::string, std::string>> seen;
    each("pairs", scene_.pairs, [&](ScenePair& p) {
      if (p.between.size() != 2) {
        if (item_->find("between"))
          error("between", fmt::format("between has {} names; it must have two", p.between.size()));
        return;
      }
      for (const std::string& name : p.between) known_material(name, "between");
      if (!seen.insert(std::minmax(p.between[0], p.between[1])).second)
        error("between",
              fmt::format("the pair '{}' and '{}' is given twice; remove one", p.between[0], p.between[1]));
    });
  }

  void known_material(const std::string& name, std::string_view key) {
    if (!scene_.materials.contains(name))
      error(key, fmt::format("there is no material '{}'; {}", name,
                             did_you_mean(name, material_names_, "[materials.NAME]")));
  }

  void material(std::string& name) {
    if (!name.empty()) return known_material(name, "material");
    if (material_names_.size() == 1) {
      name = material_names_.front();
    } else if (material_names_.empty()) {
      error("material", "the scene has no material; add one: [materials.NAME] with friction and density");
    } else {
      error("material",
            fmt::format("material is missing; it must be one of {}", fmt::join(material_names_, ", ")));
    }
  }

  void collect_names() {
    std::set<std::string> seen;
    auto unique = [&](const std::string& name) {
      if (!name.empty() && !seen.insert(name).second)
        error("name", fmt::format("the name '{}' is given twice; forces.csv needs different names", name));
    };
    each("containers", scene_.containers, [&](SceneContainer& c) { unique(c.name); });
    each("bodies", scene_.bodies, [&](SceneBody& b) { unique(b.name); });
    std::set<std::string> lists;
    auto unique_list = [&](const std::string& name) {
      if (!name.empty() && !lists.insert(name).second)
        error("name", fmt::format("the name '{}' is given twice", name));
    };
    each("files", scene_.files, [&](SceneFile& f) { unique_list(f.name); });
    each("fills", scene_.fills, [&](SceneFill& f) { unique_list(f.name); });
  }

  void ordered(const std::optional<Vec3>& low, const std::optional<Vec3>& high) {
    if (!low || !high) return;
    for (int k = 0; k < 3; ++k)
      if (!((*low)[k] < (*high)[k]))
        error("max", fmt::format("max is not above min in {} ({} to {})", "xyz"[k], (*low)[k], (*high)[k]));
  }

  void motion(std::optional<SceneMotion>& m) {
    if (!m) return;
    const Value* tree = item_->find("motion");
    auto where = [&](std::string_view key) { return tree->find(key) ? tree->find(key)->at : tree->at; };
    auto fail = [&](std::string_view key, const std::string& what) {
      complaints_.error(where(key), fmt::format("{}.motion: {}", where_, what));
    };
    const bool by_velocity = tree->find("velocity") || tree->find("angular_velocity");
    const int ways = by_velocity + (tree->find("table") != nullptr) + (tree->find("file") != nullptr);
    // a resolved scene lists all keys: zero velocities beside a table say nothing
    const bool idle = !has_velocity(*m);
    if (ways == 0) return fail("", "it is empty; give velocity, angular_velocity, table or file");
    if (ways > (by_velocity && idle ? 2 : 1))
      return fail("velocity", "give either velocities, or table, or file, not several");
    if (!m->file.empty()) {
      m->file = beside(m->file, where("file"));
      if (!digest(m->file, m->digest, where("file"), where("digest"))) return;
    } else if (!m->digest.empty()) {
      fail("digest", "digest is of a file, and there is none");
    }
    if (complaints_.any()) return;
    try {
      const Twist v = make_motion(*m)->at(0);
      if (!v.linear.allFinite() || !v.angular.allFinite())
        fail("velocity", "the velocity at t = 0 is not finite");
    } catch (const InputError& e) {
      if (m->file.empty())
        fail("velocity", e.what());
      else
        complaints_.error(where("file"), e.what());
    }
  }

  void container(SceneContainer& c) {
    material(c.material);
    if (c.shape == ContainerShape::box) {
      const bool corners = c.min || c.max;
      if (corners && (c.size || c.position))
        error("size", "give either min and max, or size and position");
      else if (corners && !(c.min && c.max))
        error(c.min ? "min" : "max", "min and max belong together");
      else if (!corners && !c.size)
        error("shape", "a box needs its interior: min and max, or size (and position)");
      ordered(c.min, c.max);
      if (std::count(c.open.begin(), c.open.end(), "side"))
        error("open", "a box has no face 'side'; it has x_minus, x_plus, y_minus, y_plus, floor, top");
      if (c.open.size() >= 6) error("open", "all faces are open; remove the container");
    }
    if (c.shape == ContainerShape::cylinder)
      for (const std::string& face : c.open)
        if (face != "side" && face != "floor" && face != "top")
          error("open", fmt::format("a cylinder has no face '{}'; it has side, floor, top", face));
    if (c.normal && !(c.normal->stableNorm() > 0))
      error("normal", "normal is zero; give a direction like [0, 0, 1]");
    motion(c.motion);
  }

  template <class T>
  void mass(const T& b) {
    if (b.mass && b.density) error("density", "give mass or density, not both");
  }

  void body(SceneBody& b) {
    material(b.material);
    mass(b);
    if (b.fixed && b.motion) error("fixed", "give fixed = true or motion, not both");
    if ((b.fixed || b.motion) && (!b.velocity.isZero(0) || !b.angular_velocity.isZero(0)))
      error("velocity", b.fixed ? "a fixed body has no velocity; remove velocity or fixed"
                                : "its motion says how it moves; remove velocity and angular_velocity");
    motion(b.motion);
  }

  void file(SceneFile& f) {
    material(f.material);
    mass(f);
    if (f.path.empty()) return;
    f.path = beside(f.path, at("path"));
    digest(f.path, f.digest, at("path"), at("digest"));
  }

  void fill(SceneFill& f) {
    material(f.material);
    mass(f);
    if (!f.container.empty()) {
      std::vector<std::string> names;
      const SceneContainer* found = nullptr;
      for (const SceneContainer& c : scene_.containers) {
        if (c.shape != ContainerShape::half_space) names.push_back(c.name);
        if (c.name == f.container) found = &c;
      }
      if (!found)
        error("in", fmt::format("there is no container '{}'; {}", f.container,
                                did_you_mean(f.container, names, "box or cylinder container")));
      else if (found->shape == ContainerShape::half_space)
        error("in", "a half-space has no inside; give min and max");
      else if ((f.min || f.max) && found->orientation.value.coeffs() != Quat::Identity().coeffs())
        error(f.min ? "min" : "max", "a part of a turned container cannot be given; remove min and max");
    } else if (!f.min || (!f.max && !f.cells)) {
      error("arrangement", f.cells ? "say where: `in = \"CONTAINER\"`, or min"
                                   : "say where: `in = \"CONTAINER\"`, or min and max");
    }
    ordered(f.min, f.max);
    if (f.count && f.cells) error("cells", "give count or cells, not both");
    const Real expected = f.count   ? static_cast<Real>(*f.count)
                          : f.cells ? static_cast<Real>((*f.cells)[0]) * (*f.cells)[1] * (*f.cells)[2]
                                    : 0;
    if (expected > static_cast<Real>(most_bodies()))
      error(
          f.count ? "count" : "cells",
          fmt::format(
              "{:.3g} spheres need about {:.3g} GB, which this machine does not have (room for about {:.2g})",
              expected, expected * 1.5e-6, static_cast<Real>(most_bodies())));
  }

  void groups() {
    std::vector<std::string> known;
    for_all([&](auto& item) {
      if (item.group.empty())
        error("group", "the name of a group must not be empty; remove the key for the default");
      if (std::find(known.begin(), known.end(), item.group) == known.end()) known.push_back(item.group);
    });
    for_all([&](auto& item) {
      for (const std::string& n : item.ignores)
        if (std::find(known.begin(), known.end(), n) == known.end())
          error("ignores", fmt::format("there is no group '{}'; {}", n, did_you_mean(n, known, "groups")));
    });
    if (known.size() > 32)
      complaints_.error(root_.at,
                        fmt::format("the scene has {} collision groups; 32 are possible", known.size()));
  }

  template <class F>
  void for_all(F&& f) {
    each("containers", scene_.containers, f);
    each("bodies", scene_.bodies, f);
    each("files", scene_.files, f);
    each("fills", scene_.fills, f);
  }

  void guards() {
    item_ = root_.find("guards");
    if (!item_) return;
    where_ = "guards";
    if (scene_.guards.min.has_value() != scene_.guards.max.has_value())
      error(scene_.guards.min ? "min" : "max", "min and max belong together");
    ordered(scene_.guards.min, scene_.guards.max);
  }

  /// Paths are relative to the file that names them.
  static std::string beside(const std::string& path, const Position& where) {
    const fs::path p(path);
    if (p.is_absolute() || !where.file || where.line == 0) return fs::absolute(p).lexically_normal().string();
    return fs::absolute(fs::path(*where.file).parent_path() / p).lexically_normal().string();
  }

  bool digest(const std::string& path, std::string& given, const Position& path_at,
              const Position& digest_at) {
    try {
      const std::string now = file_digest(path);
      if (!given.empty() && given != now) {
        complaints_.error(digest_at, fmt::format("{}: '{}' is not the file this scene was made with (digest "
                                                 "{} instead of {}); remove the digest to accept it",
                                                 where_, path, now, given));
        return false;
      }
      given = now;
      return true;
    } catch (const InputError&) {
      complaints_.error(path_at, fmt::format("{}: there is no file '{}'", where_, path));
      return false;
    }
  }

  Scene& scene_;
  const Value& root_;
  Complaints& complaints_;
  const Value* item_ = nullptr;
  std::string where_;
  std::vector<std::string> material_names_;
};

Scene scene_from(Value root, const std::string& path, const std::vector<std::string>& overrides) {
  for (const std::string& o : overrides) apply_override(root, o);
  Scene scene;
  scene.path = path;
  Complaints complaints;
  scene_schema().read(root, &scene, "", complaints);
  complaints.raise_if_any();  // what follows relies on well-formed tables
  Checker(scene, root, complaints).check();
  complaints.raise_if_any();
  scene.warnings = complaints.warnings();
  return scene;
}

}  // namespace

Scene load_scene(const fs::path& path, const std::vector<std::string>& overrides) {
  return scene_from(read_toml_file(path.string()), path.string(), overrides);
}

Scene parse_scene(std::string_view text, const std::string& name, const std::vector<std::string>& overrides) {
  Value root = parse_toml(text, name);
  if (const Value* include = root.find("include"))
    throw InputError(include->at.text() + ": error: include works in scene files only");
  return scene_from(std::move(root), name, overrides);
}

}  // namespace talus
