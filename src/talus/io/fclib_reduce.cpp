// Elimination of velocities and equality rows from an FCLib problem.
#include <fmt/format.h>

#include <Eigen/LU>
#include <Eigen/SparseLU>
#include <cmath>
#include <numeric>
#include <vector>

#include "talus/base/error.hpp"
#include "talus/io/fclib.hpp"

namespace talus {
namespace {

using SparseColumns = Eigen::SparseMatrix<Real, Eigen::ColMajor, int>;
using Triplets = std::vector<Eigen::Triplet<Real>>;

/// Parts above this size are factorised as sparse matrices.
constexpr int dense_limit = 600;

/// Which unknowns of A depend on each other: the connected parts of its graph, in order of their first row.
std::vector<std::vector<int>> connected_parts(const SparseMatrix& A) {
  std::vector<int> parent(A.rows());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (int i = 0; i < A.rows(); ++i)
    for (SparseMatrix::InnerIterator it(A, i); it; ++it) {
      const int a = root(i), b = root(static_cast<int>(it.col()));
      if (a != b) parent[std::max(a, b)] = std::min(a, b);
    }
  std::vector<int> part_of(A.rows(), -1);
  std::vector<std::vector<int>> parts;
  for (int i = 0; i < A.rows(); ++i) {
    const int r = root(i);
    if (part_of[r] < 0) {
      part_of[r] = static_cast<int>(parts.size());
      parts.emplace_back();
    }
    parts[part_of[r]].push_back(i);
  }
  return parts;
}

/// Solves with one connected part of A, scaled symmetrically so that units (mass against inertia) do not
/// decide what counts as singular.
class PartSolver {
 public:
  PartSolver(const SparseMatrix& A, const std::vector<int>& rows, std::vector<int>& local)
      : scale_(rows.size()) {
    const int n = static_cast<int>(rows.size());
    for (int k = 0; k < n; ++k) local[rows[k]] = k;
    for (int k = 0; k < n; ++k) {
      Real largest = 0;
      for (SparseMatrix::InnerIterator it(A, rows[k]); it; ++it)
        largest = std::max(largest, std::abs(it.value()));
      scale_[k] = largest > 0 ? 1 / std::sqrt(largest) : 1;
    }
    Triplets entries;
    for (int k = 0; k < n; ++k)
      for (SparseMatrix::InnerIterator it(A, rows[k]); it; ++it) {
        const int c = local[it.col()];
        entries.emplace_back(k, c, scale_[k] * it.value() * scale_[c]);
      }
    SparseColumns S(n, n);
    S.setFromTriplets(entries.begin(), entries.end());
    if (n <= dense_limit) {
      dense_.compute(Eigen::MatrixXd(S));
      regular_ = dense_.rcond() > 1e-15;
      is_dense_ = true;
    } else {
      sparse_.compute(S);
      regular_ = sparse_.info() == Eigen::Success;
    }
  }

  bool regular() const { return regular_; }
  Eigen::MatrixXd solve(const Eigen::MatrixXd& B) {
    const Eigen::MatrixXd scaled = scale_.asDiagonal() * B;
    Eigen::MatrixXd X =
        is_dense_ ? Eigen::MatrixXd(dense_.solve(scaled)) : Eigen::MatrixXd(sparse_.solve(scaled));
    return scale_.asDiagonal() * X;
  }

