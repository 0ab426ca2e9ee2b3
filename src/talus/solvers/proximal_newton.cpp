#include "talus/solvers/proximal_newton.hpp"

#include <Eigen/Dense>

#include "talus/linear/sparse_factor.hpp"
#include "talus/solvers/methods.hpp"

namespace talus {

BlockMetric scaled_metric(const ConeProblem& problem, Local i, Real rho) {
  const BlockMetric P = problem.metric(i);
  return {rho * P.n, rho * P.t, rho * P.r};
}

void move_blocks(const ConeProblem& problem, const DualVector& x, Real s, const DualVector& g, Real rho, DualVector& out) {
  for_blocks(problem, [&](const auto& block, Local i, Local row) {
    block.move(x.data() + row, s, g.data() + row, out.data() + row, scaled_metric(problem, i, rho));
  });
}

void move_blocks_inverse(const ConeProblem& problem, const DualVector& x, Real rho, DualVector& out) {
  for_blocks(problem, [&](const auto& block, Local i, Local row) {
    const BlockMetric P = scaled_metric(problem, i, rho);
    const Real zero[6] = {};
    block.move(zero, 1.0, x.data() + row, out.data() + row, BlockMetric{1 / P.n, 1 / P.t, 1 / P.r});
  });
}

void project_blocks(const ConeProblem& problem, Law law, const DualVector& t, Real rho, DualVector& out) {
  for_blocks(problem, [&](const auto& block, Local i, Local row) {
    if (law == Law::exact)
      block.coulomb(t.data() + row, out.data() + row);
    else
      block.project(t.data() + row, out.data() + row, scaled_metric(problem, i, rho));
  });
}

Real metric_norm2(const ConeProblem& problem, const DualVector& x, Real rho) {
  return dots(Metric(problem, MetricKind::blocks).norm2(x))[0] / rho;
}
Real metric_norm2_dual(const ConeProblem& problem, const DualVector& x, Real rho) {
  return dots(Metric(problem, MetricKind::blocks).norm2_dual(x))[0] * rho;
}

AndersonHistory::AndersonHistory(const ConeProblem& problem, int memory)
    : problem_(problem), dt_(memory, problem.zero()), dg_(memory, problem.zero()), t_old_(problem.zero()),
      g_old_(problem.zero()), scaled_(problem.zero()) {}

bool AndersonHistory::next(const DualVector& t, const DualVector& g, Real alpha, Real rho, DualVector& out) {
  const int m = static_cast<int>(dt_.size());
  if (m == 0) return false;
  if (has_old_) {
    dt_[used_ % m] = t - t_old_;
    dg_[used_ % m] = g - g_old_;
    ++used_;
  }
  t_old_ = t, g_old_ = g, has_old_ = true;
  const int k = std::min(used_, m);
  if (k == 0) return false;
  Eigen::MatrixXd A(k, k);
  Eigen::VectorXd b(k);
  for (int i = 0; i < k; ++i) {
    move_blocks_inverse(problem_, dg_[i], rho, scaled_);
    for (int j = 0; j <= i; ++j) A(i, j) = A(j, i) = dot(scaled_, dg_[j]);
    b(i) = dot(scaled_, g);
  }
  const Real trace = A.trace();
  if (!(trace > 0)) return false;
  A.diagonal().array() += 1e-10 * trace;
  const Eigen::VectorXd c = A.ldlt().solve(b);
  if (!c.allFinite()) return false;
  out = t + alpha * g;
  for (int i = 0; i < k; ++i) out += -c(i) * (dt_[i] + alpha * dg_[i]);
  return true;
}

namespace {

/// dΠ_P(t)·P of one block.
Mat33 projection_derivative(const CoulombBlock& block, Law law, const Vec3& t, const BlockMetric& P) {
  const Vec3& n = block.n;
  const Real tn = n.dot(t), mu = block.mu;
  const Vec3 tt = t - tn * n;
  const Real length = std::sqrt(tt.squaredNorm());
  const Mat33 nn = n * n.transpose(), metric = P.t * (Mat33::Identity() - nn) + P.n * nn;
  if (law == Law::exact) {
    if (tn <= 0) return Mat33::Zero();
    if (length <= mu * tn) return metric;
    const Vec3 d = tt / length;
    const Mat33 J = nn + mu * d * n.transpose() + (mu * tn / length) * (Mat33::Identity() - nn - d * d.transpose());
    return J * metric;
  }
  // in units of √P the projection is Euclidean with m = μ√(P_n/P_t)
  if (length <= mu * tn) return metric;
  if (mu * (P.n / P.t) * length <= -tn) return Mat33::Zero();
  if (mu == 0 || length == 0) return tn > 0 ? Mat33(P.n * nn) : Mat33(Mat33::Zero());
  const Real sn = std::sqrt(P.n), st = std::sqrt(P.t), m = mu * sn / st;
  const Real xn = tn / sn, xt = length / st, a = (m * xt + xn) / (1 + m * m);
  const Vec3 d = tt / length;
  const Mat33 dd = d * d.transpose();
  const Mat33 J = nn / (1 + m * m) + (m / (1 + m * m)) * (n * d.transpose() + d * n.transpose()) +
                  (m * m / (1 + m * m)) * dd + (m * a / xt) * (Mat33::Identity() - nn - dd);
  const Mat33 S = st * (Mat33::Identity() - nn) + sn * nn;
  return S * J * S;
}

/// The same for the other kinds, by differences: they are few and small.
BlockMatrix projection_derivative(const AnyBlock& block, Law law, const AnyBlock::Vector& t, const BlockMetric& P) {
  const Local rows = block.rows;
  BlockMatrix J(rows, rows);
  const Real h = 1e-7 * std::max(t.norm(), std::numeric_limits<Real>::min());
  for (Local k = 0; k < rows; ++k) {
    AnyBlock::Vector plus = t, minus = t;
    plus[k] += h, minus[k] -= h;
    const AnyBlock::Vector a = law == Law::exact ? block.coulombed(plus) : block.projected(plus, P);
    const AnyBlock::Vector b = law == Law::exact ? block.coulombed(minus) : block.projected(minus, P);
    for (Local l = 0; l < rows; ++l) J(l, k) = (a[l] - b[l]) / (2 * h);
  }
  BlockMatrix metric(rows, rows);
  for (Local k = 0; k < rows; ++k) {
    AnyBlock::Vector unit = AnyBlock::Vector::Zero(rows), zero = AnyBlock::Vector::Zero(rows);
    unit[k] = 1;
    const AnyBlock::Vector column = block.moved(zero, 1.0, unit, P);
    for (Local l = 0; l < rows; ++l) metric(l, k) = column[l];
  }
  return J * metric;
}

}  // namespace

void proximal_newton(const ConeProblem& problem, Law law, const SparseMatrix& W, Real sigma, DualVector& γ, Watch& watch,
                     int& applications) {
  constexpr int inner_cap = 20;
  DualVector x = problem.zero(), u = problem.zero(), t = problem.zero(), F = problem.zero(), trial = problem.zero();
  SparseFactor factor;
  SparseMatrix identity(W.rows(), W.cols());
  identity.setIdentity();
  Eigen::Map<const Eigen::VectorXd> r(problem.r().data(), problem.r().size());

  // F(x) = x − Π_P(γ − P(Wx + r)), leaving t = γ − P(Wx + r)
  auto evaluate = [&](const DualVector& at) {
    Eigen::Map<Eigen::VectorXd>(u.data(), u.size()) = W * Eigen::Map<const Eigen::VectorXd>(at.data(), at.size()) + r;
    ++applications;
    move_blocks(problem, γ, -1.0, u, sigma, t);
    project_blocks(problem, law, t, sigma, F);
    F = at - F;
    return metric_norm2(problem, F, sigma);
  };

  Real natural = std::numeric_limits<Real>::infinity();
  int rejected = 0;
  for (;;) {
    x = γ;
    Real merit = evaluate(x);
    const Real start = merit;
    int inner = 0;
    bool solved = start == 0;
    while (!solved && inner < inner_cap) {
      ++inner;
      // I + dΠ·P·W
      std::vector<Eigen::Triplet<Real>> entries;
      for (Local i = 0; i < problem.blocks(); ++i)
        problem.cones().at(i, [&](const auto& block, Local row) {
          typename std::decay_t<decltype(block)>::Vector ti(block.rows);
          for (Local k = 0; k < block.rows; ++k) ti[k] = t[row + k];
          const auto D = projection_derivative(block, law, ti, scaled_metric(problem, i, sigma));
          for (Local k = 0; k < block.rows; ++k)
            for (Local l = 0; l < block.rows; ++l) entries.emplace_back(row + k, row + l, D(k, l));
        });
      SparseMatrix D(W.rows(), W.cols());
      D.setFromTriplets(entries.begin(), entries.end());
      const Eigen::SparseMatrix<Real> J = SparseMatrix(identity + SparseMatrix(D * W));
      factor = SparseFactor();
      if (!factor.factor(J, false)) break;
      ++watch.report().factorizations;
      const Eigen::VectorXd dx = factor.solve(Eigen::Map<const Eigen::VectorXd>(F.data(), F.size()));
      if (!dx.allFinite()) break;
      Real step = 1;
      bool better = false;
      const Real before = merit;
      for (int tries = 0; tries < 12; ++tries, step *= 0.5) {
        for (Local i = 0; i < x.size(); ++i) trial[i] = x[i] - step * dx[i];
        merit = evaluate(trial);
        if (merit < (1 - 1e-4 * step) * before) {
          better = true;
          break;
        }
      }
      if (!better) break;
      x = trial;
      trial = x - γ;
      solved = merit <= 0.01 * metric_norm2(problem, trial, sigma) / sigma || merit <= 1e-28 * start;
    }

    // the new proximal point: feasible by construction
    project_blocks(problem, law, t, sigma, trial);
    problem.velocity(trial, u);
    ++applications;
    const Real now = residual(ResidualKind::natural, problem, law, trial, u);
    if (!std::isfinite(now) || inner >= inner_cap || now > 3 * natural || (!solved && inner == 0)) {
      sigma /= 10;
      if (++rejected > 12 || sigma < 1e-12) {
        watch.stall();
        return;
      }
      if (watch.iteration() > 0 && watch.residual() <= watch.tolerance()) return;
      continue;
    }
    natural = now;
    swap(γ, trial);
    if (watch.done(γ, u, applications)) return;
    if (inner <= 4)
      sigma *= 2;
    else if (inner >= 9)
      sigma /= 2;
  }
}

}  // namespace talus
