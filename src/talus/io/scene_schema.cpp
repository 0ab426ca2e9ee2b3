#include "talus/io/scene_schema.hpp"

#include <fmt/format.h>

#include "talus/io/scene_codecs.hpp"

namespace talus {
namespace {

using Schema = std::shared_ptr<const TableSchema>;

// Limits that only nonsense crosses. Anything a lab or a planet might need is inside, so that a scene may be
// scaled by large factors; units mixed up by 10³ or 10⁶ in the wrong direction mostly are not.
constexpr Real shortest = 1e-12, longest = 1e9;    // m
constexpr Real lightest = 1e-30, heaviest = 1e24;  // kg
constexpr Real thinnest = 1e-3, densest = 1e8;     // kg/m³; osmium has 22 590
constexpr Real fastest = 1e6;                      // m/s

template <class T>
Key& length(TableSchema& s, const char* name, T member, const char* doc) {
  return s.key(name, member, "m", doc)
      .positive("lengths are in metres")
      .between(shortest, longest, "lengths are in metres");
}

Schema simulation_schema() {
  auto s = std::make_shared<TableSchema>("simulation", "Time and gravity.");
  using S = SceneSimulation;
  s->key("step", &S::step, "s", "Length of a time step. `talus check` suggests one.")
      .positive()
      .at_most(1e4, "times are in seconds");
  s->key("duration", &S::duration, "s", "Simulated time of the whole run, a whole number of steps (rounded).")
      .at_least(0)
      .at_most(1e12, "times are in seconds")
      .resumable();
  s->key("gravity", &S::gravity, "m/s²", "Acceleration of gravity.").between(-1e6, 1e6, "gravity is in m/s²");
  return s;
}

/// Options of one solver, from the solver's own list.
template <class Options>
Schema options_schema(const std::string& group) {
  auto s = std::make_shared<TableSchema>(
      "solver." + group,
      group == "exact"
          ? std::string("Options of the loop that makes any solver of the relaxed law obey Coulomb's law.")
          : fmt::format("Options of `{}`.", group));
  Options defaults;
  Options::each(defaults, [&](std::string_view name, auto& field, std::string_view doc, Choices choices) {
    s->field_at(std::string(name), field, offset_in(defaults, field), "", std::string(doc) + ".")
        .one_of({choices.begin(), choices.end()})
        .resumable();
  });
  return s;
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverInfo& info : solver_table()) names.emplace_back(info.name);
  return names;
}

Schema solver_schema() {
  auto s = std::make_shared<TableSchema>("solver", "How the contact problem of each step is solved.");
  using S = SceneSolver;
  s->key("name", &S::name, "", "The method; `talus solvers` lists them.").one_of(solver_names()).resumable();
  s->key("model", &S::model, "",
         "The friction law: `relaxed` is the cone complementarity problem, `exact` is Coulomb's law, "
         "`lagged` corrects "
         "the relaxed law by the slip of the step before.")
      .resumable();
  s->key("tolerance", &S::tolerance, "", "The solver stops when `residual` is below this.")
      .positive()
      .at_most(1e6, "")
      .resumable();
  s->key("residual", &S::residual, "", "What the tolerance is on.")
      .one_of({residual_names().begin(), residual_names().end()})
      .resumable();
  s->key("max_iterations", &S::max_iterations, "", "Most iterations of a step.").at_least(1).resumable();
  s->key("on_unconverged", &S::on_unconverged, "",
         "When the tolerance was not reached: go on and count it (`warn`), end the run with exit code 3 "
         "(`stop`), or do "
         "the step again as two half steps (`retry`).")
      .resumable();
  s->key("warm_start", &S::warm_start, "", "Start from the impulses of the step before.").resumable();
  S defaults;
  SolverOptions::each(defaults.options, [&](std::string_view group, auto& options) {
    using Options = std::remove_reference_t<decltype(options)>;
    s->table_at(std::string(group), offset_in(defaults, options),
                options_schema<Options>(std::string(group)));
  });
  return s;
}

Schema collision_schema() {
  auto s =
      std::make_shared<TableSchema>("collision", "Which contacts are seen, and what happens to overlap.");
  using S = SceneCollision;
  s->key("margin", &S::margin, "m",
         "Contacts are listed up to this gap. `\"auto\"`: what the two bodies can close within one step.")
      .at_least(0)
      .at_most(longest, "lengths are in metres");
  s->key("recovery_speed", &S::recovery_speed, "m/s",
         "Overlap is pushed apart at most this fast; 0: not at all. `\"auto\"`: 0.1·√(g R) of the smaller "
         "body.")
      .at_least(0)
      .at_most(fastest, "speeds are in m/s");
  s->key("start_overlap", &S::start_overlap, "",
         "Largest overlap allowed at the start, as a fraction of the smaller body's radius.")
      .between(0, 1);
  s->key("reorder_every", &S::reorder_every, "steps", "Bodies are sorted along the Morton curve this often.")
      .at_least(1);
  return s;
}

Schema material_schema() {
  auto s = std::make_shared<TableSchema>(
      "materials",
      "A surface and a density. Where two materials meet, the smaller friction holds unless [[pairs]] "
      "says otherwise.");
  using S = SceneMaterial;
  s->key("friction", &S::friction, "", "Coulomb's coefficient μ.")
      .at_least(0)
      .at_most(1e3, "μ is a ratio of forces, mostly 0 to 1");
  s->key("density", &S::density, "kg/m³", "Used by bodies that give neither mass nor density.")
      .positive()
      .between(thinnest, densest, "densities are in kg/m³: water has 1000, steel 7850")
      .odd_outside(0.5, 30000);
  s->later({"cohesion", "cohesion_range", "rolling", "rolling_friction", "spinning", "spinning_friction",
            "restitution", "surface_speed"});
  s->located(&S::at);
  return s;
}

Schema pair_schema() {
  auto s = std::make_shared<TableSchema>("pairs", "The contact law where two materials meet.");
  using S = ScenePair;
  s->key("between", &S::between, "",
         "The names of two materials (the same twice for a material with itself).")
      .required();
  s->key("friction", &S::friction, "", "Coulomb's coefficient μ.")
      .at_least(0)
      .at_most(1e3, "μ is a ratio of forces, mostly 0 to 1")
      .required();
  s->later({"cohesion", "cohesion_range", "rolling", "rolling_friction", "spinning", "spinning_friction",
            "restitution"});
  s->located(&S::at);
  return s;
}

Schema motion_schema() {
  static const Schema schema = [] {
    auto s = std::make_shared<TableSchema>(
        "motion = { ... }",
        "Prescribed motion of a body or container: it moves as told, whatever the contacts do. Give either "
        "velocities "
        "(numbers, or expressions of `t` such as `\"0.1*sin(2*pi*t)\"`), or a table over time.");
    using S = SceneMotion;
    s->key("velocity", &S::velocity, "m/s", "Velocity of the mass centre (of the centre of a container).");
    s->key("angular_velocity", &S::angular_velocity, "rad/s", "Angular velocity, world axes.");
    s->key("table", &S::table, "s, m/s, rad/s",
           "Rows of [t, vx, vy, vz, wx, wy, wz] or [t, vx, vy, vz] with ascending t; linear between rows, "
           "constant before "
           "the first and after the last.");
    s->key("file", &S::file, "",
           "CSV file with such rows, columns named in its first line; relative to the scene file.")
        .resumable();
    s->key("digest", &S::digest, "",
           "Of the content of `file`; written into scene.resolved.toml and checked when given.");
    s->located(&S::at);
    return s;
  }();
  return schema;
}

template <class S>
void group_keys(TableSchema& s) {
  s.key("group", &S::group, "", "The collision group it belongs to; any name makes a group, at most 32.");
  s.key("ignores", &S::ignores, "", "Names of groups it does not collide with.");
}

template <class S>
void mass_keys(TableSchema& s, const char* of) {
  s.key("mass", &S::mass, "kg",
        fmt::format("Mass of {}; or give `density`, or the material's holds.", of).c_str())
      .positive()
      .between(lightest, heaviest, "masses are in kg");
  s.key("density", &S::density, "kg/m³", "In place of the material's.")
      .positive()
      .between(thinnest, densest, "densities are in kg/m³: water has 1000, steel 7850")
      .odd_outside(0.5, 30000);
}

Schema container_schema() {
  auto s = std::make_shared<TableSchema>(
      "containers",
      "Walls: a hollow box or cylinder that holds bodies inside, or a half-space they rest on. Forces on "
      "each, and on each face, are in forces.csv.");
  using S = SceneContainer;
  s->key("name", &S::name, "", "Its name in forces.csv and for `in` of fills.").required();
  s->key("shape", &S::shape, "", "").required().one_of({}, {"mesh", "sphere", "periodic"});
  s->key("min", &S::min, "m", "Lower corner of the interior; with `max`, in place of `size`.")
      .between(-longest, longest, "lengths are in metres")
      .only("shape", {"box"});
  s->key("max", &S::max, "m", "Upper corner of the interior.")
      .between(-longest, longest, "lengths are in metres")
      .only("shape", {"box"});
  length(*s, "size", &S::size, "Edges of the interior, around `position`.").only("shape", {"box"});
  length(*s, "radius", &S::radius, "Radius of the interior.").required().only("shape", {"cylinder"});
  length(*s, "height", &S::height, "Height of the interior; the axis is z of the container.")
      .required()
      .only("shape", {"cylinder"});
  s->key("position", &S::position, "m", "Centre of the interior. Default: the origin.")
      .between(-longest, longest, "lengths are in metres")
      .only("shape", {"box", "cylinder"});
  s->key("orientation", &S::orientation, "", "Rotation about the centre.").only("shape", {"box", "cylinder"});
  s->key("point", &S::point, "m", "A point of the surface. Default: the origin.")
      .between(-longest, longest, "lengths are in metres")
      .only("shape", {"half_space"});
  s->key("normal", &S::normal, "", "Points out of the solid, to where the bodies are. Default: [0, 0, 1].")
      .between(-longest, longest)
      .only("shape", {"half_space"});
  s->key("open", &S::open, "",
         "Faces that are missing; a cylinder has `side`, `floor` and `top`, a box the others.")
      .one_of({"x_minus", "x_plus", "y_minus", "y_plus", "floor", "top", "side"})
      .only("shape", {"box", "cylinder"});
  s->key("material", &S::material, "", "Default: the only material of the scene, when there is one.");
  s->table("motion", &S::motion, motion_schema(), "It moves as prescribed.");
  group_keys<S>(*s);
  s->later({"periodic", "servo", "surface_speed"});
  s->located(&S::at);
  return s;
}

Schema body_schema() {
  auto s =
      std::make_shared<TableSchema>("bodies", "A single body. Many bodies belong in [[fills]] or [[files]].");
  using S = SceneBody;
  s->key("name", &S::name, "", "A named body has its forces in forces.csv.");
  s->key("shape", &S::shape, "", "")
      .required()
      .one_of({}, {"ellipsoid", "capsule", "mesh", "clump", "convex", "polyhedron", "cone"});
  length(*s, "radius", &S::radius, "").required().only("shape", {"sphere", "cylinder"});
  length(*s, "size", &S::size, "Edges.").required().only("shape", {"box"});
  length(*s, "height", &S::height, "Along the axis, z of the body.").required().only("shape", {"cylinder"});
  s->key("position", &S::position, "m", "Of the mass centre.")
      .between(-longest, longest, "lengths are in metres");
  s->key("orientation", &S::orientation, "",
         "Body axes to world: a quaternion [w, x, y, z], `{ axis = [x, y, z], angle = degrees }`, or "
         "`{ euler = [x, y, z] }` in degrees about the fixed x, then y, then z axis.");
  s->key("velocity", &S::velocity, "m/s", "At the start.").between(-fastest, fastest, "speeds are in m/s");
  s->key("angular_velocity", &S::angular_velocity, "rad/s", "At the start, world axes.").between(-1e12, 1e12);
  s->key("material", &S::material, "", "Default: the only material of the scene, when there is one.");
  mass_keys<S>(*s, "the body");
  s->key("fixed", &S::fixed, "", "The body never moves.");
  s->table("motion", &S::motion, motion_schema(), "It moves as prescribed.");
  group_keys<S>(*s);
  s->later({"joint", "joints", "force", "torque", "restitution", "locked", "half_axes", "mesh", "count"});
  s->located(&S::at);
  return s;
}

Schema fill_schema() {
  auto s = std::make_shared<TableSchema>("fills",
                                         "Many spheres at once, in a container or in a box given by `min` "
                                         "and `max`; without `count` as many as fit.");
  using S = SceneFill;
  s->key("name", &S::name, "", "For `--set fills.NAME.key=value` and messages.");
  s->key("arrangement", &S::arrangement, "",
         "`random`: anywhere without overlap; `lattice`: cubic, from the bottom up; `jittered`: a lattice "
         "with random "
         "displacements; `hcp`: hexagonal close packing, touching.");
  s->key("in", &S::container, "", "Name of the container to fill. Give this, or `min` and `max`.");
  s->key("min", &S::min, "m",
         "Lower corner of the box to fill; with `in`, of the part of the container (its own axes and centre "
         "apply).")
      .between(-longest, longest, "lengths are in metres");
  s->key("max", &S::max, "m", "Upper corner of the box to fill.")
      .between(-longest, longest, "lengths are in metres");
  s->key("count", &S::count, "", "Number of spheres.").at_least(1);
  s->key("cells", &S::cells, "", "Number of spheres in each direction, from `min`.")
      .only("arrangement", {"lattice", "jittered", "hcp"});
  s->key("radius", &S::radius, "m",
         "A number, or a distribution: `{ uniform = [min, max] }`, `{ lognormal = median, sigma = s, min = "
         "a, max = b }`, "
         "`{ values = [..], weights = [..] }` (weights by number of spheres).")
      .required();
  length(*s, "spacing", &S::spacing, "Distance of neighbouring centres. Default: touching plus `gap`.")
      .only("arrangement", {"lattice", "jittered"});
  s->key("jitter", &S::jitter, "", "Displacements, as a fraction of the free room around each sphere.")
      .between(0, 1)
      .only("arrangement", {"jittered"});
  s->key("gap", &S::gap, "", "Least distance between surfaces, as a fraction of the largest radius.")
      .between(0, 1e6);
  s->key("seed", &S::seed, "", "Of the random numbers: the same seed gives the same bits.").at_least(0);
  s->key("material", &S::material, "", "Default: the only material of the scene, when there is one.");
  mass_keys<S>(*s, "each sphere");
  s->key("velocity", &S::velocity, "m/s", "At the start.").between(-fastest, fastest, "speeds are in m/s");
  s->key("random_speed", &S::random_speed, "m/s",
         "Adds to each sphere a velocity drawn evenly from a ball of this radius.")
      .between(0, fastest, "speeds are in m/s");
  group_keys<S>(*s);
  s->later({"shape", "shapes", "inserter", "rate", "solid_fraction"});
  s->located(&S::at);
  return s;
}

Schema file_schema() {
  auto s = std::make_shared<TableSchema>(
      "files",
      "Spheres from a file. CSV: a line of column names x,y,z,r and optionally vx,vy,vz, wx,wy,wz, "
      "qw,qx,qy,qz, "
      "mass; lines that begin with # are skipped. HDF5: datasets position (n×3), radius (n) and optionally "
      "velocity, angular_velocity (n×3), orientation (n×4, w first), mass (n).");
  using S = SceneFile;
  s->key("name", &S::name, "", "For `--set files.NAME.key=value` and messages.");
  s->key("path", &S::path, "", "The file, relative to the scene file.").required().resumable();
  s->key("dataset", &S::dataset, "", "HDF5: the group that holds the datasets.");
  s->key("digest", &S::digest, "",
         "Of the file's content; written into scene.resolved.toml and checked when given.");
  s->key("material", &S::material, "", "Default: the only material of the scene, when there is one.");
  mass_keys<S>(*s, "each sphere the file gives none for");
  group_keys<S>(*s);
  s->later({"scale", "offset"});
  s->located(&S::at);
  return s;
}

Schema frames_schema() {
  auto s = std::make_shared<TableSchema>("frames", "Pictures of the state for ParaView.");
  using S = SceneFrames;
  s->key("every", &S::every, "s", "Simulated time between frames; 0: none.").at_least(0).resumable();
  s->key("every_steps", &S::every_steps, "steps", "Steps between frames; 0: `every` decides.")
      .at_least(0)
      .resumable();
  s->key("contacts", &S::contacts, "", "Also write contacts with their forces.").resumable();
  return s;
}

Schema checkpoints_schema() {
  auto s = std::make_shared<TableSchema>(
      "checkpoints",
      "Everything needed to go on with `--resume`. One is always written at the end and on signals.");
  using S = SceneCheckpoints;
  s->key("every_steps", &S::every_steps, "steps", "Steps between checkpoints; 0: by wall time only.")
      .at_least(0)
      .resumable();
  s->key("every_minutes", &S::every_minutes, "min", "Wall time between checkpoints; 0: by steps only.")
      .at_least(0)
      .resumable();
  s->key("keep", &S::keep, "", "So many of the latest are kept.").at_least(1).resumable();
  return s;
}

Schema output_schema() {
  auto s = std::make_shared<TableSchema>("output", "What a run writes.");
  using S = SceneOutput;
  s->key("problems", &S::problems, "steps",
         "Write every N-th step's contact problem as an FCLib file; 0: none.")
      .at_least(0)
      .resumable();
  s->table("frames", &S::frames, frames_schema(), "");
  s->table("checkpoints", &S::checkpoints, checkpoints_schema(), "");
  return s;
}

Schema guards_schema() {
  auto s = std::make_shared<TableSchema>(
      "guards",
      "Beyond these limits the run ends with exit code 4, the step, the bodies and a checkpoint of the state "
      "before. A number that is not finite always ends it.");
  using S = SceneGuards;
  s->key("escape", &S::escape, "", "A body that leaves the box from `min` to `max` ends the run.")
      .resumable();
  s->key("min", &S::min, "m", "Default: all bodies and containers at the start, grown by 10 diagonals.")
      .resumable();
  s->key("max", &S::max, "m", "See `min`.").resumable();
  s->key("energy", &S::energy, "",
         "Largest |energy balance| of steps.csv, as a fraction of the energy that was in motion. `\"auto\"`: "
         "0.05; a large "
         "number turns it off.")
      .positive()
      .resumable();
  s->key(
       "penetration", &S::penetration, "",
       "Largest overlap, as a fraction of the smaller radius. `\"auto\"`: 0.5; a large number turns it off.")
      .positive()
      .resumable();
  return s;
}

TableSchema make_scene_schema() {
  TableSchema s("top of the file",
                "`include = [\"other.toml\"]` reads other files first: what this file says wins, lists "
                "such as [[bodies]] are joined.");
  s.key("title", &Scene::title, "", "One line about the scene.").resumable();
  s.table("simulation", &Scene::simulation, simulation_schema(), "");
  s.table("solver", &Scene::solver, solver_schema(), "");
  s.table("collision", &Scene::collision, collision_schema(), "");
  s.named("materials", &Scene::materials, material_schema(), "");
  s.list("pairs", &Scene::pairs, pair_schema(), "");
  s.list("containers", &Scene::containers, container_schema(), "");
  s.list("bodies", &Scene::bodies, body_schema(), "");
  s.list("files", &Scene::files, file_schema(), "");
  s.list("fills", &Scene::fills, fill_schema(), "");
  s.table("output", &Scene::output, output_schema(), "");
  s.table("guards", &Scene::guards, guards_schema(), "");
  s.later({"joints", "motors", "periodic", "inserters", "removal", "removals", "clumps", "meshes", "springs",
           "forces", "domain", "probes"});
  return s;
}

}  // namespace

const TableSchema& scene_schema() {
  static const TableSchema schema = make_scene_schema();
  return schema;
}

std::string scene_reference_markdown() {
  return schema_markdown(scene_schema());
}

std::string scene_json_schema() {
  nlohmann::json j = scene_schema().json_schema();
  j["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  j["title"] = "Talus scene";
  j["properties"]["include"] = {
      {"type", "array"}, {"items", {{"type", "string"}}}, {"description", "Files read first."}};
  return j.dump(2) + "\n";
}

std::string resolved_toml(const Scene& scene) {
  return to_toml(scene_schema().write(&scene));
}

std::vector<SceneDifference> compare_scenes(const Scene& before, const Scene& after) {
  std::vector<SceneDifference> out;
  for (KeyDifference& d :
       schema_compare(scene_schema(), scene_schema().write(&before), scene_schema().write(&after)))
    out.push_back({std::move(d.key), std::move(d.before), std::move(d.after), d.allowed_on_resume});
  return out;
}

}  // namespace talus
