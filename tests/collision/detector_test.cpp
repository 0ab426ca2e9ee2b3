// The detector against its brute-force twin, over threads, under transformations, and on settled beds.
#include "talus/collision/detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "collision/scenes.hpp"

namespace talus {
namespace {

using namespace testing;

/// Spheres thrown into a box, overlapping as they fall, radii from 1 to `ratio`, equally many in each octave.
TestScene thrown_spheres(Local n, Real ratio, std::uint64_t seed, Real unit = 1, Real crowding = 1) {
  TestScene scene;
  Random random(seed);
  std::vector<Real> radius;
  Real volume_sum = 0;
  for (Local i = 0; i < n; ++i) {
    radius.push_back(unit * std::pow(ratio, random.uniform()));
    volume_sum += 4.19 * std::pow(radius.back(), 3);
  }
  const Real side = std::cbrt(volume_sum / (0.5 * crowding));
  for (Local i = 0; i < n; ++i) {
    const Vec3 v = random_in_box(random, Vec3::Constant(-unit), Vec3::Constant(unit));
    scene.add_sphere(radius[i], random_in_box(random, Vec3::Zero(), Vec3::Constant(side)), v);
  }
  scene.add_wall(
      {.kind = ShapeKind::hollow_box, .half = Vec3::Constant(0.5 * side), .open = face_bit(Face::top)},
      Vec3::Constant(0.5 * side));
  scene.h = 0.05;
  return scene;
}

void expect_in_order(const Contacts& c) {
  for (Local i = 0; i < c.size(); ++i) {
    ASSERT_LT(c.a[i], c.b[i]);
    ASSERT_NEAR(c.normal[i].norm(), 1, 1e-14);
    if (i == 0) continue;
    ASSERT_LT(std::tuple(c.a[i - 1], c.b[i - 1], c.feature[i - 1]), std::tuple(c.a[i], c.b[i], c.feature[i]));
  }
}

void expect_twin(const TestScene& scene, Real margin) {
  DetectorReport brute_report;
  const Contacts brute = scene.brute_force(margin, &brute_report);
  expect_in_order(brute);
  for (int threads : {1, 2, 3, 4}) {
    Contacts fast;
    const DetectorReport report = scene.find(fast, margin, threads);
    EXPECT_EQ(fast.size(), brute.size());
    EXPECT_TRUE(same_bits(fast, brute)) << threads << " threads";
    EXPECT_EQ(report.pairs, brute_report.pairs);
    EXPECT_EQ(report.capped, brute_report.capped);
    EXPECT_EQ(report.suggested_step, brute_report.suggested_step);
    EXPECT_EQ(report.deepest, brute_report.deepest);
    EXPECT_EQ(report.deepest_a, brute_report.deepest_a);
  }
}

TEST(Detector, AgreesWithBruteForceForEqualSizes) {
  expect_twin(thrown_spheres(3000, 1, 1), 0);
}
TEST(Detector, AgreesWithBruteForceForSizesOneToThousand) {
  expect_twin(thrown_spheres(3000, 1000, 2), 0);
}
TEST(Detector, AgreesWithBruteForceForSizesOneToThree) {
  expect_twin(thrown_spheres(3000, 3, 3), 0);
}
TEST(Detector, AgreesWithBruteForceWithAFixedMargin) {
  expect_twin(thrown_spheres(2000, 1, 4), 0.3);
  expect_twin(thrown_spheres(2000, 100, 5), 0.3);
}
TEST(Detector, AgreesWithBruteForceWhereCrowded) {
  expect_twin(thrown_spheres(1500, 10, 6, 1, 20), 0);
}
TEST(Detector, AgreesWithBruteForceForDustAmongBoulders) {
  TestScene scene = thrown_spheres(20, 1, 7, 1000);
  Random random(8);
  for (int i = 0; i < 2500; ++i)
    scene.add_sphere(1, random_in_box(random, Vec3::Zero(), Vec3::Constant(4000)));
  expect_twin(scene, 0);
}

TEST(Detector, AgreesWithBruteForceForMixedShapes) {
  for (std::uint64_t seed : {10, 11, 12}) {
    TestScene scene = thrown_spheres(600, 10, seed);
    const Real side = 2 * scene.shapes.back().half.x();
    Random random(seed + 100);
    const Local brick = scene.add_shape({.kind = ShapeKind::box, .half = Vec3(1, 2, 3)});
    const Local plank = scene.add_shape({.kind = ShapeKind::box, .half = Vec3(0.3, 6, 20)});
    const auto throw_in = [&](Local shape, Mobility mobility) {
      const Twist v{random_in_box(random, Vec3::Constant(-1), Vec3::Ones()),
                    random_in_box(random, Vec3::Constant(-1), Vec3::Ones())};
      scene.add(shape, 0, random_in_box(random, Vec3::Zero(), Vec3::Constant(side)), random_rotation(random),
                mobility, v);
    };
    for (int i = 0; i < 300; ++i) throw_in(brick, Mobility::dynamic);
    for (int i = 0; i < 10; ++i) throw_in(plank, Mobility::dynamic);
    scene.add_wall({.kind = ShapeKind::half_space}, Vec3(0, 0, 5), random_rotation(random));
    const Local driven =
        scene.add_wall({.kind = ShapeKind::half_space}, Vec3(3, 0, 0), random_rotation(random));
    scene.bodies.mobility[driven] = Mobility::prescribed;
    scene.velocity[driven].angular = Vec3(0.1, 0.2, 0.3);
    expect_twin(scene, 0);
    expect_twin(scene, 0.2);
  }
}

TEST(Detector, HonoursGroupsMasksAndMobility) {
  TestScene scene = thrown_spheres(1500, 3, 20, 1, 3);
  Random random(21);
  for (Local i = 0; i < scene.bodies.size(); ++i) {
    scene.bodies.group[i] = 1u << (random.bits() % 3);
    scene.bodies.mask[i] = 1 + random.bits() % 7;
    if (random.uniform() < 0.3) scene.bodies.mobility[i] = Mobility::fixed;
  }
  const Contacts c = scene.contacts();
  EXPECT_GT(c.size(), 100);
  for (Local k = 0; k < c.size(); ++k) {
    EXPECT_TRUE(scene.bodies.may_touch(c.a[k], c.b[k]));
    EXPECT_TRUE(scene.bodies.moves_freely(c.a[k]) || scene.bodies.moves_freely(c.b[k]));
  }
  expect_twin(scene, 0);
}

TEST(Detector, FindsPairsAnywhereInSpace) {
  // two touching spheres near the origin, two a long way off, and one in between that wraps into the same
  // cells
  TestScene scene;
  const Real far = std::ldexp(1.0, 40);
  for (const Vec3& p :
       {Vec3(0, 0, 0), Vec3(2, 0, 0), Vec3(far, -far, far), Vec3(far + 2, -far, far), Vec3(1 << 20, 0, 0)})
    scene.add_sphere(1, p);
  const Contacts c = scene.contacts(0.5);
  ASSERT_EQ(c.size(), 2);
  EXPECT_EQ(c.b[0], 1);
  EXPECT_EQ(c.a[1], 2);
  EXPECT_EQ(c.b[1], 3);
  expect_twin(scene, 0.5);
}

TEST(Detector, NothingOrAlmostNothing) {
  TestScene scene;
  EXPECT_EQ(scene.contacts().size(), 0);
  scene.add_wall({.kind = ShapeKind::half_space});
  EXPECT_EQ(scene.contacts().size(), 0);
  scene.add_sphere(1, Vec3(0, 0, 1));
  EXPECT_EQ(scene.contacts().size(), 1);
  scene.bodies.position[1].x() = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_ANY_THROW(scene.contacts());
}

TEST(Detector, ScratchFromAnotherSceneLeavesNoTrace) {
  Detector detector;
  Contacts used, fresh;
  for (std::uint64_t seed : {30, 31, 32}) {
    const TestScene scene = thrown_spheres(seed == 31 ? 200 : 2500, seed == 32 ? 50 : 1, seed);
    detector.find(scene.bodies, scene.shapes, scene.materials, scene.velocity, scene.h, {}, Team(2), used);
    scene.find(fresh);
    EXPECT_TRUE(same_bits(used, fresh));
  }
}

// V20: lengths × s, times × √s with s a power of two changes exponents only.
TEST(Detector, SimilarScenesGiveTheSameBits) {
  const TestScene scene = thrown_spheres(1500, 30, 40);
  const Contacts c = scene.contacts();
  DetectorReport report;
  Contacts unused;
  report = scene.find(unused);
  for (int exponent : {-12, 12}) {
    const Real s = std::ldexp(1.0, exponent), root = std::ldexp(1.0, exponent / 2);
    TestScene other = scene;
    for (Local i = 0; i < other.bodies.size(); ++i) {
      other.bodies.position[i] *= s;
      other.bodies.radius[i] *= s;
      other.bodies.mass[i] *= s * s * s;
      other.bodies.velocity[i].linear *= root;
      other.velocity[i].linear *= root;
    }
    for (Shape& shape : other.shapes) shape.half *= s;
    other.h *= root;
    Contacts d;
    const DetectorReport r = other.find(d);
    EXPECT_EQ(c.a, d.a);
    EXPECT_EQ(c.b, d.b);
    EXPECT_EQ(c.normal, d.normal);
    EXPECT_EQ(r.suggested_step, report.suggested_step * root);
    for (Local k = 0; k < c.size(); ++k) {
      ASSERT_EQ(c.gap[k] * s, d.gap[k]);
      ASSERT_EQ(c.arm_a[k] * s, d.arm_a[k]);
    }
  }
}

TEST(Detector, ContactsDoNotDependOnTheOrderOfBodies) {
  const TestScene scene = thrown_spheres(1200, 10, 50);
  Random random(51);
  Array<Local> order(scene.bodies.size());
  for (Local i = 0; i < scene.bodies.size(); ++i) order[i] = i;
  for (Local i = scene.bodies.size() - 1; i > 0; --i) std::swap(order[i], order[random.bits() % (i + 1)]);
  TestScene shuffled = scene;
  shuffled.bodies.reorder(order);
  for (Local i = 0; i < scene.bodies.size(); ++i) shuffled.velocity[i] = scene.velocity[order[i]];
  const auto by_id = [](const TestScene& s) {
    std::set<std::tuple<Global, Global, std::uint32_t, Real>> set;
    const Contacts c = s.contacts();
    for (Local k = 0; k < c.size(); ++k) {
      const auto [low, high] = std::minmax(s.bodies.id[c.a[k]], s.bodies.id[c.b[k]]);
      set.insert({low, high, c.feature[k], c.gap[k]});
    }
    return set;
  };
  EXPECT_EQ(by_id(scene), by_id(shuffled));
}

// V18, with walls instead of a periodic box: n_x n_y n_z spheres in hexagonal close packing between floor and
// top.
TEST(Detector, CountsHexagonalClosePacking) {
  const int nx = 12, ny = 10, nz = 9;
  TestScene scene;
  const Real dy = std::sqrt(3.0), dz = 2 * std::sqrt(2.0 / 3.0);
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        scene.add_sphere(1, Vec3(2 * i + (j + k) % 2, dy * j + (k % 2) * dy / 3, 1 + dz * k));
  scene.add_wall({.kind = ShapeKind::half_space});
  scene.add_wall({.kind = ShapeKind::half_space}, Vec3(0, 0, 2 + dz * (nz - 1)),
                 rotation_exp(Vec3(std::acos(-1.0), 0, 0)));
  // in a layer: along x, and to the row above on two sides but for the ends; between layers: three below
  // each, counted directly from the lattice
  Local expected = 2 * nx * ny;
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        expected += i + 1 < nx;
        if (j + 1 < ny) expected += 1 + ((j + k) % 2 ? i + 1 < nx : i > 0);
        if (k + 1 < nz) {  // the neighbours above: one in its row, two in the row on the side the layer is
                           // shifted from
          const bool odd = (j + k) % 2;
          const int other_row = k % 2 ? j + 1 : j - 1;
          expected += odd ? (i + 1 < nx) + 1 : (i > 0) + 1;
          expected += other_row >= 0 && other_row < ny;
        }
      }
  const Contacts c = scene.contacts(1e-6);
  EXPECT_EQ(c.size(), expected);
  for (Real gap : c.gap) EXPECT_NEAR(gap, 0, 1e-12);
}

/// A bed of ../shared/states: its box, spheres and, where there is one, its slab.
struct Bed {
  TestScene scene;
  Real margin = 0;
};
bool load_bed(const std::string& name, Bed& bed) {
  std::ifstream file(TALUS_SOURCE_DIR "/../shared/states/" + name);
  if (!file) return false;
  std::string line, word;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    if (line.starts_with("# box")) {
      Vec3 size;
      Real mass, mu, h, env;
      in >> word >> word >> size.x() >> size.y() >> size.z() >> word >> mass >> word >> mu >> word >> h >>
          word >> env;
      bed.scene.add_wall({.kind = ShapeKind::hollow_box, .half = 0.5 * size, .open = face_bit(Face::top)},
                         0.5 * size);
      bed.margin = 2 * env;
    } else if (line.starts_with("# slab")) {
      Vec3 size, p;
      Quat q;
      Real mass;
      in >> word >> word >> word >> size.x() >> size.y() >> size.z() >> word >> mass >> word >> p.x() >>
          p.y() >> p.z() >> word >> q.w() >> q.x() >> q.y() >> q.z();
      bed.scene.add(bed.scene.add_shape({.kind = ShapeKind::box, .half = 0.5 * size}), 0, p, q);
    } else if (!line.empty() && (std::isdigit(line[0]) || line[0] == '-')) {
      std::replace(line.begin(), line.end(), ',', ' ');
      in.str(line);
      Vec3 p;
      Real r;
      in >> p.x() >> p.y() >> p.z() >> r;
      bed.scene.add_sphere(r, p);
    }
  }
  return true;
}

TEST(Detector, SettledBedsHaveTheirStatedContacts) {
  const std::vector<std::pair<std::string, Local>> beds = {{"sed_N1000.csv", 3295},
                                                           {"sed_N10000.csv", 33234},
                                                           {"sed_N25000.csv", 80325},
                                                           {"slab_N4000.csv", 14289}};
  for (const auto& [name, contacts] : beds) {
    Bed bed;
    if (!load_bed(name, bed))
      GTEST_SKIP() << "../shared/states/" << name << " is not here: contact counts not checked";
    EXPECT_EQ(bed.scene.contacts(bed.margin, 2).size(), contacts) << name;
  }
}

}  // namespace
}  // namespace talus
