// What the automatic margin lists, and what it leaves alone.
#include "talus/collision/margin.hpp"

#include <gtest/gtest.h>

#include "collision/scenes.hpp"

namespace talus {
namespace {

using namespace testing;

void move_all(TestScene& scene, const Vec3& v) {
  for (Local i = 0; i < scene.bodies.size(); ++i) {
    scene.velocity[i].linear += v;
    scene.bodies.velocity[i].linear += v;
  }
}

TEST(Margin, AClosingPairIsListedInTimeAndNotBefore) {
  for (const Real gap : {0.19, 0.21}) {
    TestScene scene;
    scene.add_sphere(1, Vec3::Zero());
    scene.add_sphere(1, Vec3(2 + gap, 0, 0), Vec3(-200, 0, 0));  // closes 0.2 within the step
    scene.h = 1e-3;
    EXPECT_EQ(scene.contacts().size(), gap < 0.2 ? 1 : 0);
  }
}

TEST(Margin, DoesNotDependOnTheFrameOfReference) {
  TestScene scene;
  for (int i = 0; i < 20; ++i) scene.add_sphere(1, Vec3(2.2 * i, 0, 0));
  EXPECT_EQ(scene.contacts().size(), 0);
  move_all(scene, Vec3(0, 0, -500));  // the cloud falls half a radius a step, as a whole
  EXPECT_EQ(scene.contacts().size(), 0);
}

TEST(Margin, AnImpactIsPassedOnAlongAChain) {
  // a row of resting spheres with small gaps; the first is hit
  TestScene scene;
  for (int i = 0; i < 12; ++i) scene.add_sphere(1, Vec3(2.1 * i, 0, 0));
  scene.add_sphere(1, Vec3(-2.1, 0, 0), Vec3(200, 0, 0));
  const Contacts c = scene.contacts();
  // the hit, and those within reach of what it can push: four neighbours on, no more
  EXPECT_GE(c.size(), 4);
  for (Local k = 0; k < c.size(); ++k) EXPECT_LE(std::min(c.a[k], c.b[k]), Margins::rounds + 1);
}

TEST(Margin, ALightBodyHardlyAgitatesAHeavyOne) {
  TestScene scene;
  scene.add_sphere(1, Vec3::Zero());
  scene.add_sphere(1, Vec3(2.05, 0, 0));
  scene.add_sphere(0.01, Vec3(-1.0105, 0, 0), Vec3(100, 0, 0));  // a grain of dust, 1e-6 of the mass
  for (Real& m : scene.bodies.mass) m = 1;
  scene.bodies.mass[2] = 1e-6;
  const Contacts c = scene.contacts();
  ASSERT_EQ(c.size(), 1);
  EXPECT_EQ(c.b[0], 2);
}

TEST(Margin, IsCappedAtHalfTheSmallerRadiusAndSaysSo) {
  TestScene scene;
  scene.add_sphere(1, Vec3::Zero());
  scene.add_sphere(0.5, Vec3(1.7, 0, 0), Vec3(-1000, 0, 0));  // gap 0.2, closes 1 in a step
  scene.h = 1e-3;
  Contacts c;
  const DetectorReport report = scene.find(c);
  ASSERT_EQ(c.size(), 1);
  EXPECT_EQ(report.capped, 1);
  EXPECT_LE(report.suggested_step, 0.25e-3);  // closes 0.25, half the smaller radius
  EXPECT_GT(report.suggested_step, 0.2e-3);
  scene.bodies.position[1].x() = 1.8;  // gap 0.3: beyond the bound
  EXPECT_EQ(scene.contacts().size(), 0);
  // with the step that was suggested nothing is cut
  scene.bodies.position[1].x() = 1.7;
  scene.h = report.suggested_step * (1 - 1e-9);
  EXPECT_EQ(scene.find(c).capped, 0);
}

TEST(Margin, WallsAreSeenHoweverFastOneComes) {
  TestScene scene;
  scene.add_wall({.kind = ShapeKind::half_space});
  scene.add_sphere(1, Vec3(0, 0, 6), Vec3(0, 0, -10000));  // 10 radii a step
  Contacts c;
  const DetectorReport report = scene.find(c);
  EXPECT_EQ(c.size(), 1);
  EXPECT_EQ(report.capped, 0);
}

// V21: passing the edge of a box at 1.1 r, at any distance along the way, the listed contact does not bind:
// the linearised gap at the end of the step stays positive as long as no margin was cut.
TEST(Margin, PassingAnEdgeIsNotDeflected) {
  for (const Real travel : {0.05, 0.2, 0.4, 0.49})
    for (int k = 0; k < 200; ++k) {
      TestScene scene;
      const Local box = scene.add_shape({.kind = ShapeKind::box, .half = Vec3::Constant(5)});
      scene.add(box, 0, Vec3(5, 0, -5), Quat::Identity(),
                Mobility::fixed);  // its edge along y through the origin
      scene.add_sphere(1, Vec3(-2 + 0.02 * k, 0, 1.1), Vec3(travel * 1000, 0, 0));
      scene.h = 1e-3;
      Contacts c;
      const DetectorReport report = scene.find(c);
      EXPECT_EQ(report.capped, 0);
      for (Local i = 0; i < c.size(); ++i) {
        const Vec3 u = scene.velocity[1].linear - scene.velocity[0].linear;
        EXPECT_GT(c.gap[i] + scene.h * u.dot(c.normal[i]), 0) << "travel " << travel << " at " << k;
      }
    }
}

}  // namespace
}  // namespace talus