 private:
  Vector scale_;
  bool is_dense_ = false, regular_ = false;
  Eigen::PartialPivLU<Eigen::MatrixXd> dense_;
  Eigen::SparseLU<SparseColumns> sparse_;
};

struct Solved {
  SparseMatrix X;  ///< A⁻¹ B
  Vector y;        ///< A⁻¹ c
};

/// A⁻¹ B and A⁻¹ c, part by part; `what` names A in the error.
Solved solve_by_parts(const SparseMatrix& A, const SparseMatrix& B, const Vector& c,
                      const std::string& what) {
  Solved out;
  out.y.resize(A.rows());
  std::vector<int> local(A.rows()), column_of(B.cols(), -1);
  Triplets entries;
  for (const std::vector<int>& rows : connected_parts(A)) {
    std::vector<int> columns;  // of B that reach this part
    for (const int i : rows)
      for (SparseMatrix::InnerIterator it(B, i); it; ++it)
        if (column_of[it.col()] < 0) {
          column_of[it.col()] = static_cast<int>(columns.size());
          columns.push_back(static_cast<int>(it.col()));
        }
    const int n = static_cast<int>(rows.size());
    PartSolver solver(A, rows, local);
    if (!solver.regular())
      throw InputError(fmt::format("{} is singular: rows {} to {} of {} cannot be solved for", what,
                                   rows.front(), rows.back(), A.rows()));
    Eigen::MatrixXd rhs = Eigen::MatrixXd::Zero(n, static_cast<int>(columns.size()) + 1);
    for (int k = 0; k < n; ++k) {
      for (SparseMatrix::InnerIterator it(B, rows[k]); it; ++it) rhs(k, column_of[it.col()]) += it.value();
      rhs(k, rhs.cols() - 1) = c[rows[k]];
    }
    const Eigen::MatrixXd x = solver.solve(rhs);
    for (int k = 0; k < n; ++k) {
      out.y[rows[k]] = x(k, x.cols() - 1);
      for (std::size_t j = 0; j < columns.size(); ++j)
        if (x(k, static_cast<int>(j)) != 0)
          entries.emplace_back(rows[k], columns[j], x(k, static_cast<int>(j)));
    }
    for (const int j : columns) column_of[j] = -1;
  }
  out.X.resize(A.rows(), B.cols());
  out.X.setFromTriplets(entries.begin(), entries.end());
  return out;
}

void append(Triplets& entries, const SparseMatrix& A, int row, int column, Real factor, bool transposed) {
  for (int i = 0; i < A.rows(); ++i)
    for (SparseMatrix::InnerIterator it(A, i); it; ++it) {
      const int c = static_cast<int>(it.col());
      entries.emplace_back(row + (transposed ? c : i), column + (transposed ? i : c), factor * it.value());
    }
}

ReducedProblem reduce_global(const FclibProblem& p) {
  const int n = static_cast<int>(p.M.rows()), e = static_cast<int>(p.G.cols());
  if (e == 0) {
    Solved s = solve_by_parts(p.M, p.H, p.f, p.name + ": M");
    return {SparseMatrix(p.H.transpose() * s.X), Vector(p.H.transpose() * s.y + p.w)};
  }
  Triplets a, h;
  append(a, p.M, 0, 0, 1, false);
  append(a, p.G, 0, n, -1, false);
  append(a, p.G, n, 0, 1, true);
  append(h, p.H, 0, 0, 1, false);
  SparseMatrix A(n + e, n + e), B(n + e, p.H.cols());
  A.setFromTriplets(a.begin(), a.end());
  B.setFromTriplets(h.begin(), h.end());
  Vector c(n + e);
  c << p.f, -p.b;
  Solved s = solve_by_parts(A, B, c, p.name + ": the system of M and the equality rows G");
  return {SparseMatrix(B.transpose() * s.X), Vector(B.transpose() * s.y + p.w)};
}

/// λ = −R⁻¹ (Vᵀ r + s).
ReducedProblem reduce_local(const FclibProblem& p) {
  if (p.V.cols() == 0) return {p.W, p.q};
  Solved s = solve_by_parts(p.R, SparseMatrix(p.V.transpose()), p.s, p.name + ": R");
  return {SparseMatrix(p.W - SparseMatrix(p.V * s.X)), Vector(p.q - p.V * s.y)};
}

}  // namespace

ReducedProblem reduce(const FclibProblem& problem) {
  ReducedProblem out =
      problem.form == FclibProblem::Form::global ? reduce_global(problem) : reduce_local(problem);
  out.W.makeCompressed();
  if (!out.q.allFinite())
    throw InputError(problem.name +
                     ": eliminating the velocities overflows; the problem's units are out of range");
  return out;
}

}  // namespace talus
