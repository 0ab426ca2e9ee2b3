// Every solver of the table: closed-form one-step answers, a 1e-12 reference on both operators, degenerate problems,
// the same bits for any number of threads, momentum.
#include <gtest/gtest.h>

#include "problem/sample_problems.hpp"
#include "talus/base/error.hpp"
#include "talus/solvers/solver.hpp"

namespace talus {
namespace {

using test::Sample;

SolverSettings settings_for(std::string_view solver, Model model, Real tolerance, int iterations) {
  SolverSettings s;
  s.solver = solver;
  s.model = model;
  s.residual = "natural";
  s.tolerance = tolerance;
  s.max_iterations = iterations;
  return s;
}

/// The outer loop over Tresca discs need not converge, and its iterates lie in the discs rather than in the cones.
bool by_discs(std::string_view solver) { return solver == "kucera" || solver == "gpminres"; }

class EverySolver : public ::testing::TestWithParam<std::string_view> {};

// VALIDATION V3: h = 1e-3, μ = 0.5, v = 2 on a body that cannot turn
TEST_P(EverySolver, FirstStepOfSliding) {
  const Sample s = test::ball_on_plane(0.5, Vec3(2, 0, 0), 1e-3, 9.81, false);
  const Team team(1);
  const ConeProblem problem = s.problem(team);
  BodyVector v;
  DualVector gamma = problem.zero();
  SolveReport report = solve(problem, gamma, settings_for(GetParam(), Model::relaxed, 1e-10, 20000));
  problem.body_velocities(gamma, v);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_NEAR(v[1].linear.x(), (2 - 0.5 * 9.81e-3) / 1.25, 1e-7);
  EXPECT_NEAR(v[1].linear.x(), 1.596076, 1e-6);
  EXPECT_NEAR(v[1].linear.z(), 0.5 * v[1].linear.x(), 1e-7);
  gamma = 0.0;
  report = solve(problem, gamma, settings_for(GetParam(), Model::exact, 1e-10, 20000));
  problem.body_velocities(gamma, v);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_NEAR(v[1].linear.x(), 1.995095, 1e-7);
  EXPECT_NEAR(v[1].linear.z(), 0, 1e-7);
}

// What converges agrees with a far more accurate solution; what does not says so. Both operators.
TEST_P(EverySolver, AgreesWithTheReference) {
  int converged = 0, solved = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Sample s = test::random_sample(seed, 10, 14, 0.8);
    const Team team(1);
    const ConeProblem problem = s.problem(team), matrix = test::explicit_twin(s, problem, team);
    DualVector exact = problem.zero(), u_exact = problem.zero(), u = problem.zero();
    const SolveReport reference = solve(problem, exact, settings_for("apgd", Model::relaxed, 1e-12, 200000));
    ASSERT_TRUE(reference.converged());
    problem.gradient(exact, u_exact);
    for (const ConeProblem* p : {&problem, &matrix}) {
      DualVector gamma = p->zero();
      const SolveReport report = solve(*p, gamma, settings_for(GetParam(), Model::relaxed, 1e-8, by_discs(GetParam()) ? 3000 : 40000));
      ASSERT_TRUE(std::isfinite(report.residual));
      EXPECT_EQ(report.converged(), report.residuals.natural <= 1e-8);
      EXPECT_LE(report.residuals.r_p, by_discs(GetParam()) ? 1e-4 : 1e-12);
      ++solved;
      if (!report.converged()) continue;
      ++converged;
      p->gradient(gamma, u);
      EXPECT_LE(norm(u - u_exact), 1e-6 * norm(u_exact));
      EXPECT_NEAR(report.objective, reference.objective, 1e-6 * std::abs(reference.objective));
      EXPECT_NEAR(report.velocity_norm, norm(u_exact), 1e-6 * norm(u_exact));
    }
  }
  EXPECT_GE(converged, by_discs(GetParam()) ? solved / 4 : solved) << "of " << solved;
}

TEST_P(EverySolver, ExactLaw) {
  int converged = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Sample s = test::random_sample(seed, 10, 14, 0.8);
    const Team team(1);
    const ConeProblem problem = s.problem(team);
    DualVector gamma = problem.zero();
    const SolveReport report = solve(problem, gamma, settings_for(GetParam(), Model::exact, 1e-7, by_discs(GetParam()) ? 3000 : 40000));
    ASSERT_TRUE(std::isfinite(report.residual));
    EXPECT_EQ(report.converged(), report.residuals.natural <= 1e-7);
    converged += report.converged();
  }
  EXPECT_GE(converged, by_discs(GetParam()) ? 2 : 5);
}

