// Body files: what is read is what is written, and damage is told with its place.
#include "talus/io/body_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "io/scene_text.hpp"
#include "io/temporary.hpp"
#include "talus/io/hdf5_file.hpp"

namespace talus {
namespace {

std::string csv_refusal(const std::string& text) {
  try {
    parse_body_csv(text, "beads.csv");
  } catch (const InputError& e) {
    return e.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return "";
}

TEST(BodyCsv, AllColumnsInAnyOrder) {
  const BodyList b = parse_body_csv(
      "# a comment\n\nr, x,y,z,mass,vx,vy,vz,wx,wy,wz,qw,qx,qy,qz\r\n0.1,1,2,3,7,4,5,6,-1,-2,-3,0,1,0,0\n\n# "
      "more\n+0.2,1e-3, -2.5 ,3,8,0,0,0,0,0,0,1,0,0,0",
      "b.csv");
  ASSERT_EQ(b.position.size(), 2u);
  EXPECT_EQ(b.position[0], Vec3(1, 2, 3));
  EXPECT_EQ(b.position[1], Vec3(1e-3, -2.5, 3));
  EXPECT_EQ(b.radius, (std::vector<Real>{0.1, 0.2}));
  EXPECT_EQ(b.mass, (std::vector<Real>{7, 8}));
  EXPECT_EQ(b.velocity[0], Vec3(4, 5, 6));
  EXPECT_EQ(b.angular_velocity[0], Vec3(-1, -2, -3));
  EXPECT_EQ(b.orientation[0].x(), 1.0);
}

TEST(BodyCsv, OnlyWhatIsThere) {
  const BodyList b = parse_body_csv("x,y,z,r\n1,2,3,4\n", "b.csv");
  EXPECT_TRUE(b.velocity.empty() && b.angular_velocity.empty() && b.orientation.empty() && b.mass.empty());
  EXPECT_TRUE(parse_body_csv("x,y,z,r\n", "b.csv").position.empty());
}

TEST(BodyCsv, ErrorsHaveLineAndColumn) {
  EXPECT_TRUE(has(csv_refusal(""), {"beads.csv:0:1: error:", "empty"}));
  EXPECT_TRUE(has(csv_refusal("# only a comment\n"), {"empty"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z\n1,2,3\n"), {"beads.csv:1:1: error:", "column 'r' is missing"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,radius\n"), {"beads.csv:1:7: error:", "unknown column 'radius'"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r,x\n"), {"beads.csv:1:9: error:", "twice"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r,vx\n"), {"vx, vy, vz", "all or none"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r\n1,2,3,4\n1,2,x,4\n"),
                  {"beads.csv:3:5: error:", "'x' in column 'z' is no number"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r\n1,2,3\n"), {"beads.csv:2:6: error:", "3 numbers", "4 columns"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r\n1,2,3,4,5\n"), {"beads.csv:2:9: error:", "more numbers"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r\n1,,3,4\n"), {"beads.csv:2:3: error:", "no number"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r\n1,nan,3,4\n"), {"beads.csv:2:3: error:", "finite"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r\n1,1e999,3,4\n"), {"beads.csv:2:3: error:"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r\n1,2,3,-4\n"), {"beads.csv:2:1: error:", "radius is -4"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r,mass\n1,2,3,4,0\n"), {"mass is 0"}));
  EXPECT_TRUE(has(csv_refusal("x,y,z,r,qw,qx,qy,qz\n1,2,3,4,1,1,1,1\n"), {"norm"}));
  EXPECT_TRUE(has(csv_refusal(std::string("x,y,z,r\n\0\x01\n", 11)), {"beads.csv:2:1: error:", "'..'"}));
}

TEST(MotionCsv, Rows) {
  const auto rows = parse_motion_csv("t,wz,wx,wy\n0,1,2,3\n0.5,0,0,0\n", "m.csv");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], (std::array<Real, 7>{0, 0, 0, 0, 2, 3, 1}));
  EXPECT_THROW(parse_motion_csv("t,vx,vy,vz\n", "m.csv"), InputError);
  EXPECT_THROW(parse_motion_csv("t,vx,vy,vz\n1,0,0,0\n1,0,0,0\n", "m.csv"), InputError);
}

class BodyHdf5 : public ::testing::Test {
 protected:
  std::string why(const std::string& group = "/") {
    try {
      read_body_file(path, group);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }
  TemporaryDirectory dir;
  std::string path = dir / "beads.h5";
};

TEST_F(BodyHdf5, ReadsAGroup) {
  {
    Hdf5File f = Hdf5File::create(path);
    f.write<double>("bed/position", std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
    f.write<float>("bed/radius", std::vector<float>{0.5f, 0.25f});
    f.write<double>("bed/orientation", std::vector<double>{1, 0, 0, 0, 0, 0, 0, 1}, {2, 4});
    f.write<double>("bed/velocity", std::vector<double>{0, 0, 0, 1, 1, 1}, {2, 3});
    f.write<double>("bed/mass", std::vector<double>{1, 2});
    f.close();
  }
  const BodyList b = read_body_file(path, "/bed");
  EXPECT_EQ(b.position[1], Vec3(4, 5, 6));
  EXPECT_EQ(b.radius[0], 0.5);
  EXPECT_EQ(b.orientation[1].z(), 1.0);
  EXPECT_EQ(b.velocity[1], Vec3(1, 1, 1));
  EXPECT_EQ(b.mass[1], 2.0);
  EXPECT_TRUE(has(why("/"), {"beads.h5", "position", "missing"}));
}

TEST_F(BodyHdf5, WrongShapesAndValues) {
  auto make = [&](std::vector<double> position, std::vector<std::uint64_t> shape,
                  std::vector<double> radius) {
    Hdf5File f = Hdf5File::create(path);
    f.write<double>("position", position, shape);
    f.write<double>("radius", radius);
    f.close();
  };
  make({1, 2, 3, 4}, {2, 2}, {1, 1});
  EXPECT_TRUE(has(why(), {"position", "(2, 2)", "(2, 3)"}));
  make({1, 2, 3}, {1, 3}, {1, 1});
  EXPECT_TRUE(has(why(), {"radius", "(2)", "(1, 1)"}));
  make({1, 2, 3}, {1, 3}, {-1});
  EXPECT_TRUE(has(why(), {"radius", "row 0", "above 0"}));
  make({1, NAN, 3}, {1, 3}, {1});
  EXPECT_TRUE(has(why(), {"position", "row 0", "finite"}));
  make({1, 2, 3}, {3}, {1});
  EXPECT_TRUE(has(why(), {"position", "(n, 3)"}));
}

TEST_F(BodyHdf5, TruncatedFile) {
  {
    Hdf5File f = Hdf5File::create(path);
    f.write<double>("position", std::vector<double>(3000, 1.0), {1000, 3});
    f.write<double>("radius", std::vector<double>(1000, 1.0));
    f.close();
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_TRUE(has(why(), {"beads.h5"}));
}

TEST(BodyFile, MissingFile) {
  EXPECT_THROW(read_body_file("/nowhere/beads.csv"), InputError);
  EXPECT_THROW(read_motion_file("/nowhere/motion.csv"), InputError);
}

TEST(BodyFile, DigestFollowsTheContent) {
  TemporaryDirectory dir;
  const std::string path = dir / "a";
  auto digest = [&](const std::string& text) {
    std::ofstream(path) << text;
    return file_digest(path);
  };
  const std::string a = digest("x,y,z,r\n");
  EXPECT_EQ(a.size(), 16u);
  EXPECT_EQ(digest("x,y,z,r\n"), a);
  EXPECT_NE(digest("x,y,z,r\n\n"), a);
  EXPECT_NE(digest(std::string("x,y,z,r\n\0", 9)), a);
}

}  // namespace
}  // namespace talus
