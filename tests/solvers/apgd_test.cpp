// APGD and the exact-law loop: closed-form one-step answers, degenerate problems, same bits for any number of threads.
#include <gtest/gtest.h>

#include "problem/sample_problems.hpp"
#include "talus/solvers/solver.hpp"

namespace talus {
namespace {

using test::Sample;

SolveReport solve_sample(const Sample& s, SolverSettings settings, BodyVector& v, int threads = 1) {
  const Team team(threads);
  const ConeProblem problem = s.problem(team);
  DualVector gamma = problem.zero();
  const SolveReport report = solve(problem, gamma, settings);
  problem.body_velocities(gamma, v);
  return report;
}

// VALIDATION V3: h = 1e-3, μ = 0.5, v = 2 on a body that cannot turn
TEST(Apgd, FirstStepOfSlidingRelaxedAndExact) {
  const Sample s = test::ball_on_plane(0.5, Vec3(2, 0, 0), 1e-3, 9.81, false);
  SolverSettings settings;
  settings.tolerance = 1e-12;
  BodyVector v;
  SolveReport report = solve_sample(s, settings, v);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_NEAR(v[1].linear.x(), (2 - 0.5 * 9.81e-3) / 1.25, 1e-9);
  EXPECT_NEAR(v[1].linear.x(), 1.596076, 1e-6);
  EXPECT_NEAR(v[1].linear.z(), 0.5 * v[1].linear.x(), 1e-9);
  settings.model = Model::exact;
  report = solve_sample(s, settings, v);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_NEAR(v[1].linear.x(), 1.995095, 1e-9);
  EXPECT_NEAR(v[1].linear.z(), 0, 1e-9);
  EXPECT_GT(report.outer_iterations, 0);
}

}  // namespace
}  // namespace talus