TEST_P(EverySolver, FrictionlessAsPrinted) {
  Sample s = test::random_sample(3, 12, 16, 0.0);
  const Team team(1);
  const ConeProblem problem = s.problem(team);
  DualVector exact = problem.zero(), gamma = problem.zero();
  const SolveReport reference = solve(problem, exact, settings_for("apgd", Model::relaxed, 1e-12, 100000));
  const SolveReport report = solve(problem, gamma, settings_for(GetParam(), Model::relaxed, 1e-8, 10000));
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_NEAR(report.objective, reference.objective, 1e-6 * std::abs(reference.objective));
}

TEST_P(EverySolver, DegenerateProblems) {
  const Team team(2);
  for (Model model : {Model::relaxed, Model::exact}) {
    {  // no contacts at all
      Sample s;
      s.add_wall();
      s.rule = {1e-3, -1, 9.81};
      const ConeProblem problem = s.problem(team);
      DualVector gamma = problem.zero();
      EXPECT_EQ(solve(problem, gamma, settings_for(GetParam(), model, 1e-6, 100)).status, Status::converged);
    }
    {  // all separated
      Sample s = test::ball_on_plane(0.5, Vec3(1, 0, 1), 1e-3);
      const ConeProblem problem = s.problem(team);
      DualVector gamma = problem.zero();
      EXPECT_EQ(solve(problem, gamma, settings_for(GetParam(), model, 1e-6, 100)).status, Status::converged);
      EXPECT_EQ(norm(gamma), 0);
    }
    for (Real mu : {0.0, 10.0})
      for (Real ratio : {1.0, 1e6}) {  // two balls on each other, the upper one heavy
        Sample s = test::ball_on_plane(mu, Vec3(1, 0, 0), 1e-3);
        s.add_ball(Vec3(0, 0, 3), 1, ratio);
        s.free_velocity[2].linear = Vec3(0, 0, -9.81e-3);
        s.add_contact(1, 2, Vec3::UnitZ(), Vec3(0, 0, 2), 0, mu);
        const ConeProblem problem = s.problem(team);
        DualVector gamma = problem.zero();
        const SolveReport report = solve(problem, gamma, settings_for(GetParam(), model, 1e-6, 2000));
        ASSERT_TRUE(std::isfinite(report.residual) && std::isfinite(norm(gamma)));
        EXPECT_EQ(report.converged(), report.residual <= 1e-6);
      }
  }
}

// A guess that is not even a number must not reach the answer.
TEST_P(EverySolver, NeverReturnsNaN) {
  const Sample s = test::ball_on_plane(0.5, Vec3(2, 0, 0), 1e-3);
  const Team team(1);
  const ConeProblem problem = s.problem(team);
  for (std::string_view residual : {"natural", "scaled", "de20"}) {
    DualVector gamma = problem.zero();
    gamma[1] = std::numeric_limits<Real>::quiet_NaN();
    SolverSettings settings = settings_for(GetParam(), Model::relaxed, 1e-8, 50);
    settings.residual = residual;
    const SolveReport report = solve(problem, gamma, settings);
    EXPECT_TRUE(std::isfinite(norm(gamma)));
    EXPECT_TRUE(std::isfinite(report.residual));
    EXPECT_EQ(report.converged(), report.residual <= 1e-8);
  }
}

TEST_P(EverySolver, StopsWhenTheMonitorSaysSo) {
  const Sample s = test::random_sample(2, 10, 14, 0.8);
  const Team team(1);
  const ConeProblem problem = s.problem(team);
  for (Model model : {Model::relaxed, Model::exact}) {
    SolverSettings settings = settings_for(GetParam(), model, 1e-14, 1000);
    int calls = 0;
    settings.monitor = [&](const Iteration& it) {
      EXPECT_EQ(static_cast<Local>(it.gamma.size()), problem.cones().rows());
      return ++calls < 3;
    };
    DualVector gamma = problem.zero();
    EXPECT_EQ(solve(problem, gamma, settings).status, Status::interrupted);
    EXPECT_EQ(calls, 3);
  }
}

TEST_P(EverySolver, SameBitsForAnyNumberOfThreads) {
  const Sample s = test::random_sample(8, GetParam() == "admm" ? 60 : 1000, GetParam() == "admm" ? 90 : 2500);
  std::uint64_t reference = 0;
  for (int threads : {1, 2, 4}) {
    const Team team(threads);
    const ConeProblem problem = s.problem(team);
    DualVector gamma = problem.zero();
    SolverSettings settings = settings_for(GetParam(), Model::relaxed, 1e-9, 6);
    settings.options.gauss_seidel.pieces = settings.options.nbgs.pieces = settings.options.ags.pieces = 5;
    solve(problem, gamma, settings);
    Hash64 hash;
    for (Local i = 0; i < gamma.size(); ++i) hash.add(gamma[i]);
    if (threads == 1) reference = hash.value();
    EXPECT_EQ(hash.value(), reference);
  }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const SolverInfo& info : solver_table()) all.push_back(info.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, EverySolver, ::testing::ValuesIn(names()),
                         [](const auto& p) { return std::string(p.param); });

