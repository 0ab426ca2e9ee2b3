// Frames: series, numbering and surfaces. That VTK reads them is shown by tests/python/check_frames.py.
#include "talus/io/frames.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "io/small_world.hpp"
#include "io/temporary.hpp"
#include "talus/io/surfaces.hpp"

namespace talus {
namespace {

std::set<std::string> names_in(const std::filesystem::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.insert(entry.path().filename().string());
  return names;
}

TEST(Frames, WriteThreeSeries) {
  const TemporaryDirectory dir;
  World world = small_world();
  const Contacts contacts = small_contacts(world);
  const std::vector<Real> impulse{0, 0, 1, 0.5, 0, 2};
  FrameWriter frames(dir.path(), true);
  frames.write(world, {contacts, impulse, 0.5});
  world.time += 1;
  frames.write(world, {contacts, impulse, 0.5});
  EXPECT_EQ(frames.times(), (std::vector<double>{0.125, 1.125}));
  EXPECT_EQ(names_in(dir.path()),
            (std::set<std::string>{"bodies.pvd", "bodies_000000.vtp", "bodies_000001.vtp", "contacts.pvd",
                                   "contacts_000000.vtp", "contacts_000001.vtp", "shapes.pvd",
                                   "shapes_000000.vtp", "shapes_000001.vtp"}));
}

TEST(Frames, AreTakenUpWithTheRightNumber) {
  const TemporaryDirectory dir;
  World world = small_world();
  world.shapes.resize(1);  // spheres only: no surfaces
  world.bodies.resize(2);
  world.bodies.owned = 2;
  const Contacts none;
  {
    FrameWriter frames(dir.path(), false);
    for (int k = 0; k < 4; ++k) frames.write(world, {none, {}, 0});
  }
  std::ofstream(dir / "bodies_000004.vtp.part") << "half";
  FrameWriter frames(dir.path(), false);
  frames.resume({0.1, 0.2}, world);
  EXPECT_EQ(names_in(dir.path()),
            (std::set<std::string>{"bodies.pvd", "bodies_000000.vtp", "bodies_000001.vtp"}));
  frames.write(world, {none, {}, 0});
  EXPECT_EQ(names_in(dir.path()).count("bodies_000002.vtp"), 1u);
  EXPECT_EQ(frames.times().size(), 3u);
}

TEST(Surfaces, LieOnTheirShapes) {
  const World world = small_world();
  const Surfaces s = surfaces_of(world);
  std::vector<int> polygons(world.bodies.size());
  for (const Local body : s.body) ++polygons[body];
  EXPECT_EQ(polygons, (std::vector<int>{0, 0, 6, 50, 1, 5, 50}));  // the hollow box is open at the top

  std::int32_t begin = 0;
  for (std::size_t p = 0; p < s.offset.size(); ++p) {
    const Local body = s.body[p];
    const Shape& shape = world.shapes[world.bodies.shape[body]];
    std::vector<Vec3> local;
    for (; begin < s.offset[p]; ++begin)
      local.push_back(world.bodies.orientation[body].conjugate() *
                      (s.point[s.connectivity[begin]] - world.bodies.position[body]));
    const Vec3 normal = (local[1] - local[0]).cross(local[2] - local[1]).normalized();
    Vec3 middle = Vec3::Zero();
    for (const Vec3& corner : local) {
      middle += corner / static_cast<Real>(local.size());
      if (shape.kind == ShapeKind::box || shape.kind == ShapeKind::hollow_box) {
        EXPECT_TRUE(corner.cwiseAbs().isApprox(shape.half, 1e-12));
      }
      if (shape.kind == ShapeKind::cylinder || shape.kind == ShapeKind::hollow_cylinder) {
        EXPECT_NEAR(corner.head<2>().norm(), shape.radius, 1e-12);
        EXPECT_NEAR(std::abs(corner.z()), shape.half.z(), 1e-12);
      }
      if (shape.kind == ShapeKind::half_space) {
        EXPECT_NEAR(corner.z(), 0, 1e-12);
      }
    }
    if (shape.kind == ShapeKind::half_space) {
      EXPECT_NEAR(normal.z(), 1, 1e-12);
    } else if (is_container(shape.kind)) {
      EXPECT_LT(normal.dot(middle), 0) << "a container's faces look inward";
    } else {
      EXPECT_GT(normal.dot(middle), 0) << "a solid's faces look outward";
    }
  }
}

}  // namespace
}  // namespace talus
