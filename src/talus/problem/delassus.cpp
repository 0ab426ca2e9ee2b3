#include "talus/problem/delassus.hpp"

#include <fmt/format.h>

#include "talus/base/error.hpp"

namespace talus {

InverseMass::InverseMass(const Bodies& bodies)
    : mass_(bodies.size(), 0.0), spin_(bodies.size(), 0.0), tensor_(bodies.size(), Local{-1}) {
  for (Local i = 0; i < bodies.size(); ++i) {
    if (!bodies.moves_freely(i)) continue;
    mass_[i] = bodies.inverse_mass(i);
    const Vec3& I = bodies.inertia[i];
    if (I.x() == I.y() && I.y() == I.z()) {
      spin_[i] = 1.0 / I.x();
    } else {
      tensor_[i] = static_cast<Local>(tensors_.size());
      tensors_.push_back(bodies.inverse_inertia(i));
    }
  }
}

ContactOperator::ContactOperator(const Contacts& contacts, const Bodies& bodies, const Team& team, const Halo& halo)
    : contacts_(&contacts), team_(&team), halo_(&halo), owned_(bodies.owned), inverse_mass_(bodies),
      start_(bodies.size() + 1, Local{0}), scratch_(bodies.size()) {
  // counting sort of the contacts' two ends by body; ends on bodies that never move contribute nothing
  const Local n = contacts.size();
  for (Local i = 0; i < n; ++i) {
    if (inverse_mass_.moves(contacts.a[i])) ++start_[contacts.a[i] + 1];
    if (inverse_mass_.moves(contacts.b[i])) ++start_[contacts.b[i] + 1];
  }
  for (std::size_t j = 1; j < start_.size(); ++j) start_[j] += start_[j - 1];
  entry_.resize(start_.back());
  Array<Local> next(start_.begin(), start_.end() - 1);
  for (Local i = 0; i < n; ++i) {
    if (inverse_mass_.moves(contacts.a[i])) entry_[next[contacts.a[i]]++] = 2 * i;
    if (inverse_mass_.moves(contacts.b[i])) entry_[next[contacts.b[i]]++] = 2 * i + 1;
  }
}

void ContactOperator::body_velocities(const DualVector& x, BodyVector& v) const {
  const Real* gamma = x.data();
  const Vec3* arm[2] = {contacts_->arm_a.data(), contacts_->arm_b.data()};
  v.resize(start_.size() - 1);
  // momentum gathered by each body: +γ where it is body b, −γ where it is body a
  team_->for_each(static_cast<Local>(v.size()), [&](Local j) {
    Vec3 p[2] = {Vec3::Zero(), Vec3::Zero()}, l[2] = {Vec3::Zero(), Vec3::Zero()};
    for (Local e = start_[j]; e < start_[j + 1]; ++e) {
      const Local i = entry_[e] >> 1, side = entry_[e] & 1;
      const Vec3 g(gamma[3 * i], gamma[3 * i + 1], gamma[3 * i + 2]);
      p[side] += g;
      l[side] += arm[side][i].cross(g);
    }
    v[j].linear = p[1] - p[0];
    v[j].angular = l[1] - l[0];
  });
  halo_->sum_to_owner(v);
  team_->for_each(owned_, [&](Local j) { inverse_mass_.apply(j, v[j]); });
  halo_->copy_to_shadows(v);
}

void ContactOperator::contact_velocities(const BodyVector& v, DualVector& y, const DualVector* shift) const {
  const Contacts& c = *contacts_;
  Real* out = y.data();
  auto loop = [&](auto with_shift) {
    const Real* add = with_shift ? shift->data() : nullptr;
    team_->for_each(c.size(), [&](Local i) {
      Vec3 u = velocity_at(v[c.b[i]], c.arm_b[i]) - velocity_at(v[c.a[i]], c.arm_a[i]);
      if constexpr (with_shift) u += Vec3(add[3 * i], add[3 * i + 1], add[3 * i + 2]);
      out[3 * i] = u[0], out[3 * i + 1] = u[1], out[3 * i + 2] = u[2];
    });
  };
  if (shift)
    loop(std::true_type{});
  else
    loop(std::false_type{});
}

void ContactOperator::apply(const DualVector& x, DualVector& y, const DualVector* shift) const {
  body_velocities(x, scratch_);
  contact_velocities(scratch_, y, shift);
}

Mat33 ContactOperator::diagonal(Local i, Real factor_a, Real factor_b) const {
  const Contacts& c = *contacts_;
  Mat33 block = Mat33::Zero();
  auto add = [&](Local j, const Vec3& r, Real factor) {
    if (!inverse_mass_.moves(j)) return;
    Mat33 cross;  // cross·x = r × x
    cross << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
    block += factor * (inverse_mass_.mass(j) * Mat33::Identity() +
                       cross.transpose() * inverse_mass_.inertia(j) * cross);
  };
  add(c.a[i], c.arm_a[i], factor_a);
  add(c.b[i], c.arm_b[i], factor_b);
  return block;
}

NormalTangent ContactOperator::diagonal_nt(Local i, Real factor_a, Real factor_b) const {
  const Contacts& c = *contacts_;
  const Vec3& n = c.normal[i];
  Real nn = 0, trace = 0;
  auto add = [&](Local j, const Vec3& r, Real factor) {
    if (!inverse_mass_.moves(j)) return;
    const Vec3 lever = r.cross(n);
    nn += factor * (inverse_mass_.mass(j) + lever.dot(inverse_mass_.rotate(j, lever)));
    // trace of [r]ᵀ I⁻¹ [r] = tr(I⁻¹) r·r − rᵀ I⁻¹ r
    const Real tr = inverse_mass_.is_ball(j) ? 3 * inverse_mass_.spin(j) : inverse_mass_.inertia(j).trace();
    trace += factor * (3 * inverse_mass_.mass(j) + tr * r.squaredNorm() - r.dot(inverse_mass_.rotate(j, r)));
  };
  add(c.a[i], c.arm_a[i], factor_a);
  add(c.b[i], c.arm_b[i], factor_b);
  return {nn, 0.5 * (trace - nn)};
}

MatrixOperator::MatrixOperator(SparseMatrix W, const Team& team) : team_(&team) {
  if (W.rows() != W.cols())
    throw InputError(fmt::format("the contact matrix W is {} × {}; it must be square", W.rows(), W.cols()));
  W.makeCompressed();
  const SparseMatrix transposed = W.transpose();
  const SparseMatrix skew = 0.5 * (W - transposed);
  // round-off of an assembly is no asymmetry of the physics
  if (skew.norm() > 1e-13 * W.norm()) {
    symmetric_ = 0.5 * (W + transposed);
    own_ = std::move(W);
  } else {
    symmetric_ = std::move(W);
  }
  symmetric_.makeCompressed();
}

void MatrixOperator::multiply(const SparseMatrix& A, const DualVector& x, DualVector& y,
                              const DualVector* shift) const {
  const int* start = A.outerIndexPtr();
  const int* column = A.innerIndexPtr();
  const Real* value = A.valuePtr();
  team_->for_each(static_cast<Local>(A.rows()), [&](Local i) {
    Real s = shift ? (*shift)[i] : 0.0;
    for (int k = start[i]; k < start[i + 1]; ++k) s += value[k] * x[column[k]];
    y[i] = s;
  });
}

BlockMatrix MatrixOperator::diagonal(const SparseMatrix& A, Local begin, Local n) {
  BlockMatrix block = BlockMatrix::Zero(n, n);
  for (Local i = 0; i < n; ++i)
    for (SparseMatrix::InnerIterator it(A, begin + i); it; ++it)
      if (it.col() >= begin && it.col() < begin + n) block(i, it.col() - begin) = it.value();
  return block;
}

}  // namespace talus
