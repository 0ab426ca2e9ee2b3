// From a scene to a world: what is in it, and starts that are refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>

#include "io/scene_text.hpp"
#include "io/temporary.hpp"
#include "talus/collision/detector.hpp"
#include "talus/io/hdf5_file.hpp"
#include "talus/io/scene.hpp"

namespace talus {
namespace {

World build(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return build_world(parse_scene(text, "scene.toml", overrides));
}

std::string build_refusal(const std::string& text) {
  try {
    build(text);
  } catch (const InputError& e) {
    return e.what();
  }
  ADD_FAILURE() << "built:\n" << text;
  return "";
}

const std::string glass = "[materials.glass]\nfriction = 0.25\ndensity = 2500\n";
const std::string ground = "[[containers]]\nname = \"ground\"\nshape = \"half_space\"\n";

TEST(BuildWorld, BodiesFillsAndContainersInOrder) {
  const World w = build(R"(
[simulation]
gravity = [0, 0, -1.62]
[materials.a]
friction = 0.5
density = 1000
[materials.b]
friction = 0.2
density = 2000
[[pairs]]
between = ["a", "b"]
friction = 0.9
[[containers]]
name = "bin"
shape = "box"
min = [0, 0, 0]
max = [1, 2, 3]
open = ["top", "x_minus"]
material = "a"
[[bodies]]
name = "ball"
shape = "sphere"
radius = 0.1
position = [0.5, 0.5, 2]
velocity = [0, 0, -1]
material = "b"
[[bodies]]
shape = "box"
size = [0.2, 0.4, 0.6]
position = [0.5, 1.5, 2]
density = 500
material = "b"
[[fills]]
arrangement = "lattice"
in = "bin"
count = 5
radius = 0.1
mass = 3
material = "a"
)");
  const Bodies& b = w.bodies;
  ASSERT_EQ(b.size(), 8);
  EXPECT_EQ(b.owned, 8);
  for (Local i = 0; i < 8; ++i) EXPECT_EQ(b.id[i], i);
  EXPECT_EQ(w.gravity, Vec3(0, 0, -1.62));
  // the ball
  EXPECT_EQ(w.names[b.name[0]], "ball");
  EXPECT_EQ(b.velocity[0].linear, Vec3(0, 0, -1));
  EXPECT_DOUBLE_EQ(b.mass[0], 2000 * 4.0 / 3 * std::numbers::pi * 1e-3);
  EXPECT_DOUBLE_EQ(b.inertia[0].x(), 0.4 * b.mass[0] * 0.01);
  // the box
  EXPECT_DOUBLE_EQ(b.mass[1], 500 * 0.2 * 0.4 * 0.6);
  EXPECT_DOUBLE_EQ(b.inertia[1].z(), b.mass[1] * (0.04 + 0.16) / 12);
  EXPECT_EQ(b.name[1], -1);
  EXPECT_EQ(w.shapes[b.shape[1]].half, Vec3(0.1, 0.2, 0.3));
  // the fill
  EXPECT_EQ(b.mass[4], 3.0);
  EXPECT_EQ(b.radius[4], 0.1);
  EXPECT_EQ(w.materials[b.material[4]].name, "a");
  // the container
  EXPECT_EQ(b.mobility[7], Mobility::fixed);
  EXPECT_EQ(w.shapes[b.shape[7]].kind, ShapeKind::hollow_box);
  EXPECT_EQ(w.shapes[b.shape[7]].open, face_bit(Face::top) | face_bit(Face::x_minus));
  EXPECT_EQ(b.position[7], Vec3(0.5, 1, 1.5));
  EXPECT_EQ(w.materials.pair(b.material[0], b.material[7]).friction, 0.9);
  EXPECT_EQ(w.materials.pair(b.material[0], b.material[0]).friction, 0.2);
}

TEST(BuildWorld, MotionsMakeBodiesPrescribed) {
  const World w = build(
      glass + "[[bodies]]\nshape = \"sphere\"\nradius = 1\nmotion = { velocity = [\"1 + t\", 0, 0] }\n" +
      "[[bodies]]\nshape = \"sphere\"\nradius = 1\nposition = [5, 0, 0]\nfixed = true\n");
  EXPECT_EQ(w.bodies.mobility[0], Mobility::prescribed);
  EXPECT_EQ(w.bodies.velocity[0].linear, Vec3(1, 0, 0));
  ASSERT_EQ(w.motions.size(), 1u);
  EXPECT_EQ(w.motions.at(0)->at(2).linear, Vec3(3, 0, 0));
  EXPECT_EQ(w.bodies.mobility[1], Mobility::fixed);
}

TEST(BuildWorld, HalfSpacePointsAlongItsNormal) {
  const World w =
      build(glass +
            "[[bodies]]\nshape = \"sphere\"\nradius = 1\nposition = [5, 0, 0]\n[[containers]]\nname = "
            "\"wall\"\nshape = \"half_space\"\npoint = [1, 0, 0]\nnormal = [2, 0, 0]\n");
  EXPECT_TRUE((w.bodies.orientation[1] * Vec3::UnitZ()).isApprox(Vec3::UnitX(), 1e-15));
  EXPECT_EQ(w.bodies.position[1], Vec3(1, 0, 0));
}

TEST(BuildWorld, GroupsBecomeBits) {
  const std::string ball = "[[bodies]]\nshape = \"sphere\"\nradius = 1\n";
  const World w = build(glass + ball + "group = \"a\"\n" + ball + "group = \"c\"\nignores = [\"a\"]\n" +
                        ball + "position = [9, 0, 0]\n");
  EXPECT_FALSE(w.bodies.may_touch(0, 1));  // else their overlap would be refused
  EXPECT_TRUE(w.bodies.may_touch(0, 2));
  EXPECT_TRUE(w.bodies.may_touch(1, 2));
}

TEST(BuildWorld, OverlappingStart) {
  const std::string ball = "[[bodies]]\nshape = \"sphere\"\nradius = 0.1\n";
  EXPECT_TRUE(has(
      build_refusal(glass + ball + "name = \"one\"\n" + ball + "name = \"two\"\nposition = [0.15, 0, 0]\n"),
      {"scene.toml:", "body 'one'", "overlaps body 'two' by 0.05 m", "move them apart"}));
  EXPECT_TRUE(has(build_refusal(glass + ground + ball + "position = [0, 0, 0.05]\n"),
                  {"scene.toml:7:", "overlaps container 'ground'"}));
  // just touching, or less than collision.start_overlap, is fine
  EXPECT_EQ(build(glass + ground + ball + "position = [0, 0, 0.0999]\n").bodies.size(), 2);
  EXPECT_TRUE(
      has(build_refusal(glass + "[[containers]]\nname = \"bin\"\nshape = \"box\"\nsize = [1, 1, 1]\n" + ball +
                        "position = [0.45, 0, 0]\n"),
          {"overlaps container 'bin'"}));
}

TEST(BuildWorld, FillsThatMeetAreNamed) {
  const std::string fill =
      "[[fills]]\narrangement = \"lattice\"\nmin = [0, 0, 0]\nmax = [1, 1, 1]\nradius = 0.1\n";
  EXPECT_TRUE(has(build_refusal(glass + fill + "name = \"a\"\n" + fill + "name = \"b\"\n"),
                  {"sphere ", "of fill 'a'", "of fill 'b'", "such contacts"}));
}

TEST(BuildWorld, UnsupportedPairs) {
  const std::string boxed =
      "[[bodies]]\nname = \"crate\"\nshape = \"box\"\nsize = [1, 1, 1]\nposition = [3, 0, 0]\n";
  const std::string drum = "[[bodies]]\nname = \"drum\"\nshape = \"cylinder\"\nradius = 1\nheight = 1\n";
  ASSERT_FALSE(pair_supported(ShapeKind::box, ShapeKind::cylinder));
  EXPECT_TRUE(has(
      build_refusal(glass + boxed + drum),
      {"scene.toml:9:", "body 'drum' (cylinder) may touch body 'crate' (box)", "not supported", "group"}));
  EXPECT_EQ(build(glass + boxed + "group = \"crates\"\n" + drum + "ignores = [\"crates\"]\n").bodies.size(),
            2);
}

TEST(BuildWorld, FillInATurnedContainer) {
  const World w = build(
      glass +
      "[[containers]]\nname = \"bin\"\nshape = \"box\"\nsize = [1, 1, 2]\nposition = [3, 3, 3]\norientation "
      "= { axis = [1, 1, 0], angle = 40 }\n[[fills]]\nin = \"bin\"\nradius = 0.1\ncount = 60\n");
  EXPECT_EQ(w.bodies.size(), 61);  // built at all: the overlap check holds every sphere against the walls
}

TEST(BuildWorld, FillInACylinder) {
  const World w =
      build(glass +
            "[[containers]]\nname = \"drum\"\nshape = \"cylinder\"\nradius = 1\nheight = 2\nposition = [0, "
            "0, 1]\n[[fills]]\nin = \"drum\"\nradius = { uniform = [0.05, 0.1] }\ncount = 200\n");
  EXPECT_EQ(w.bodies.size(), 201);
}

TEST(BuildWorld, ErrorsOfFillsHaveTheirPlace) {
  EXPECT_TRUE(
      has(build_refusal(glass + "[[fills]]\nname = \"x\"\nmin = [0, 0, 0]\nmax = [1, 1, 1]\nradius = 2\n"),
          {"scene.toml:4:", "fill 'x'", "not one sphere fits"}));
}

TEST(BuildWorld, FilesGiveTheirBodies) {
  TemporaryDirectory dir;
  std::ofstream(dir / "beads.csv") << "x,y,z,r,mass\n0,0,1,0.1,7\n0,0,2,0.1,8\n";
  {
    Hdf5File f = Hdf5File::create(dir / "beads.h5");
    f.write<double>("position", std::vector<double>{5, 0, 1}, {1, 3});
    f.write<double>("radius", std::vector<double>{0.5});
    f.close();
  }
  std::ofstream(dir / "scene.toml")
      << glass << "[[files]]\npath = \"beads.csv\"\n[[files]]\npath = \"beads.h5\"\nmass = 2\n";
  const World w = build_world(load_scene(dir / "scene.toml"));
  ASSERT_EQ(w.bodies.size(), 3);
  EXPECT_EQ(w.bodies.mass[1], 8.0);
  EXPECT_EQ(w.bodies.mass[2], 2.0);
  EXPECT_EQ(w.bodies.position[2], Vec3(5, 0, 1));
  std::ofstream(dir / "beads.csv") << "x,y,z,r\n0,0,1,-0.1\n";
  try {
    build_world(load_scene(dir / "scene.toml"));
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_TRUE(has(e.what(), {"beads.csv:2:1: error:", "radius is -0.1"}));
  }
}

TEST(BuildWorld, StepSettingsCarryTheScene) {
  const Scene s = parse_scene(
      small_scene +
          "[collision]\nmargin = 0.01\nrecovery_speed = 0\n[solver]\nmodel = \"exact\"\ntolerance = "
          "1e-7\nmax_iterations = 17\nwarm_start = false\n[solver.apgd]\nq = 0.5\n",
      "s.toml");
  const StepSettings t = step_settings(s);
  EXPECT_EQ(t.detector.margin, 0.01);
  EXPECT_EQ(t.recovery_speed, 0.0);
  EXPECT_EQ(t.solver.model, Model::exact);
  EXPECT_EQ(t.solver.tolerance, 1e-7);
  EXPECT_EQ(t.solver.max_iterations, 17);
  EXPECT_FALSE(t.warm_start);
  EXPECT_EQ(t.solver.options.apgd.q, 0.5);
  EXPECT_LT(step_settings(parse_scene(small_scene, "s.toml")).recovery_speed, 0);
}

TEST(Figures, OfASmallScene) {
  const Scene s = parse_scene(
      glass +
          "[simulation]\nduration = 0.5\nstep = 1e-3\n[[containers]]\nname = \"bin\"\nshape = \"box\"\nmin = "
          "[0, 0, 0]\nmax = [1, 1, 1]\n[[fills]]\narrangement = \"lattice\"\nin = \"bin\"\nradius = 0.1\n",
      "s.toml");
  const World w = build_world(s);
  const SceneFigures f = scene_figures(s, w);
  EXPECT_EQ(f.bodies, 125);
  EXPECT_EQ(f.moving, 125);
  EXPECT_EQ(f.walls, 1);
  EXPECT_NEAR(f.solid_fraction, std::numbers::pi / 6, 1e-12);
  EXPECT_NEAR(f.mass, 2500 * std::numbers::pi / 6, 1e-9);
  EXPECT_EQ(f.steps, 500);
  EXPECT_NEAR(f.suggested_step, 0.5 * 0.1 / std::sqrt(2 * 9.81), 1e-12);
  EXPECT_GT(f.memory_bytes, 0);
}

// ---- the scenes that are shipped
// --------------------------------------------------------------------------------

class ShippedScene : public ::testing::TestWithParam<const char*> {};

TEST_P(ShippedScene, LoadsBuildsAndResolves) {
  const std::string path = std::string(TALUS_SOURCE_DIR "/scenes/") + GetParam() + ".toml";
  const Scene scene = load_scene(path);
  EXPECT_TRUE(scene.warnings.empty());
  EXPECT_FALSE(scene.title.empty());
  const World world = build_world(scene);
  EXPECT_GT(scene_figures(scene, world).moving, 0);
  // the resolved scene builds the same world, bit for bit
  const Scene again = parse_scene(resolved_toml(scene), "resolved.toml");
  EXPECT_TRUE(compare_scenes(scene, again).empty());
  EXPECT_EQ(state_hash(build_world(again).bodies), state_hash(world.bodies));
}

INSTANTIATE_TEST_SUITE_P(All, ShippedScene,
                         ::testing::Values("sedimentation", "slab", "ball", "incline", "stack", "hcp"));

TEST(ShippedScenes, TheListIsComplete) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TALUS_SOURCE_DIR "/scenes"))
    files += entry.path().extension() == ".toml";
  EXPECT_EQ(files, 6);
}

