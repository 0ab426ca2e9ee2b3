// A direct factorisation of a sparse matrix: Cholesky (LDLᵀ) of symmetric positive definite ones, LU of others. The
// symbolic part is kept while the pattern stays the same.
#pragma once
#include <Eigen/SparseCore>
#include <memory>

#include "talus/base/types.hpp"

namespace talus {

class SparseFactor {
 public:
  SparseFactor();
  ~SparseFactor();
  SparseFactor(SparseFactor&&) noexcept;
  SparseFactor& operator=(SparseFactor&&) noexcept;

  /// False when the matrix is numerically singular. The pattern must be that of the first call.
  bool factor(const Eigen::SparseMatrix<Real>& A, bool symmetric);
  Eigen::VectorXd solve(const Eigen::VectorXd& b) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace talus
