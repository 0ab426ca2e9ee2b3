// Scene: what a scene file says, as plain structs with their defaults. docs/scene.md describes every key;
// both it and the reader come from the one description of these structs in scene_schema.cpp.
#pragma once
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "talus/io/schema_value.hpp"
#include "talus/math/vec.hpp"
#include "talus/sim/stepper.hpp"
#include "talus/sim/world.hpp"

namespace talus {

/// A number, or "auto": then it follows from the scene (the key's description says how).
struct AutoReal {
  std::optional<Real> value;
  bool operator==(const AutoReal&) const = default;
};

struct SceneSimulation {
  Real step = 1e-3;   ///< s
  Real duration = 1;  ///< s
  Vec3 gravity = Vec3(0, 0, -9.81);
};

enum class OnUnconverged { warn, stop, retry };

struct SceneSolver {
  std::string name = "apgd";
  Model model = Model::relaxed;
  Real tolerance = 1e-2;
  std::string residual = "scaled";
  int max_iterations = 1000;
  OnUnconverged on_unconverged = OnUnconverged::warn;
  bool warm_start = true;
  SolverOptions options;  ///< [solver.NAME]
};

struct SceneCollision {
  AutoReal margin;            ///< m; gap up to which contacts are listed
  AutoReal recovery_speed;    ///< m/s; overlap is pushed out at most this fast
  Real start_overlap = 0.01;  ///< largest overlap at the start, over the smaller radius
  int reorder_every = 64;     ///< steps
};

struct SceneMaterial {
  Real friction = 0.5;
  Real density = 1000;  ///< kg/m³
  Position at;
};

struct ScenePair {
  std::vector<std::string> between;  ///< two material names
  Real friction = 0;
  Position at;
};

/// Prescribed motion: components are numbers or expressions of t; or a table of (t, vx, vy, vz, wx, wy, wz).
struct SceneMotion {
  using Component = std::variant<Real, std::string>;
  std::array<Component, 3> velocity{0.0, 0.0, 0.0};
  std::array<Component, 3> angular_velocity{0.0, 0.0, 0.0};
  std::vector<std::array<Real, 7>> table;
  std::string file;    ///< CSV with the columns of `table`
  std::string digest;  ///< of the file's content
  Position at;
};

struct SceneOrientation {
  Quat value = Quat::Identity();  ///< unit
};

enum class ContainerShape { box, cylinder, half_space };

struct SceneContainer {
  std::string name;
  ContainerShape shape = ContainerShape::box;
  std::optional<Vec3> min, max;  ///< box: corners of the interior, or
  std::optional<Vec3> size;      ///< its edges around `position`
  std::optional<Real> radius, height;
  std::optional<Vec3> position;  ///< centre of the interior of a box or cylinder
  std::optional<Vec3> point, normal;
  SceneOrientation orientation;
  std::vector<std::string> open;  ///< names of faces that are missing
  std::string material;
  std::optional<SceneMotion> motion;
  std::string group = "default";
  std::vector<std::string> ignores;
  Position at;
};

enum class BodyShape { sphere, box, cylinder };

struct SceneBody {
  std::string name;
  BodyShape shape = BodyShape::sphere;
  std::optional<Real> radius, height;
  std::optional<Vec3> size;
  Vec3 position = Vec3::Zero();
  SceneOrientation orientation;
  Vec3 velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();
  std::string material;
  std::optional<Real> mass, density;
  bool fixed = false;
  std::optional<SceneMotion> motion;
  std::string group = "default";
  std::vector<std::string> ignores;
  Position at;
};

/// Radii of a fill.
struct SizeDistribution {
  enum class Kind { fixed, uniform, lognormal, discrete } kind = Kind::fixed;
  Real value = 0;                     ///< fixed
  Real min = 0, max = 0;              ///< uniform; cut-offs of lognormal
  Real median = 0, sigma = 0;         ///< lognormal: median, standard deviation of ln(radius)
  std::vector<Real> values, weights;  ///< discrete
  Real largest() const;
  Real smallest() const;
};

enum class Arrangement { lattice, jittered, random, hcp };

struct SceneFill {
  std::string name;
  Arrangement arrangement = Arrangement::random;
  std::string container;                    ///< fill the inside of this container, or
  std::optional<Vec3> min, max;             ///< this box
  std::optional<Global> count;              ///< stop after so many; else as many as fit
  std::optional<std::array<int, 3>> cells;  ///< lattice, jittered, hcp: so many in x, y, z from `min`
  SizeDistribution radius;
  std::optional<Real> spacing;  ///< lattice, jittered: distance of neighbours
  Real jitter = 1;              ///< share of the free room used by displacements
  Real gap = 0;                 ///< least distance between surfaces, over the largest radius
  Global seed = 1;
  std::string material;
  std::optional<Real> mass, density;
  Vec3 velocity = Vec3::Zero();
  Real random_speed = 0;
  std::string group = "default";
  std::vector<std::string> ignores;
  Position at;
};

struct SceneFile {
  std::string name;
  std::string path;           ///< absolute once loaded
  std::string dataset = "/";  ///< HDF5: the group that holds the arrays
  std::string digest;         ///< of the file's content; checked when given
  std::string material;
  std::optional<Real> mass, density;  ///< of every body without a mass of its own
  std::string group = "default";
  std::vector<std::string> ignores;
  Position at;
};

struct SceneFrames {
  Real every = 0.02;    ///< s of simulated time; 0: none
  int every_steps = 0;  ///< steps; 0: `every` decides
  bool contacts = true;
};

struct SceneCheckpoints {
  int every_steps = 0;      ///< 0: by wall time, at the end and on signals only
  Real every_minutes = 15;  ///< wall time; 0: off
  int keep = 3;
};

struct SceneOutput {
  SceneFrames frames;
  SceneCheckpoints checkpoints;
  int problems = 0;  ///< every N-th step's contact problem; 0: none
};

/// Limits beyond which a run ends with exit code 4. NaN always does.
struct SceneGuards {
  bool escape = true;            ///< a body that leaves the box below ends the run
  std::optional<Vec3> min, max;  ///< default: everything at the start, grown by 10 of its diagonals
  AutoReal energy;               ///< largest |energy balance| over the energy that was in motion; auto: 0.05
  AutoReal penetration;          ///< largest overlap over the smaller radius; auto: 0.5
};

struct Scene {
  std::string title;
  SceneSimulation simulation;
  SceneSolver solver;
  SceneCollision collision;
  std::map<std::string, SceneMaterial> materials;
  std::vector<ScenePair> pairs;
  std::vector<SceneContainer> containers;
  std::vector<SceneBody> bodies;
  std::vector<SceneFill> fills;
  std::vector<SceneFile> files;
  SceneOutput output;
  SceneGuards guards;

