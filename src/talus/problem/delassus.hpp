// The operator N = Dᵀ M⁻¹ D of the contact problem, in its two implementations.
//
//   ContactOperator  matrix-free over bodies: gather Dγ per body, M⁻¹, gather Dᵀv per contact. Both halves are
//                    gathers, so no atomics and the same bits for any number of threads; shadow copies agree
//                    between the halves.
//   MatrixOperator   an explicit sparse W (problem files, tests). W may be unsymmetric there: N is its symmetric
//                    part, W itself belongs to the exact law (ConeProblem::velocity).
#pragma once
#include <Eigen/SparseCore>
#include <memory>

#include "talus/algebra/dual_vector.hpp"
#include "talus/algebra/halo.hpp"
#include "talus/bodies/bodies.hpp"
#include "talus/collision/contacts.hpp"
#include "talus/problem/cones.hpp"

namespace talus {

using SparseMatrix = Eigen::SparseMatrix<Real, Eigen::RowMajor, int>;

/// A diagonal block of N: at most 5 × 5 now, 6 × 6 with spinning.
using BlockMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;

/// M⁻¹ of every body, in world axes; zero for bodies that do not move freely. A ball needs two numbers.
class InverseMass {
 public:
  explicit InverseMass(const Bodies& bodies);

  Local size() const { return static_cast<Local>(mass_.size()); }
  bool moves(Local i) const { return mass_[i] > 0; }
  Real mass(Local i) const { return mass_[i]; }  ///< 1/m
  /// I⁻¹ times an angular momentum.
  Vec3 rotate(Local i, const Vec3& moment) const {
    return tensor_[i] < 0 ? Vec3(spin_[i] * moment) : Vec3(tensors_[tensor_[i]] * moment);
  }
  Mat33 inertia(Local i) const {
    return tensor_[i] < 0 ? Mat33(spin_[i] * Mat33::Identity()) : tensors_[tensor_[i]];
  }
  bool is_ball(Local i) const { return tensor_[i] < 0; }
  Real spin(Local i) const { return spin_[i]; }  ///< 1/I of a ball
  void apply(Local i, Twist& t) const {
    t.linear *= mass_[i];
    t.angular = rotate(i, t.angular);
  }

 private:
  Array<Real> mass_, spin_;
  Array<Local> tensor_;    ///< index into tensors_, −1 where the inertia is a multiple of the identity
  Array<Mat33> tensors_;
};

class ContactOperator {
 public:
  /// Contacts and halo outlive the operator.
  ContactOperator(const Contacts& contacts, const Bodies& bodies, const Team& team, const Halo& halo);

  Local rows() const { return 3 * contacts_->size(); }
  /// y = N x (+ shift)
  void apply(const DualVector& x, DualVector& y, const DualVector* shift = nullptr) const;
  /// v = M⁻¹ D x, valid on owned bodies and shadow copies
  void body_velocities(const DualVector& x, BodyVector& v) const;
  /// y = Dᵀ v (+ shift)
  void contact_velocities(const BodyVector& v, DualVector& y, const DualVector* shift = nullptr) const;
  /// N_ii, and its normal entry and mean tangential entry without forming it.
  /// With factors: as if the inverse masses of the two bodies were that many times larger (sweep.hpp).
  Mat33 diagonal(Local i, Real factor_a = 1, Real factor_b = 1) const;
  NormalTangent diagonal_nt(Local i, Real factor_a = 1, Real factor_b = 1) const;

  const Contacts& contacts() const { return *contacts_; }
  const InverseMass& inverse_mass() const { return inverse_mass_; }
  const Halo& halo() const { return *halo_; }
  const Team& team() const { return *team_; }
  Local owned() const { return owned_; }

 private:
  const Contacts* contacts_;
  const Team* team_;
  const Halo* halo_;
  Local owned_;                    ///< bodies of this process
  InverseMass inverse_mass_;
  // contacts of each moving body, ascending: entries [start[j], start[j+1]) are 2·contact + (0: body a, 1: body b)
  Array<Local> start_, entry_;
  mutable BodyVector scratch_;     ///< body velocities inside apply
};

class MatrixOperator {
 public:
  /// W is square with as many rows as the cones; not necessarily symmetric.
  MatrixOperator(SparseMatrix W, const Team& team);

  Local rows() const { return static_cast<Local>(symmetric_.rows()); }
  void apply(const DualVector& x, DualVector& y, const DualVector* shift = nullptr) const {
    multiply(symmetric_, x, y, shift);
  }
  bool is_symmetric() const { return own_.nonZeros() == 0; }
  const SparseMatrix& symmetric() const { return symmetric_; }              ///< N = (W + Wᵀ)/2
  const SparseMatrix& own() const { return is_symmetric() ? symmetric_ : own_; }  ///< W as given
  void apply_own(const DualVector& x, DualVector& y, const DualVector* shift = nullptr) const {
    multiply(own(), x, y, shift);
  }
  /// Rows and columns [begin, begin + n) of N (or of W).
  static BlockMatrix diagonal(const SparseMatrix& A, Local begin, Local n);

 private:
  void multiply(const SparseMatrix& A, const DualVector& x, DualVector& y, const DualVector* shift) const;
  const Team* team_;
  SparseMatrix symmetric_, own_;
};

}  // namespace talus
