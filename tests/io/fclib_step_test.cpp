// Steps of the engine as FCLib files: the file states the same problem, and a solver of files finds the same
// motion.
#include <gtest/gtest.h>

#include "io/temporary.hpp"
#include "talus/base/random.hpp"
#include "talus/io/fclib_problem.hpp"
#include "talus/solvers/solver.hpp"

namespace talus {
namespace {

/// Bodies with full inertia, balls, a fixed and a driven one, with contacts between random pairs of them.
struct RandomStep {
  Bodies bodies;
  Contacts contacts;
  BodyVector free;

  RandomStep() {
    Random random(5);
    const auto vec = [&](Real size) {
      return Vec3(random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size));
    };
    bodies.resize(8);
    bodies.owned = 8;
    free.resize(8);
    for (Local i = 0; i < 8; ++i) {
      bodies.mobility[i] = i == 0 ? Mobility::fixed : i == 1 ? Mobility::prescribed : Mobility::dynamic;
      bodies.orientation[i] = rotation_exp(vec(3));
      bodies.mass[i] = random.uniform(1, 5);
      bodies.inertia[i] =
          i % 2 ? Vec3::Constant(random.uniform(0.1, 1)) : Vec3(vec(0.5) + Vec3::Constant(0.7));
      free[i] = {vec(1), vec(1)};
    }
    free[0] = {};
    contacts.resize(12);
    for (Local i = 0; i < 12; ++i) {
      contacts.a[i] = i % 7;
      contacts.b[i] =
          contacts.a[i] + 1 + static_cast<Local>(random.bits() % static_cast<std::uint64_t>(7 - i % 7));
      contacts.feature[i] = 0;
      contacts.normal[i] = vec(1).normalized();
      contacts.arm_a[i] = vec(1);
      contacts.arm_b[i] = vec(1);
      contacts.gap[i] = random.uniform(-0.1, 0.1);
      contacts.friction[i] = i % 5 == 0 ? 0.0 : random.uniform(0, 1);
    }
  }
  ConeProblem problem(const Team& team) const {
    return ConeProblem::from_contacts(contacts, bodies, free, {0.01, 0.5, 9.81}, {1, 1}, team);
  }
};

TEST(FclibStep, StatesTheSameProblemInAnotherFrame) {
  const RandomStep step;
  const Team team;
  const ConeProblem ours = step.problem(team);
  const ConeProblem file = cone_problem(fclib_of_step(ours, step.bodies), team);
  ASSERT_EQ(file.dim(), ours.dim());

  // u of the same impulse, each rotated into the frame (n, t1, t2) of its contact
  Random random(6);
  DualVector gamma = ours.zero(), u = ours.zero(), rotated = file.zero(), u_file = file.zero();
  const auto turn = [&](const DualVector& world, DualVector& local) {
    for (Local i = 0; i < ours.blocks(); ++i) {
      Vec3 t1, t2;
      tangents(step.contacts.normal[i], t1, t2);
      const Vec3 x(world[3 * i], world[3 * i + 1], world[3 * i + 2]);
      local[3 * i] = x.dot(step.contacts.normal[i]);
      local[3 * i + 1] = x.dot(t1);
      local[3 * i + 2] = x.dot(t2);
    }
  };
  for (Local k = 0; k < gamma.size(); ++k) gamma[k] = random.uniform(-1, 1);
  turn(gamma, rotated);
  ours.velocity(gamma, u);
  file.velocity(rotated, u_file);
  DualVector expected = file.zero();
  turn(u, expected);
  EXPECT_LT(norm(u_file - expected), 1e-13 * norm(expected));
}

TEST(FclibStep, IsSolvedToTheSameMotionAndStoresTheAnswer) {
  TemporaryDirectory directory;
  const RandomStep step;
  const Team team;
  const ConeProblem ours = step.problem(team);
  SolverSettings settings;
  settings.residual = "natural";
  settings.tolerance = 1e-11;
  settings.max_iterations = 100000;
  DualVector gamma = ours.zero();
  const SolveReport here = solve(ours, gamma, settings);
  ASSERT_TRUE(here.converged());

  const auto path =
      write_step_problem(directory.path() / "problems", 42, 0.42, 0.01, ours, step.bodies, gamma);
  EXPECT_EQ(path.filename(), "problem_0000042.hdf5");
  const FclibProblem read = read_fclib(path);
  const ConeProblem file = cone_problem(read, team);
  DualVector again = file.zero();
  const SolveReport there = solve(file, again, settings);
  ASSERT_TRUE(there.converged());
  EXPECT_NEAR(there.objective, here.objective, 1e-10 * std::abs(here.objective));
  EXPECT_NEAR(there.velocity_norm, here.velocity_norm, 1e-9 * here.velocity_norm);

  // the stored answer solves the stored problem: M v = H r + f, u = Hᵀ v + w
  const FclibProblem::State& s = read.solution;
  EXPECT_LT((read.M * s.v - read.H * s.r - read.f).norm(), 1e-12 * read.f.norm());
  EXPECT_LT((read.H.transpose() * s.v + read.w - s.u).norm(), 1e-12 * (1 + s.u.norm()));
  DualVector stored = file.zero(), u = file.zero();
  for (Local k = 0; k < stored.size(); ++k) stored[k] = s.r[k];
  file.velocity(stored, u);
  EXPECT_LT(residual(ResidualKind::natural, file, Law::relaxed, stored, u), 1e-10);
}

TEST(FclibStep, AStepWithoutContactsIsAFileToo) {
  TemporaryDirectory directory;
  RandomStep step;
  step.contacts.clear();
  const Team team;
  const ConeProblem ours = step.problem(team);
  const DualVector gamma = ours.zero();
  const FclibProblem read =
      read_fclib(write_step_problem(directory.path(), 0, 0, 0.01, ours, step.bodies, gamma));
  EXPECT_EQ(read.contacts(), 0);
  EXPECT_EQ(read.M.rows(), 36);
}

}  // namespace
}  // namespace talus