  // not keys of the file
  std::string path;                   ///< the file it came from
  std::vector<std::string> warnings;  ///< odd but allowed; shown to the user before the run
};

/// Reads and checks a scene file; `overrides` are "key.path=value" (`--set`). Throws InputError listing every
/// problem found as "file:line:column: error: what is wrong; what would be right".
Scene load_scene(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});
/// The same from text; files it names are looked for beside `name`.
Scene parse_scene(std::string_view text, const std::string& name,
                  const std::vector<std::string>& overrides = {});

/// The whole scene as TOML, every key with the value in force: reading it gives the same scene.
std::string resolved_toml(const Scene& scene);

struct SceneDifference {
  std::string key;            ///< key path, e.g. "fills.0.count"
  std::string before, after;  ///< as TOML; empty where the key is absent
  bool allowed_on_resume = false;
};
/// Key by key, in the order of the schema.
std::vector<SceneDifference> compare_scenes(const Scene& before, const Scene& after);

/// All of the scene as one World at time 0; ids ascend in the order bodies, files, fills, containers. Throws
/// InputError (a file that cannot be read, bodies that overlap, shapes that cannot meet, ...).
World build_world(const Scene& scene);

StepSettings step_settings(const Scene& scene);

/// Number of steps of length `step` in `duration`.
Global step_count(const Scene& scene);

/// What `talus check` prints.
struct SceneFigures {
  Global bodies = 0, moving = 0, walls = 0;
  Real mass = 0;  ///< kg, moving bodies
  Real smallest_radius = 0, largest_radius = 0;
  Real solid_fraction = 0;  ///< volume of bodies over the volume of containers that hold a volume; 0: none
  Real suggested_step = 0;  ///< s; see docs/scene.md
  Global steps = 0;
  Global memory_bytes = 0;  ///< of the whole program, estimated
};
SceneFigures scene_figures(const Scene& scene, const World& world);

/// From the one schema: docs/scene.md's key tables and docs/scene.schema.json.
std::string scene_reference_markdown();
std::string scene_json_schema();

}  // namespace talus
