// Reading scenes: every bad input gets its place and says what would be right.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "io/scene_text.hpp"
#include "io/temporary.hpp"
#include "talus/io/scene.hpp"

namespace talus {
namespace {

struct Bad {
  const char* what;
  std::string text;
  std::vector<std::string> said;
};

class BadScene : public ::testing::TestWithParam<Bad> {};

TEST_P(BadScene, IsRefusedWithPlaceAndAdvice) {
  EXPECT_TRUE(has(refusal(GetParam().text), GetParam().said));
}

const std::string glass = "[materials.glass]\nfriction = 0.25\n";           // lines 1-2
const std::string ball = "[[bodies]]\nshape = \"sphere\"\nradius = 0.1\n";  // three lines

const Bad bad_scenes[] = {
    {"not_toml", "a = \n", {"scene.toml:1:5: error:", "not TOML"}},
    {"key_twice", "[simulation]\nstep = 1\nstep = 2\n", {"scene.toml:3:", "not TOML"}},
    {"unknown_table",
     small_scene + "\n[simulatoin]\nstep = 1\n",
     {"scene.toml:7:2: error:", "'simulatoin'", "did you mean 'simulation'"}},
    {"unknown_key",
     small_scene + "[simulation]\nstpe = 1\n",
     {"scene.toml:7:1: error:", "'simulation.stpe'", "did you mean 'simulation.step'"}},
    {"key_in_wrong_table", "step = 1e-3\n" + small_scene, {"scene.toml:1:1: error:", "'simulation.step'"}},
    {"unknown_far_key",
     small_scene + "[simulation]\nxyzzy = 1\n",
     {"scene.toml:7:1: error:", "known here: step, duration, gravity"}},
    {"unknown_word",
     small_scene + "[solver]\nmodel = \"exakt\"\n",
     {"scene.toml:7:9: error:", "did you mean \"exact\""}},
    {"unknown_solver",
     small_scene + "[solver]\nname = \"apdg\"\n",
     {"scene.toml:7:8: error:", "did you mean \"apgd\""}},
    {"unknown_option",
     small_scene + "[solver.apgd]\nbeta_mx = 1\n",
     {"scene.toml:7:1: error:", "did you mean 'solver.apgd.beta_max'"}},
    {"wrong_type_number",
     small_scene + "[simulation]\nstep = \"1e-3\"\n",
     {"scene.toml:7:8: error:", "simulation.step is text", "a number in s"}},
    {"wrong_type_vector",
     small_scene + "[simulation]\ngravity = -9.81\n",
     {"scene.toml:7:11: error:", "three numbers [x, y, z] in m/s²"}},
    {"short_vector",
     small_scene + "[simulation]\ngravity = [0, -9.81]\n",
     {"scene.toml:7:11: error:", "a list of 2"}},
    {"wrong_type_in_vector",
     small_scene + "[simulation]\ngravity = [0, 0, \"g\"]\n",
     {"scene.toml:7:18: error:", "simulation.gravity is text"}},
    {"wrong_type_bool",
     small_scene + "fixed = 1\n",
     {"scene.toml:6:9: error:", "bodies.0.fixed is a whole number; it must be true or false"}},
    {"wrong_type_whole",
     small_scene + "[solver]\nmax_iterations = 1.5\n",
     {"scene.toml:7:18: error:", "a whole number"}},
    {"whole_too_large",
     small_scene + "[solver]\nmax_iterations = 3000000000\n",
     {"scene.toml:7:18: error:", "out of range"}},
    {"date", small_scene + "[simulation]\nstep = 2020-01-01\n", {"scene.toml:7:8: error:", "a date or time"}},
    {"negative_radius",
     glass + "[[bodies]]\nshape = \"sphere\"\nradius = -0.1\n",
     {"scene.toml:5:10: error:", "bodies.0.radius = -0.1"}},
    {"zero_radius",
     glass + "[[bodies]]\nshape = \"sphere\"\nradius = 0\n",
     {"scene.toml:5:10: error:", "bodies.0.radius = 0"}},
    {"absurd_radius",
     glass + "[[bodies]]\nshape = \"sphere\"\nradius = 1e12\n",
     {"scene.toml:5:10: error:", "metres"}},
    {"absurd_density",
     "[materials.glass]\ndensity = 1e9\n" + ball,
     {"scene.toml:2:11: error:", "kg/m³: water has 1000"}},
    {"negative_friction",
     "[materials.glass]\nfriction = -0.1\n" + ball,
     {"scene.toml:2:12: error:", "at least 0"}},
    {"nan", small_scene + "position = [0, nan, 0]\n", {"scene.toml:6:16: error:", "finite"}},
    {"inf", small_scene + "mass = inf\n", {"scene.toml:6:8: error:", "finite"}},
    {"zero_step",
     small_scene + "[simulation]\nstep = 0\n",
     {"scene.toml:7:8: error:", "simulation.step = 0", "above 0 and at most 10000 s"}},
    {"negative_step", small_scene + "[simulation]\nstep = -1e-3\n", {"scene.toml:7:8: error:"}},
    {"too_many_steps",
     small_scene + "[simulation]\nstep = 1e-18\n",
     {"scene.toml:7:8: error:", "1e15 steps"}},
    {"step_beyond_duration",
     small_scene + "[simulation]\nstep = 0.1\nduration = 0.01\n",
     {"scene.toml:7:8: error:", "longer than the whole duration"}},
    {"missing_required",
     glass + "[[bodies]]\nshape = \"sphere\"\n",
     {"scene.toml:3:", "bodies.0.radius is missing"}},
    {"missing_shape",
     glass + "[[bodies]]\nradius = 1\n",
     {"scene.toml:3:", "bodies.0.shape is missing", "\"sphere\", \"box\""}},
    {"key_of_other_shape",
     glass + "[[bodies]]\nshape = \"sphere\"\nradius = 1\nsize = [1, 1, 1]\n",
     {"scene.toml:6:8: error:", "bodies.0.size is for shape = \"box\" only", "radius"}},
    {"later_shape",
     glass + "[[bodies]]\nshape = \"ellipsoid\"\n",
     {"scene.toml:4:9: error:", "not supported yet"}},
    {"later_law",
     "[materials.glass]\ncohesion = 200\n" + ball,
     {"scene.toml:2:1: error:", "'materials.glass.cohesion' is not supported yet"}},
    {"later_restitution", "[materials.glass]\nrestitution = 0.5\n" + ball, {"not supported yet"}},
    {"later_joints",
     small_scene + "[[joints]]\na = 1\n",
     {"scene.toml:6:3: error:", "'joints' is not supported yet"}},
    {"later_periodic", small_scene + "[periodic]\nx = 1\n", {"'periodic' is not supported yet"}},
    {"table_for_list", glass + "[bodies]\nshape = \"sphere\"\n", {"scene.toml:3:", "write [[bodies]]"}},
    {"list_for_table",
     small_scene + "[[simulation]]\nstep = 1\n",
     {"scene.toml:6:", "simulation is a list; it must be a table"}},
    {"value_for_table", "simulation = 3\n" + small_scene, {"scene.toml:1:14: error:", "it must be a table"}},
    {"unnamed_material",
     "[materials]\nfriction = 1\n" + ball,
     {"scene.toml:2:12: error:", "materials.friction is a whole number; it must be a table"}},
    {"no_material", ball, {"scene.toml:1:", "no material", "[materials.NAME]"}},
    {"which_material",
     "[materials.a]\n[materials.b]\n" + ball,
     {"scene.toml:3:", "material is missing", "a, b"}},
    {"unknown_material",
     small_scene + "material = \"glas\"\n",
     {"scene.toml:6:12: error:", "did you mean 'glass'"}},
    {"pair_of_one",
     small_scene + "[[pairs]]\nbetween = [\"glass\"]\nfriction = 1\n",
     {"scene.toml:7:11: error:", "two"}},
    {"pair_unknown",
     small_scene + "[[pairs]]\nbetween = [\"glass\", \"stele\"]\nfriction = 1\n",
     {"scene.toml:7:11: error:", "'stele'"}},
    {"pair_twice",
     "[materials.a]\n[materials.b]\n[[pairs]]\nbetween = [\"a\", \"b\"]\nfriction = 1\n[[pairs]]\nbetween = "
     "[\"b\", \"a\"]\nfriction = 1\n" +
         ball + "material=\"a\"\n",
     {"scene.toml:7:11: error:", "given twice"}},
    {"name_twice",
     glass + ball + "name = \"x\"\n" + ball + "name = \"x\"\n",
     {"scene.toml:10:8: error:", "'x' is given twice"}},
    {"mass_and_density",
     small_scene + "mass = 1\ndensity = 1\n",
     {"scene.toml:7:11: error:", "mass or density"}},
    {"fixed_and_moving",
     small_scene + "fixed = true\nvelocity = [1, 0, 0]\n",
     {"scene.toml:7:12: error:", "fixed"}},
    {"fixed_and_motion",
     small_scene + "fixed = true\nmotion = { velocity = [1, 0, 0] }\n",
     {"scene.toml:6:9: error:", "not both"}},
    {"quaternion_of_three",
     small_scene + "orientation = [1, 0, 0]\n",
     {"scene.toml:6:15: error:", "four numbers"}},
    {"quaternion_not_unit",
     small_scene + "orientation = [2, 0, 0, 0]\n",
     {"scene.toml:6:15: error:", "norm 2"}},
    {"zero_axis",
     small_scene + "orientation = { axis = [0, 0, 0], angle = 3 }\n",
     {"scene.toml:6:24: error:", "zero"}},
    {"orientation_mixed",
     small_scene + "orientation = { axis = [0, 0, 1], euler = [1, 2, 3] }\n",
     {"scene.toml:6:15: error:", "either"}},
    {"orientation_typo",
     small_scene + "orientation = { axes = [0, 0, 1], angle = 3 }\n",
     {"scene.toml:6:17: error:", "did you mean 'axis'"}},
    {"motion_empty", small_scene + "motion = { }\n", {"scene.toml:6:10: error:", "empty"}},
    {"motion_two_ways",
     small_scene + "motion = { velocity = [1, 0, 0], table = [[0, 0, 0, 0]] }\n",
     {"scene.toml:6:23: error:", "not several"}},
    {"motion_bad_expression",
     small_scene + "motion = { velocity = [\"sin(q)\", 0, 0] }\n",
     {"scene.toml:6:23: error:", "sin(q)", "may use t"}},
    {"motion_not_finite",
     small_scene + "motion = { velocity = [\"1/t\", 0, 0] }\n",
     {"scene.toml:6:23: error:", "t = 0"}},
    {"motion_times",
     small_scene + "motion = { table = [[0, 0, 0, 0], [0, 1, 0, 0]] }\n",
     {"scene.toml:6:35: error:", "ascend"}},
    {"motion_row",
     small_scene + "motion = { table = [[0, 0, 0]] }\n",
     {"scene.toml:6:21: error:", "a row of 3"}},
    {"motion_missing_file",
     small_scene + "motion = { file = \"nowhere.csv\" }\n",
     {"scene.toml:6:19: error:", "nowhere.csv"}},
    {"container_without_size",
     small_scene + "[[containers]]\nname = \"bin\"\nshape = \"box\"\n",
     {"scene.toml:8:9: error:", "min and max, or size"}},
    {"container_half_corners",
     small_scene + "[[containers]]\nname = \"bin\"\nshape = \"box\"\nmin = [0, 0, 0]\n",
     {"scene.toml:9:7: error:", "belong together"}},
    {"container_inverted",
     small_scene + "[[containers]]\nname = \"bin\"\nshape = \"box\"\nmin = [0, 0, 0]\nmax = [1, -1, 1]\n",
     {"scene.toml:10:7: error:", "not above min in y"}},
    {"container_both",
     small_scene + "[[containers]]\nname = \"bin\"\nshape = \"box\"\nmin = [0, 0, 0]\nmax = [1, 1, 1]\nsize "
                   "= [1, 1, 1]\n",
     {"scene.toml:11:8: error:", "either"}},
    {"container_unnamed",
     small_scene + "[[containers]]\nshape = \"box\"\nsize = [1, 1, 1]\n",
     {"scene.toml:6:", "containers.0.name is missing"}},
    {"container_face",
     small_scene + "[[containers]]\nname = \"bin\"\nshape = \"box\"\nsize = [1, 1, 1]\nopen = [\"tpo\"]\n",
     {"scene.toml:10:9: error:", "did you mean \"top\""}},
    {"container_side_of_box",
     small_scene + "[[containers]]\nname = \"bin\"\nshape = \"box\"\nsize = [1, 1, 1]\nopen = [\"side\"]\n",
     {"no face 'side'"}},
    {"cylinder_without_height",
     small_scene + "[[containers]]\nname = \"bin\"\nshape = \"cylinder\"\nradius = 1\n",
     {"containers.0.height is missing"}},
    {"zero_normal",
     small_scene + "[[containers]]\nname = \"bin\"\nshape = \"half_space\"\nnormal = [0, 0, 0]\n",
     {"scene.toml:9:10: error:", "normal is zero"}},
    {"fill_nowhere", glass + "[[fills]]\nradius = 0.1\ncount = 3\n", {"scene.toml:3:", "say where"}},
    {"fill_unknown_container",
     glass + "[[fills]]\nradius = 0.1\nin = \"bin\"\n",
     {"scene.toml:5:6: error:", "no container 'bin'"}},
    {"fill_without_radius", glass + "[[fills]]\nin = \"bin\"\n", {"fills.0.radius is missing"}},
    {"fill_negative_radius",
     glass + "[[fills]]\nradius = -1\nmin = [0, 0, 0]\nmax = [1, 1, 1]\n",
     {"scene.toml:4:10: error:", "above 0"}},
    {"fill_uniform",
     glass + "[[fills]]\nradius = { uniform = [2, 1] }\n",
     {"scene.toml:4:22: error:", "min ≤ max"}},
    {"fill_distribution",
     glass + "[[fills]]\nradius = { gauss = 1 }\n",
     {"scene.toml:4:12: error:", "unknown key 'fills.0.radius.gauss'"}},
    {"fill_weights",
     glass + "[[fills]]\nradius = { values = [1, 2], weights = [1] }\n",
     {"scene.toml:4:10: error:", "2 values and 1 weights"}},
    {"fill_zero_weights",
     glass + "[[fills]]\nradius = { values = [1, 2], weights = [0, 0] }\n",
     {"positive sum"}},
    {"fill_lognormal",
     glass + "[[fills]]\nradius = { lognormal = 1, sigma = 0.2 }\n",
     {"scene.toml:4:10: error:", "min"}},
    {"fill_too_many",
     glass + "[[fills]]\nradius = 1e-6\nmin = [0, 0, 0]\nmax = [1, 1, 1]\ncount = 1000000000000\n",
     {"scene.toml:7:9: error:", "GB"}},
    {"fill_no_count",
     glass + "[[fills]]\nradius = 1e-6\nmin = [0, 0, 0]\nmax = [1, 1, 1]\ncount = 0\n",
     {"scene.toml:7:9: error:", "at least 1"}},
    {"fill_cells_random",
     glass + "[[fills]]\nradius = 0.1\nmin = [0, 0, 0]\nmax = [1, 1, 1]\ncells = [1, 1, 1]\n",
     {"scene.toml:7:9: error:", "for arrangement ="}},
    {"missing_file",
     glass + "[[files]]\npath = \"nowhere.csv\"\n",
     {"scene.toml:4:8: error:", "nowhere.csv"}},
    {"unknown_group", small_scene + "ignores = [\"wals\"]\n", {"scene.toml:6:11: error:", "no group 'wals'"}},
    {"no_group", small_scene + "group = \"\"\n", {"scene.toml:6:9: error:", "must not be empty"}},
    {"empty", "", {"the scene has no bodies"}},
    {"guards_half",
     small_scene + "[guards]\nmin = [0, 0, 0]\n",
     {"scene.toml:7:7: error:", "belong together"}},
    {"auto_word",
     small_scene + "[collision]\nmargin = \"automatic\"\n",
     {"scene.toml:7:10: error:", "\"auto\""}},
    {"negative_margin",
     small_scene + "[collision]\nmargin = -1\n",
     {"scene.toml:7:10: error:", "at least 0"}},
    {"include_in_text", "include = [\"x.toml\"]\n", {"scene.toml:1:11: error:"}},
};

INSTANTIATE_TEST_SUITE_P(Scene, BadScene, ::testing::ValuesIn(bad_scenes),
                         [](const ::testing::TestParamInfo<Bad>& i) { return std::string(i.param.what); });

TEST(SceneLoad, SmallestScene) {
  const Scene s = parse_scene(small_scene, "scene.toml");
  EXPECT_EQ(s.bodies.size(), 1u);
  EXPECT_EQ(s.bodies[0].material, "glass");  // the only one there is
  EXPECT_TRUE(s.warnings.empty());
}

TEST(SceneLoad, SeveralErrorsAtOnceInTheOrderOfTheText) {
  const std::string why = refusal("[simulation]\nstep = 0\ndurration = 1\n" + small_scene + "mass = -1\n");
  const std::size_t a = why.find("scene.toml:2:8"), b = why.find("scene.toml:3:1"),
                    c = why.find("scene.toml:9:8");
  ASSERT_NE(a, std::string::npos) << why;
  ASSERT_NE(b, std::string::npos) << why;
  ASSERT_NE(c, std::string::npos) << why;
  EXPECT_TRUE(a < b && b < c);
}

TEST(SceneLoad, OverridesNameTheirKeyPath) {
  EXPECT_TRUE(has(refusal(small_scene, {"simulation.stpe=1"}),
                  {"--set simulation.stpe: error:", "did you mean 'simulation.step'"}));
  EXPECT_TRUE(
      has(refusal(small_scene, {"simulation.step=fast"}), {"--set simulation.step: error:", "is text"}));
  EXPECT_TRUE(has(refusal(small_scene, {"bodies.0.radius=-1"}), {"--set bodies.0.radius: error:"}));
  EXPECT_TRUE(
      has(refusal(small_scene, {"bodies.3.radius=1"}), {"--set bodies.3.radius: error:", "no element 3"}));
  const Scene s =
      parse_scene(small_scene, "scene.toml",
                  {"simulation.step=2e-3", "solver.model=exact", "bodies.0.radius=0.5", "solver.apgd.q=1"});
  EXPECT_EQ(s.simulation.step, 2e-3);
  EXPECT_EQ(s.solver.model, Model::exact);
  EXPECT_EQ(s.bodies[0].radius, 0.5);
  EXPECT_EQ(s.solver.options.apgd.q, 1.0);
}

TEST(SceneLoad, OddUnitsAreAWarning) {
  const Scene s = parse_scene("[materials.glass]\ndensity = 1e6\n" + ball, "scene.toml");
  ASSERT_EQ(s.warnings.size(), 1u);
  EXPECT_TRUE(has(s.warnings[0], {"scene.toml:2:11: warning:", "is the unit right"}));
}

TEST(SceneLoad, OrientationForms) {
  auto quaternion = [](const std::string& o) {
    return parse_scene(small_scene + "orientation = " + o + "\n", "s.toml").bodies[0].orientation.value;
  };
  const Quat a = quaternion("{ axis = [0, 0, 2], angle = 90 }"), b = quaternion("{ euler = [0, 0, 90] }");
  EXPECT_TRUE((a * Vec3::UnitX()).isApprox(Vec3::UnitY(), 1e-15));
  EXPECT_TRUE(a.coeffs().isApprox(b.coeffs(), 1e-15));
  // about the fixed x, then y, then z axis
  const Quat c = quaternion("{ euler = [90, 90, 0] }");
  EXPECT_TRUE((c * Vec3::UnitY()).isApprox(Vec3::UnitX(), 1e-15));
  // as written, to the last bit
  const Quat q = quaternion(
      "[0.99976146943710731, -0.019376852714656598, 0.010074831400124705, 0.00019894745607177249]");
  EXPECT_EQ(q.w(), 0.99976146943710731);
  EXPECT_EQ(q.z(), 0.00019894745607177249);
}

TEST(SceneLoad, MotionForms) {
  const Scene s = parse_scene(
      small_scene + "motion = { velocity = [1, \"2*t\", 0], angular_velocity = [0, 0, \"pi\"] }\n", "s.toml");
  ASSERT_TRUE(s.bodies[0].motion);
  EXPECT_EQ(std::get<std::string>(s.bodies[0].motion->velocity[1]), "2*t");
  EXPECT_EQ(std::get<Real>(s.bodies[0].motion->velocity[0]), 1.0);
}

class SceneFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = dir / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  std::string why(const std::string& path) {
    try {
      load_scene(path);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }
  TemporaryDirectory dir;
};

TEST_F(SceneFiles, IncludesAreReadFirst) {
  write("lib/glass.toml",
        "[materials.glass]\nfriction = 0.5\ndensity = 2500\n[simulation]\nstep = 1e-4\n" + ball);
  const Scene s = load_scene(
      write("scene.toml", "include = [\"lib/glass.toml\"]\n[materials.glass]\nfriction = 0.1\n" + ball));
  EXPECT_EQ(s.materials.at("glass").friction, 0.1);    // what the scene says wins
  EXPECT_EQ(s.materials.at("glass").density, 2500.0);  // the rest stays
  EXPECT_EQ(s.simulation.step, 1e-4);
  EXPECT_EQ(s.bodies.size(), 2u);
}

TEST_F(SceneFiles, ErrorsInIncludesNameTheInclude) {
  write("lib.toml", "\n[simulation]\nstep = 0\n");
  EXPECT_TRUE(
      has(why(write("scene.toml", "include = [\"lib.toml\"]\n" + small_scene)), {"lib.toml:3:8: error:"}));
}

TEST_F(SceneFiles, CyclicIncludes) {
  write("a.toml", "include = [\"b.toml\"]\n");
  write("b.toml", "include = [\"a.toml\"]\n");
  EXPECT_TRUE(
      has(why(dir / "a.toml"), {"b.toml:1:12: error:", "includes itself", "a.toml → b.toml → a.toml"}));
  EXPECT_TRUE(has(why(write("self.toml", "include = [\"self.toml\"]\n")),
                  {"self.toml:1:12: error:", "includes itself"}));
}

TEST_F(SceneFiles, TheSameFileTwiceIsNoCycle) {
  write("glass.toml", glass);
  write("a.toml", "include = [\"glass.toml\"]\n");
  EXPECT_EQ(why(write("scene.toml", "include = [\"a.toml\", \"glass.toml\"]\n" + ball)), "");
}

TEST_F(SceneFiles, BadIncludes) {
  EXPECT_TRUE(has(why(write("a.toml", "include = \"b.toml\"\n")), {"a.toml:1:11: error:", "list"}));
  EXPECT_TRUE(has(why(write("a.toml", "include = [3]\n")), {"a.toml:1:12: error:"}));
  EXPECT_TRUE(
      has(why(write("a.toml", "include = [\"nowhere.toml\"]\n")), {"a.toml:1:12: error:", "nowhere.toml"}));
}

TEST_F(SceneFiles, MissingSceneAndDirectories) {
  EXPECT_TRUE(has(why(dir / "missing.toml"), {"error:", "missing.toml"}));
  EXPECT_TRUE(has(why(dir.path().string()), {"error:", "is not a file"}));
}

TEST_F(SceneFiles, PathsAreBesideTheFileThatNamesThem) {
  write("lib/beads.csv", "x,y,z,r\n0,0,1,0.1\n");
  write("lib/beads.toml", "[[files]]\npath = \"beads.csv\"\n");
  const Scene s = load_scene(write("scene.toml", "include = [\"lib/beads.toml\"]\n" + glass));
  EXPECT_EQ(std::filesystem::weakly_canonical(s.files[0].path),
            std::filesystem::weakly_canonical(dir / "lib/beads.csv"));
  EXPECT_EQ(s.files[0].digest.size(), 16u);
}

TEST_F(SceneFiles, ADigestThatDoesNotFitIsSaid) {
  write("beads.csv", "x,y,z,r\n0,0,1,0.1\n");
  EXPECT_TRUE(has(
      why(write("scene.toml", glass + "[[files]]\npath = \"beads.csv\"\ndigest = \"0123456789abcdef\"\n")),
      {"scene.toml:5:10: error:", "digest"}));
}

// ---- resolved scenes
// --------------------------------------------------------------------------------------------

const char* rich_scene = R"toml(title = "everything"
[simulation]
step = 1.1e-3
duration = 0.3
[solver]
model = "exact"
tolerance = 1e-5
on_unconverged = "retry"
[solver.apgd]
q = 0.5
[collision]
margin = 0.001
[materials.glass]
friction = 0.1
[materials."odd name"]
density = 123.456
[[pairs]]
between = ["glass", "odd name"]
friction = 0.3
[[containers]]
name = "bin"
shape = "box"
min = [0, 0, 0]
max = [1, 1, 1]
open = ["top"]
material = "glass"
motion = { velocity = [0, 0, "0.1*sin(2*pi*t)"] }
[[containers]]
name = "drum"
shape = "cylinder"
radius = 3
height = 2
position = [0, 0, 0.1]
orientation = { axis = [1, 2, 3], angle = 17 }
material = "glass"
ignores = ["dust"]
[[containers]]
name = "ground"
shape = "half_space"
normal = [0, 0.1, 1]
material = "glass"
[[bodies]]
name = "slab"
shape = "box"
size = [0.1, 0.2, 0.3]
position = [0.5, 0.5, 0.5]
orientation = { euler = [10, 20, 30] }
mass = 3
material = "glass"
motion = { table = [[0, 0, 0, 0], [1, 0.1, 0, 0]] }
[[bodies]]
shape = "cylinder"
radius = 0.05
height = 0.1
density = 700
velocity = [1, 2, 3]
angular_velocity = [0, 0, 1]
material = "odd name"
group = "dust"
[[fills]]
name = "beads"
arrangement = "jittered"
in = "bin"
count = 20
radius = { lognormal = 0.01, sigma = 0.3, min = 0.005, max = 0.02 }
material = "glass"
[[fills]]
min = [0, 0, 0]
max = [1, 1, 1]
radius = { values = [0.1, 0.2], weights = [3, 1] }
material = "glass"
[output]
problems = 7
[output.frames]
every_steps = 5
[guards]
min = [-1, -1, -1]
max = [2, 2, 2]
)toml";

TEST(ResolvedScene, ReadsBackAsTheSameScene) {
  for (const std::string& text : {small_scene, std::string(rich_scene)}) {
    const Scene a = parse_scene(text, "scene.toml");
    const std::string resolved = resolved_toml(a);
    const Scene b = parse_scene(resolved, "resolved.toml");
    EXPECT_EQ(resolved_toml(b), resolved);
    EXPECT_TRUE(compare_scenes(a, b).empty());
    for (std::size_t i = 0; i < a.bodies.size(); ++i)
      EXPECT_EQ(a.bodies[i].orientation.value.coeffs(), b.bodies[i].orientation.value.coeffs());
  }
}

TEST(ResolvedScene, HasEveryPlainKey) {
  const std::string text = resolved_toml(parse_scene(small_scene, "scene.toml"));
  EXPECT_TRUE(has(text, {"step = 0.001", "duration = ", "gravity = [0.0, 0.0, -9.81]",
                         "tolerance = ", "margin = \"auto\"", "[solver.apgd]", "[output.frames]", "keep = 3",
                         "material = \"glass\"", "[guards]"}));
}

TEST(CompareScenes, NamesTheKeyAndWhetherItMayChange) {
  const Scene a = parse_scene(rich_scene, "a.toml");
  auto difference = [&](const std::string& override) {
    const auto d = compare_scenes(a, parse_scene(rich_scene, "a.toml", {override}));
    EXPECT_EQ(d.size(), 1u) << override;
    return d.empty() ? SceneDifference{} : d[0];
  };
  SceneDifference d = difference("simulation.duration=2");
  EXPECT_EQ(d.key, "simulation.duration");
  EXPECT_EQ(d.before, "0.3");
  EXPECT_EQ(d.after, "2.0");
  EXPECT_TRUE(d.allowed_on_resume);
  EXPECT_TRUE(difference("solver.tolerance=1e-4").allowed_on_resume);
  EXPECT_TRUE(difference("solver.apgd.q=0.25").allowed_on_resume);
  EXPECT_TRUE(difference("output.frames.every_steps=50").allowed_on_resume);
  EXPECT_FALSE(difference("simulation.step=1e-3").allowed_on_resume);
  EXPECT_FALSE(difference("fills.beads.count=19").allowed_on_resume);
  EXPECT_EQ(difference("fills.beads.count=19").key, "fills.0.count");
  EXPECT_EQ(difference("bodies.slab.mass=4").key, "bodies.0.mass");
  EXPECT_EQ(difference("materials.glass.friction=0.4").key, "materials.glass.friction");
  EXPECT_FALSE(difference("containers.bin.motion.velocity=[0, 0, 1]").allowed_on_resume);
}

TEST(CompareScenes, ListsOfOtherLength) {
  const auto d =
      compare_scenes(parse_scene(small_scene, "a.toml"), parse_scene(small_scene + ball, "b.toml"));
  ASSERT_EQ(d.size(), 1u);
  EXPECT_EQ(d[0].key, "bodies");
  EXPECT_EQ(d[0].before, "1 entries");
  EXPECT_FALSE(d[0].allowed_on_resume);
}

}  // namespace
}  // namespace talus
