// N matrix-free against its definition; symmetric, semi-definite; similarity and threads to the bit; residuals against
// a naive implementation.
#include "talus/problem/cone_problem.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "problem/sample_problems.hpp"
#include "talus/problem/residuals.hpp"
#include "talus/problem/sweep.hpp"

namespace talus {
namespace {

DualVector random_dual(const ConeProblem& problem, std::uint64_t seed) {
  Random rng(seed);
  DualVector x = problem.zero();
  for (Local i = 0; i < x.size(); ++i) x[i] = rng.uniform(-1, 1);
  return x;
}

TEST(Delassus, MatrixFreeIsTheDefinition) {
  for (std::uint64_t seed : {1, 2, 3}) {
    const test::Sample s = test::random_sample(seed, 12, 30);
    const Team team(2);
    const ConeProblem problem = s.problem(team);
    const Eigen::MatrixXd N = test::dense_by_apply(problem), twin = test::dense_by_definition(s);
    EXPECT_LE((N - twin).norm(), 1e-13 * twin.norm());
    EXPECT_LE((N - N.transpose()).norm(), 1e-13 * N.norm());
    EXPECT_GE(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(0.5 * (N + N.transpose())).eigenvalues()[0], -1e-12 * N.norm());
    for (Local i = 0; i < problem.blocks(); ++i) {
      const Mat33 block = twin.block<3, 3>(3 * i, 3 * i);
      EXPECT_LE((Mat33(problem.diagonal(i)) - block).norm(), 1e-13 * block.norm());
      const Vec3 n = s.contacts.normal[i];
      const Real nn = n.dot(block * n), tt = 0.5 * (block.trace() - nn);
      EXPECT_NEAR(problem.metric(i).n * nn, 1, 1e-12);
      EXPECT_NEAR(problem.metric(i).t * tt, 1, 1e-12);
    }
    // the explicit operator cannot be told apart
    const ConeProblem matrix = test::explicit_twin(s, problem, team);
    const DualVector x = random_dual(problem, seed);
    DualVector a = problem.zero(), b = problem.zero();
    problem.gradient(x, a);
    matrix.gradient(x, b);
    EXPECT_LE(norm(a - b), 1e-12 * norm(a));
  }
}

TEST(Delassus, BodyVelocitiesConserveMomentum) {
  test::Sample s = test::random_sample(4, 20, 60);
  for (Local i = 0; i < s.contacts.size(); ++i)
    if (s.contacts.a[i] == 0) s.contacts.a[i] = s.contacts.b[i] == 1 ? 2 : 1;  // no wall: nothing may leak
  const Team team(1);
  const ConeProblem problem = s.problem(team);
  BodyVector v;
  problem.body_velocities(random_dual(problem, 9), v);
  Vec3 before = Vec3::Zero(), after = Vec3::Zero();
  for (Local j = 1; j < s.bodies.size(); ++j) {
    before += s.bodies.mass[j] * s.free_velocity[j].linear;
    after += s.bodies.mass[j] * v[j].linear;
  }
  EXPECT_LE((after - before).norm(), 1e-12 * 60);
}

TEST(ConeProblem, GapsEnterOnceAndBounded) {
  test::Sample s = test::ball_on_plane(0.5, Vec3(2, 0, 0), 1e-2);
  const Team team(1);
  s.contacts.gap[0] = 3e-3;
  EXPECT_DOUBLE_EQ(s.problem(team).r()[2], 0.3 - 9.81e-2);
  s.contacts.gap[0] = -1;
  EXPECT_DOUBLE_EQ(s.problem(team).r()[2], -0.1 * std::sqrt(9.81) - 9.81e-2);
  s.rule.recovery_speed = 0.05;
  EXPECT_DOUBLE_EQ(s.problem(team).r()[2], -0.05 - 9.81e-2);
  EXPECT_DOUBLE_EQ(s.problem(team).r()[0], 2);
}

// lengths × s, times × √s, masses × s³ with s = 2^12: everything scales by powers of two, to the bit
TEST(ConeProblem, SimilarityToTheBit) {
  const Real length = 4096, time = 64, mass = length * length * length, speed = length / time;
  const test::Sample s = test::random_sample(5, 15, 40);
  test::Sample big = s;
  for (Local j = 0; j < s.bodies.size(); ++j) {
    big.bodies.mass[j] *= mass;
    big.bodies.inertia[j] *= mass * length * length;
    big.bodies.radius[j] *= length;
    big.free_velocity[j].linear *= speed;
    big.free_velocity[j].angular /= time;
  }
  for (Local i = 0; i < s.contacts.size(); ++i) {
    big.contacts.arm_a[i] *= length;
    big.contacts.arm_b[i] *= length;
    big.contacts.gap[i] *= length;
  }
  big.rule.h *= time;
  big.scales = {s.scales.mass * mass, s.scales.speed * speed};
  const Team team(1);
  const ConeProblem small_problem = s.problem(team), big_problem = big.problem(team);
  DualVector x = random_dual(small_problem, 3), X = big_problem.zero(), g = small_problem.zero(), G = big_problem.zero();
  for (Local i = 0; i < x.size(); ++i) X[i] = mass * speed * x[i];
  small_problem.gradient(x, g);
  big_problem.gradient(X, G);
  for (Local i = 0; i < x.size(); ++i) ASSERT_EQ(G[i], speed * g[i]);
  for (Law law : {Law::relaxed, Law::exact})
    for (ResidualKind kind : {ResidualKind::scaled, ResidualKind::natural})
      EXPECT_EQ(residual(kind, small_problem, law, x, g), residual(kind, big_problem, law, X, G));
}

TEST(ConeProblem, SameBitsForAnyNumberOfThreads) {
  const test::Sample s = test::random_sample(6, 3000, 9000);
  Hash64 reference;
  for (int threads : {1, 2, 3, 4}) {
    const Team team(threads);
    const ConeProblem problem = s.problem(team);
    DualVector x = random_dual(problem, 3), g = problem.zero();
    problem.gradient(x, g);
    Sweep sweep(problem, Law::relaxed, 7);
    sweep.start(x);
    sweep.forward(x, [&](const auto& block, Local i, const auto& y, const auto& u) {
      return block.projected(block.moved(y, -1.0, u, sweep.metric(i)), sweep.metric(i));
    });
    Hash64 hash;
    for (Local i = 0; i < x.size(); ++i) hash.add(g[i]), hash.add(x[i]);
    for (std::string_view name : residual_names())
      hash.add(residual(residual_kind(name), problem, Law::exact, x, g));
    if (threads == 1) reference = hash;
    EXPECT_EQ(hash.value(), reference.value()) << threads;
  }
}

// After any number of sweeps over any number of pieces the velocities kept by the sweep are those of γ.
TEST(Sweep, VelocitiesFollowTheImpulses) {
  const test::Sample s = test::random_sample(7, 200, 700);
  const Team team(2);
  const ConeProblem problem = s.problem(team);
  const ConeProblem matrix = test::explicit_twin(s, problem, team);
  for (const ConeProblem* p : {&problem, &matrix})
    for (int pieces : {1, 2, 7, 64}) {
      DualVector x = random_dual(*p, 3), old = x, u = p->zero(), g = p->zero();
      Sweep sweep(*p, Law::relaxed, pieces);
      auto law = [&](const auto& block, Local i, const auto& y, const auto& v) {
        return block.projected(block.moved(y, -0.7, v, sweep.metric(i)), sweep.metric(i));
      };
      sweep.start(x);
      for (int k = 0; k < 5; ++k) {
        const DualVector before = x;
        x = x + 0.5 * (x - old);
        old = before;
        sweep.extrapolate(0.5);
        sweep.forward(x, law);
        sweep.backward(x, law);
      }
      sweep.velocity(x, u);
      p->gradient(x, g);
      EXPECT_LE(norm(u - g), 1e-11 * norm(g)) << pieces;
    }
}

// ---- residuals, written again from the formulas of the papers ------------------------------------------------

struct Naive {
  Eigen::VectorXd x, u, q;
  std::vector<Vec3> n;
  std::vector<Real> mu;
  std::vector<BlockMetric> P;
  Vec3 part(const Eigen::VectorXd& v, int i) const { return v.segment<3>(3 * i); }
  static Vec3 project(const Vec3& x, const Vec3& n, Real mu) {
    const Real xn = x.dot(n), t = (x - xn * n).norm();
    if (xn >= 0 && t <= mu * xn) return x;
    if (mu * t <= -xn) return Vec3::Zero();
    const Real z = (xn + mu * t) / (1 + mu * mu);
    return t > 0 ? Vec3(z * (n + mu * (x - xn * n) / t)) : Vec3(z * n);
  }
  Real gradient_norm(Real d) const {
    Real s = 0;
    for (std::size_t i = 0; i < n.size(); ++i) s += (part(x, i) - project(part(x, i) - d * part(u, i), n[i], mu[i])).squaredNorm();
    return std::sqrt(s);
  }
};

TEST(Residuals, AgainstTheFormulas) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const test::Sample s = test::random_sample(seed, 10, 25);
    const Team team(1);
    const ConeProblem problem = s.problem(team);
    DualVector x = random_dual(problem, seed), u = problem.zero();
    if (seed > 2) problem.project(x);
    problem.gradient(x, u);
    for (Law law : {Law::relaxed, Law::exact}) {
      Naive naive;
      const int m = problem.blocks();
      naive.x = Eigen::Map<const Eigen::VectorXd>(x.data(), x.size());
      naive.u = Eigen::Map<const Eigen::VectorXd>(u.data(), u.size());
      naive.q = Eigen::Map<const Eigen::VectorXd>(problem.r().data(), x.size());
      Real rp = 0, rd = 0, work = 0, work_abs = 0, natural = 0, load = 0;
      for (int i = 0; i < m; ++i) {
        const Vec3 n = s.contacts.normal[i];
        const Real mu = s.contacts.friction[i];
        naive.n.push_back(n), naive.mu.push_back(mu), naive.P.push_back(problem.metric(i));
        const Vec3 own = naive.part(naive.u, i);
        if (law == Law::exact) naive.u.segment<3>(3 * i) += mu * (own - own.dot(n) * n).norm() * n;
        const Vec3 g = naive.part(naive.x, i), v = naive.part(naive.u, i);
        rp = std::max(rp, (g - g.dot(n) * n).norm() - mu * g.dot(n));
        rd = std::max(rd, (v - v.dot(n) * n).norm() - v.dot(n) / mu);
        work += g.dot(v), work_abs += std::abs(g.dot(v));
        // natural: in coordinates scaled by √P, for the exact law the closed-form step on u itself
        const Real pn = naive.P[i].n, pt = naive.P[i].t;
        Vec3 z;
        if (law == Law::exact) {
          const Vec3 t = g - (pt * (own - own.dot(n) * n) + pn * own.dot(n) * n);
          const Real tn = std::max(0.0, t.dot(n));
          const Vec3 tt = t - t.dot(n) * n;
          z = tn * n + (tt.norm() > mu * tn ? mu * tn / tt.norm() : 1.0) * tt;
        } else {
          const Vec3 t = g - (pt * (v - v.dot(n) * n) + pn * v.dot(n) * n);
          const Vec3 scaled = t.dot(n) / std::sqrt(pn) * n + (t - t.dot(n) * n) / std::sqrt(pt);
          const Vec3 back = Naive::project(scaled, n, mu * std::sqrt(pn / pt));
          z = back.dot(n) * std::sqrt(pn) * n + (back - back.dot(n) * n) * std::sqrt(pt);
        }
        const Vec3 e = g - z, q = naive.part(naive.q, i);
        natural += e.dot(n) * e.dot(n) / pn + (e - e.dot(n) * n).squaredNorm() / pt;
        load += q.dot(n) * q.dot(n) * pn + (q - q.dot(n) * n).squaredNorm() * pt;
      }
      const Residuals all = all_residuals(problem, law, x, u);
      const Real rc = std::abs(work) / m, mbar = s.scales.mass, gh = s.scales.speed;
      EXPECT_NEAR(all.r_p, std::max(0.0, rp), 1e-12);
      EXPECT_NEAR(all.r_d, std::max(0.0, rd), 1e-12 * (1 + rd));
      EXPECT_NEAR(all.r_c, rc, 1e-12);
      EXPECT_NEAR(all.de20, std::max({0.0, rp, rd, rc}), 1e-12 * (1 + rd));
      EXPECT_NEAR(all.de20_abs, std::max({0.0, rp, rd, work_abs / m}), 1e-12 * (1 + rd));
      EXPECT_NEAR(all.scaled, std::max({0.0, rp / (mbar * gh), rd / gh, rc / (mbar * gh * gh)}), 1e-10 * (1 + rd));
      EXPECT_NEAR(all.natural / std::sqrt(natural / load), 1, 1e-10);
      EXPECT_NEAR(all.natural_faf / (naive.gradient_norm(1) / naive.q.norm()), 1, 1e-10);
      const Real largest = std::max({naive.q.norm(), naive.x.norm(), Eigen::Map<const Eigen::VectorXd>(u.data(), u.size()).norm()});
      EXPECT_NEAR(all.natural_siconos / (naive.gradient_norm(1) / largest), 1, 1e-10);
      EXPECT_NEAR(all.heyn13 / (naive.gradient_norm(1e-6) / 1e-6), 1, 1e-6);
      EXPECT_NEAR(all.mazhar15 / (naive.gradient_norm(1e-6) / 1e-6 / (3 * m)), 1, 1e-6);
      EXPECT_NEAR(all.chrono / (naive.gradient_norm(1.0 / (9.0 * m * m)) * 9.0 * m * m), 1, 1e-6);
      for (std::string_view name : residual_names())
        EXPECT_EQ(all[residual_kind(name)], residual(residual_kind(name), problem, law, x, u)) << name;
    }
  }
}

TEST(Residuals, NothingToSolveIsZero) {
  test::Sample s;
  s.add_wall();
  s.rule = {1e-3, -1, 9.81};
  const Team team(2);
  const ConeProblem problem = s.problem(team);
  const DualVector x = problem.zero();
  for (std::string_view name : residual_names()) EXPECT_EQ(residual(residual_kind(name), problem, Law::relaxed, x, x), 0.0);
}

}  // namespace
}  // namespace talus