// ---- sweeps over pieces -------------------------------------------------------------------------------------

// 64 balls on the floor carry a plate of 0.01 of their mass, shared by all 64 pieces.
TEST(Pieces, LightPlateOnManyBalls) {
  Sample s;
  const Local wall = s.add_wall();
  Random rng(3);
  const int side = 8;
  for (int i = 0; i < side * side; ++i)
    s.add_ball(Vec3(2.2 * (i % side), 2.2 * (i / side), 1), 1, rng.uniform(0.5, 1.5));
  const Local plate = s.add_ball(Vec3(7.7, 7.7, 2.1), 12, 0.64);
  s.bodies.inertia[plate] = 0.64 / 12 * Vec3(18 * 18, 18 * 18, 2 * 18 * 18);
  const Real h = 1e-3;
  s.rule = {h, -1, 9.81};
  s.scales = {1, 9.81 * h};
  for (Local j = 1; j < s.bodies.size(); ++j) s.free_velocity[j].linear = Vec3(0.01, 0, -9.81 * h);
  for (Local j = 1; j <= side * side; ++j) {
    const Vec3 x = s.bodies.position[j];
    s.add_contact(wall, j, Vec3::UnitZ(), Vec3(x[0], x[1], 0), 0, 0.3);
    s.add_contact(j, plate, Vec3::UnitZ(), Vec3(x[0], x[1], 2), 0, 0.3);
  }
  for (std::string_view solver : {"nbgs", "ags"})
    for (int pieces : {1, 64}) {
      const Team team(1);
      const ConeProblem problem = s.problem(team);
      DualVector gamma = problem.zero();
      SolverSettings settings = settings_for(solver, Model::relaxed, 1e-6, 20000);
      settings.options.gauss_seidel.pieces = settings.options.nbgs.pieces = settings.options.ags.pieces = pieces;
      const SolveReport report = solve(problem, gamma, settings);
      EXPECT_EQ(report.status, Status::converged) << solver << " " << pieces << " " << report.residual;
    }
}

TEST(Pieces, MomentumIsConserved) {
  Sample s = test::random_sample(11, 300, 900);
  for (Local i = 0; i < s.contacts.size(); ++i)
    if (s.contacts.a[i] == 0) s.contacts.a[i] = s.contacts.b[i] == 1 ? 2 : 1;
  Vec3 before = Vec3::Zero();
  for (Local j = 1; j < s.bodies.size(); ++j) before += s.bodies.mass[j] * s.free_velocity[j].linear;
  for (Real omega : {0.4, 0.75, 1.0})
    for (int pieces : {1, 3, 64}) {
      const Team team(1);
      const ConeProblem problem = s.problem(team);
      DualVector gamma = problem.zero();
      SolverSettings settings = settings_for("nbgs", Model::exact, 1e-12, 20);
      settings.options.nbgs = {omega, pieces, "exact"};
      solve(problem, gamma, settings);
      BodyVector v;
      problem.body_velocities(gamma, v);
      Vec3 after = Vec3::Zero();
      Real size = 0;
      for (Local j = 1; j < s.bodies.size(); ++j) {
        after += s.bodies.mass[j] * v[j].linear;
        size += s.bodies.mass[j] * v[j].linear.norm();
      }
      EXPECT_LE((after - before).norm(), 1e-13 * size);
    }
}

// ---- the table ----------------------------------------------------------------------------------------------

TEST(Options, ByName) {
  SolverOptions options;
  set_option(options, "apgd", "q", 1);
  EXPECT_EQ(options.apgd.q, 1.0);
  set_option(options, "apgd", "metric", std::string("none"));
  EXPECT_EQ(std::get<std::string>(get_option(options, "apgd", "metric")), "none");
  EXPECT_THROW(set_option(options, "apgd", "metric", std::string("nonne")), InputError);
  EXPECT_THROW(set_option(options, "apgd", "beta", 1.0), InputError);
  EXPECT_THROW(set_option(options, "apdg", "q", 1.0), InputError);
  EXPECT_THROW(set_option(options, "apgd", "q", std::string("one")), InputError);
  for (const std::string& group : option_groups())
    for (const OptionInfo& info : option_infos(group)) {
      EXPECT_FALSE(info.doc.empty());
      EXPECT_EQ(get_option(SolverOptions{}, group, info.name), info.default_value);
    }
  for (const SolverInfo& info : solver_table()) EXPECT_NO_THROW(option_infos(info.name));
  EXPECT_THROW(find_solver("apdg"), InputError);
  EXPECT_THROW(residual_kind("natrual"), InputError);
  EXPECT_EQ(model_kind("ncp"), Model::exact);
}

}  // namespace
}  // namespace talus
