// Projections on 1e5 random vectors: idempotent, non-expansive, Moreau's decomposition, and the metric's own optimality.
#include "talus/problem/cones.hpp"

#include <gtest/gtest.h>

#include "problem/sample_problems.hpp"
#include "talus/math/one_contact.hpp"

namespace talus {
namespace {

constexpr int count = 100000;

Real random_mu(Random& rng) {
  const Real kind = rng.uniform();
  return kind < 0.1 ? 0.0 : kind < 0.2 ? 10.0 : rng.uniform(0, 1.5);
}
Vec3 random_vector(Random& rng) { return std::pow(10.0, rng.uniform(-3, 3)) * test::random_unit(rng); }

TEST(Cone, CoulombProjection) {
  Random rng(1);
  for (int k = 0; k < count; ++k) {
    const Vec3 n = test::random_unit(rng), x = random_vector(rng), y = random_vector(rng);
    const Real mu = random_mu(rng), size = x.norm();
    const CoulombBlock block{n, mu};
    const Vec3 p = block.projected(x);
    ASSERT_LE(block.primal_violation(p.data()), 1e-14 * size * (1 + mu));
    ASSERT_LE((block.projected(p) - p).norm(), 1e-14 * size * (1 + mu));                                  // idempotent
    ASSERT_LE((p - block.projected(y)).norm(), (x - y).norm() * (1 + 1e-12) + 1e-14 * (size + y.norm()));  // non-expansive
    // Moreau: x = Π_K(x) − Π_K*(−x), the two parts orthogonal, the second in the polar cone
    const Vec3 polar = x - p;
    ASSERT_LE(std::abs(p.dot(polar)), 1e-13 * size * size);
    const Vec3 dual = -polar;
    const Real dn = n.dot(dual);
    ASSERT_GE(dn, mu * (dual - dn * n).norm() - 1e-13 * size * (1 + mu));
  }
}

TEST(Cone, MetricProjectionIsOptimal) {
  Random rng(2);
  for (int k = 0; k < count; ++k) {
    const Vec3 n = test::random_unit(rng), x = random_vector(rng);
    const Real mu = random_mu(rng);
    const NormalTangent P{std::pow(10.0, rng.uniform(-2, 2)), std::pow(10.0, rng.uniform(-2, 2))};
    const Vec3 p = project_cone(x, n, mu, P);
    // P⁻¹(x − p) is in the polar cone and orthogonal to p
    const Vec3 d = x - p;
    const Real dn = n.dot(d);
    const Vec3 g = (d - dn * n) / P.t + dn / P.n * n;
    const Real scale = x.norm() * (1 / P.n + 1 / P.t) * x.norm();
    ASSERT_LE(std::abs(p.dot(g)), 1e-12 * scale * (1 + mu));
    const Real gn = n.dot(g);
    ASSERT_LE(mu * (g - gn * n).norm() + gn, 1e-12 * scale / x.norm() * (1 + mu * mu));
  }
}

TEST(Cone, MixedBlocksProjectExactly) {
  Random rng(3);
  for (int k = 0; k < count; ++k) {
    ConeBlock cone;
    cone.kind = k % 2 ? ConeKind::rolling : ConeKind::planar;
    cone.mu = random_mu(rng), cone.mu_r = random_mu(rng);
    const AnyBlock block{cone};
    Real x[5], y[5], p[5], again[5], py[5], u[5];
    for (Local i = 0; i < block.rows; ++i) x[i] = rng.uniform(-1, 1), y[i] = rng.uniform(-1, 1);
    block.project(x, p);
    block.project(p, again);
    block.project(y, py);
    Real change = 0, distance = 0, before = 0, work = 0;
    for (Local i = 0; i < block.rows; ++i) {
      change = std::max(change, std::abs(again[i] - p[i]));
      distance += (p[i] - py[i]) * (p[i] - py[i]);
      before += (x[i] - y[i]) * (x[i] - y[i]);
      work += p[i] * (x[i] - p[i]);
      u[i] = p[i] - x[i];
    }
    ASSERT_LE(block.primal_violation(p), 1e-13 * (1 + cone.mu + cone.mu_r));
    ASSERT_LE(change, 1e-13);
    ASSERT_LE(std::sqrt(distance), std::sqrt(before) * (1 + 1e-12) + 1e-13);
    ASSERT_NEAR(work, 0, 1e-12);
    // the dual cone: u_N ≥ μ‖u_T‖ + μ_r‖u_R‖
    ASSERT_GE(u[0], block.de_saxce(u) - 1e-12 * (1 + cone.mu + cone.mu_r));
  }
}

TEST(Cone, OneCoulombBlockIsTheSameInBothForms) {
  Random rng(4);
  for (int k = 0; k < 1000; ++k) {
    ConeBlock cone;
    cone.mu = random_mu(rng);
    cone.normal = test::random_unit(rng);
    const AnyBlock any{cone};
    const CoulombBlock own{cone.normal, cone.mu};
    const Vec3 x = random_vector(rng);
    Real out[3];
    any.project(x.data(), out);
    EXPECT_EQ(own.projected(x), Vec3(out[0], out[1], out[2]));
    EXPECT_EQ(any.de_saxce(x.data()), own.de_saxce(x.data()));
    EXPECT_EQ(any.dual_violation(x.data()), own.dual_violation(x.data()));
  }
}

// The one-contact solver on random blocks, also singular ones: judged by the residual of the law it solves.
TEST(OneContact, SolvesAnyBlock) {
  Random rng(5);
  int relaxed_bad = 0, exact_bad = 0;
  const int cases = 20000;
  for (int k = 0; k < cases; ++k) {
    Mat33 A;
    for (int i = 0; i < 9; ++i) A(i / 3, i % 3) = rng.uniform(-1, 1);
    if (k % 5 == 0) A.row(0).setZero();  // rank two
    const Mat33 W = A.transpose() * A;
    const Vec3 n = test::random_unit(rng);
    const Real mu = random_mu(rng);
    const Vec3 q = W * random_vector(rng);  // in the range of W: a solution exists for the relaxed law
    for (bool exact : {false, true}) {
      const Vec3 x = solve_one_contact(W, q, n, mu, exact, test::random_unit(rng));
      ASSERT_TRUE(x.allFinite());
      const CoulombBlock block{n, mu};
      ASSERT_LE(block.primal_violation(x.data()), 1e-12 * (1 + mu) * x.norm());
      const Vec3 u = W * x + q;
      const Real P = 3 / W.trace();
      const Vec3 moved = x - P * u;
      const Vec3 back = exact ? coulomb_step(moved, n, mu) : project_cone(moved, n, mu);
      const Real error = (x - back).norm() / (P * q.norm());
      (exact ? exact_bad : relaxed_bad) += error > 1e-6;
    }
  }
  EXPECT_EQ(relaxed_bad, 0);
  // the exact law with an indefinite effective stiffness (large μ) need not have a solution at all
  EXPECT_LE(exact_bad, cases / 100);
}

}  // namespace
}  // namespace talus