TEST(SceneDocs, EveryExampleLoadsAndBuilds) {
  const std::string path = TALUS_SOURCE_DIR "/docs/scene.md";
  std::ifstream in(path);
  std::string line, example;
  int examples = 0, at = 0, begin = 0;
  bool inside = false;
  while (std::getline(in, line)) {
    ++at;
    if (line == "```toml") {
      inside = true, begin = at, example.clear();
    } else if (line == "```" && inside) {
      inside = false;
      ++examples;
      try {
        const Scene scene = parse_scene(example, path);
        EXPECT_TRUE(scene.warnings.empty());
        EXPECT_GT(build_world(scene).bodies.size(), 0);
      } catch (const InputError& e) {
        ADD_FAILURE() << "the example at line " << begin << " of docs/scene.md: " << e.what();
      }
    } else if (inside) {
      example += line + "\n";
    }
  }
  EXPECT_GE(examples, 10);
}

// ---- settled beds from files
// ------------------------------------------------------------------------------------

/// A scene over a bed file whose comment lines state the problem: "# box Lx Ly Lz mass m mu MU h H env E" and
/// "# slab size .. mass M pos .. quat ..".
std::string bed_scene(const std::string& path) {
  std::ifstream in(path);
  std::string line, word, x[16];
  std::getline(in, line);
  std::istringstream head(line);
  head >> word >> word >> x[0] >> x[1] >> x[2] >> word >> x[3] >> word >> x[4] >> word >> x[5] >> word >>
      x[6];
  std::ostringstream out;
  out << "[simulation]\nstep = " << x[5] << "\n[materials.bead]\nfriction = " << x[4]
      << "\n[collision]\nmargin = " << std::to_string(2 * std::stod(x[6]))
      << "\nrecovery_speed = 0\n[[files]]\npath = '" << path << "'\nmass = " << x[3]
      << "\n[[containers]]\nname = \"box\"\nshape = \"box\"\nmin = [0, 0, 0]\nmax = [" << x[0] << ", " << x[1]
      << ", " << x[2] << "]\nopen = [\"top\"]\n";
  std::getline(in, line);
  if (line.starts_with("# slab")) {
    std::istringstream slab(line);
    slab >> word >> word >> word >> x[0] >> x[1] >> x[2] >> word >> x[3] >> word >> x[4] >> x[5] >> x[6] >>
        word >> x[7] >> x[8] >> x[9] >> x[10];
    out << "[[bodies]]\nname = \"slab\"\nshape = \"box\"\nsize = [" << x[0] << ", " << x[1] << ", " << x[2]
        << "]\nmass = " << x[3] << ".0\nposition = [" << x[4] << ", " << x[5] << ", " << x[6]
        << "]\norientation = [" << x[7] << ", " << x[8] << ", " << x[9] << ", " << x[10] << "]\n";
  }
  return out.str();
}

