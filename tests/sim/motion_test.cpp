// Prescribed motions give the velocity they are told.
#include "talus/sim/motion.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "talus/base/error.hpp"

namespace talus {
namespace {

TEST(Motion, Constant) {
  const auto m = constant_motion({Vec3(1, 2, 3), Vec3(4, 5, 6)});
  EXPECT_EQ(m->at(17).linear, Vec3(1, 2, 3));
  EXPECT_EQ(m->at(-1).angular, Vec3(4, 5, 6));
}

TEST(Motion, TableIsLinearBetweenAndConstantOutside) {
  const auto m = table_motion(
      {1, 2, 4},
      {{Vec3(0, 0, 0), Vec3(0, 0, 1)}, {Vec3(2, 0, 0), Vec3(0, 0, 3)}, {Vec3(0, 4, 0), Vec3(0, 0, 3)}});
  EXPECT_EQ(m->at(0).linear, Vec3(0, 0, 0));
  EXPECT_EQ(m->at(1.5).linear, Vec3(1, 0, 0));
  EXPECT_EQ(m->at(1.5).angular, Vec3(0, 0, 2));
  EXPECT_EQ(m->at(2).linear, Vec3(2, 0, 0));
  EXPECT_EQ(m->at(3).linear, Vec3(1, 2, 0));
  EXPECT_EQ(m->at(9).linear, Vec3(0, 4, 0));
}

TEST(Motion, TableMustBeAscendingAndComplete) {
  EXPECT_THROW(table_motion({}, {}), InputError);
  EXPECT_THROW(table_motion({1}, {}), InputError);
  EXPECT_THROW(table_motion({1, 1}, {{}, {}}), InputError);
}

TEST(Motion, Expressions) {
  const auto m = expression_motion({"0.1*sin(2*pi*t)", "t < 1 ? 3 : 4", "", "t^2", "1e-3", "-pi"});
  EXPECT_NEAR(m->at(0.25).linear.x(), 0.1, 1e-15);
  EXPECT_EQ(m->at(0.5).linear.y(), 3);
  EXPECT_EQ(m->at(1.5).linear.y(), 4);
  EXPECT_EQ(m->at(1.5).linear.z(), 0);
  EXPECT_EQ(m->at(3).angular, Vec3(9, 1e-3, -std::numbers::pi));
}

TEST(Motion, BadExpressionsAreNamed) {
  for (const char* bad : {"sin(", "q", "t+", "1,2", "t=3", "2 2", "\"text\""}) {
    try {
      expression_motion({bad, "", "", "", "", ""});
      ADD_FAILURE() << "accepted " << bad;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(bad), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(expression_motion({std::string(5000, '('), "", "", "", "", ""}), InputError);
}

}  // namespace
}  // namespace talus
