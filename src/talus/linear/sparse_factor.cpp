#include "talus/linear/sparse_factor.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

namespace talus {

struct SparseFactor::Impl {
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<Real>> cholesky;
  Eigen::SparseLU<Eigen::SparseMatrix<Real>> lu;
  bool symmetric = true, analyzed = false;
};

SparseFactor::SparseFactor() : impl_(std::make_unique<Impl>()) {}
SparseFactor::~SparseFactor() = default;
SparseFactor::SparseFactor(SparseFactor&&) noexcept = default;
SparseFactor& SparseFactor::operator=(SparseFactor&&) noexcept = default;

bool SparseFactor::factor(const Eigen::SparseMatrix<Real>& A, bool symmetric) {
  if (!impl_->analyzed || impl_->symmetric != symmetric) {
    impl_->symmetric = symmetric;
    impl_->analyzed = true;
    if (symmetric)
      impl_->cholesky.analyzePattern(A);
    else
      impl_->lu.analyzePattern(A);
  }
  if (symmetric) {
    impl_->cholesky.factorize(A);
    return impl_->cholesky.info() == Eigen::Success;
  }
  impl_->lu.factorize(A);
  return impl_->lu.info() == Eigen::Success;
}

Eigen::VectorXd SparseFactor::solve(const Eigen::VectorXd& b) const {
  return impl_->symmetric ? Eigen::VectorXd(impl_->cholesky.solve(b)) : Eigen::VectorXd(impl_->lu.solve(b));
}

}  // namespace talus