struct Bed {
  const char* file;
  Local bodies, contacts;
};
class SettledBed : public ::testing::TestWithParam<Bed> {};

TEST_P(SettledBed, HasItsStatedContacts) {
  const std::string path = std::string(TALUS_SOURCE_DIR "/../shared/states/") + GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Scene scene = parse_scene(bed_scene(path), "bed.toml");
  const World world = build_world(scene);
  EXPECT_EQ(world.bodies.size(), GetParam().bodies);
  Detector detector;
  Contacts contacts;
  const Array<Twist> rest(static_cast<std::size_t>(world.bodies.size()));
  detector.find(world.bodies, world.shapes, world.materials, rest, scene.simulation.step,
                step_settings(scene).detector, Team(1), contacts);
  EXPECT_EQ(contacts.size(), GetParam().contacts);
}

INSTANTIATE_TEST_SUITE_P(
    States, SettledBed,
    ::testing::Values(Bed{"sed_N1000.csv", 1001, 3295}, Bed{"sed_N10000.csv", 10001, 33234},
                      Bed{"sed_N25000.csv", 25001, 80325}, Bed{"slab_N4000.csv", 4002, 14289}),
    [](const auto& i) { return std::string(i.param.file).substr(0, std::string(i.param.file).find('.')); });

}  // namespace
}  // namespace talus
