// Sweep: the verb of Gauss-Seidel methods. Contacts are visited one after the other; each sees the velocities that
// the impulses changed so far have made, and a law gives its new impulse:
//
//     Sweep sweep(problem, Law::relaxed);
//     sweep.start(γ);                                                       // body velocities M⁻¹Dγ
//     sweep.forward(γ, [&](const auto& block, Local i, const auto& γ_i, const auto& u_i) { return new γ_i; });
//     sweep.velocity(γ, u);                                                 // u = Wγ + r of all contacts
//
// Threads work on fixed pieces of the contacts: inside a piece Gauss-Seidel, across pieces Jacobi. A body that is
// touched by k pieces (of this or another process) enters each with mass m/k: without that, light shared bodies cycle
// and accelerated sweeps diverge. After a sweep its velocity is the mean of its copies, which is the exact sum of all
// impulses over the true mass. The number of pieces follows from the number of contacts alone, never from the number
// of threads. Problems with an explicit matrix have no bodies to split and are swept as one piece.
#pragma once
#include "talus/problem/cone_problem.hpp"

namespace talus {

class Sweep {
 public:
  /// The exact law sweeps over the problem's own W, the relaxed one over its symmetric part. `pieces` = 0: chosen
  /// from the number of contacts.
  Sweep(const ConeProblem& problem, Law law, int pieces = 0);

  void start(const DualVector& gamma);
  template <class F>
  void forward(DualVector& gamma, F&& law) {
    run(gamma, law, std::true_type{});
  }
  template <class F>
  void backward(DualVector& gamma, F&& law) {
    run(gamma, law, std::false_type{});
  }
  /// u = Wγ + r for the γ of the last sweep.
  void velocity(const DualVector& gamma, DualVector& u) const;

  /// Body velocities follow γ ← γ + β(γ − γ_old), where γ_old is that of the last call of extrapolate (or start).
  void extrapolate(Real beta);

  /// 1/diag of the one-contact problem a sweep sees (with split masses).
  BlockMetric metric(Local i) const {
    if (metric_.empty()) return problem_->metric(i);
    return {metric_[i].n, metric_[i].t, 1.0};
  }
  /// The one-contact matrix a sweep sees.
  BlockMatrix diagonal(Local i) const;
  int pieces() const { return static_cast<int>(piece_begin_.size()) - 1; }

 private:
  /// What a visit to a contact reads and writes of a body: one cache line.
  struct alignas(64) Copy {
    Vec3 v = Vec3::Zero(), w = Vec3::Zero();
    Real mass = 0;  ///< inverse, times the number of copies
    Real spin = 0;  ///< inverse moment of inertia of a ball, likewise; negative: −1 − index into tensors_
  };
  static_assert(sizeof(Copy) == 64);

  void plan(int pieces);
  void merge();
  void push(Copy& body, const Vec3& arm, const Vec3& impulse, Real sign) const {
    if (body.mass == 0) return;  // fixed: never written, so that pieces may share it
    body.v += (sign * body.mass) * impulse;
    const Vec3 moment = arm.cross(impulse);
    if (body.spin >= 0)
      body.w += (sign * body.spin) * moment;
    else
      body.w += sign * (tensors_[static_cast<std::size_t>(-1 - body.spin)] * moment);
  }
  template <class F, bool Forward>
  void run(DualVector& gamma, F&& law, std::bool_constant<Forward> direction);
  template <class F>
  void visit_contact(Local i, Real* gamma, F&& law);
  template <class F>
  void visit_row_block(Local i, DualVector& gamma, F&& law) const;

  const ConeProblem* problem_;
  const ContactOperator* bodies_;           ///< null for explicit problems
  const SparseMatrix* matrix_ = nullptr;
  std::vector<Local> piece_begin_;          ///< first contact of each piece, and the end
  Array<Copy> copy_;                        ///< bodies first, then the copies of shared ones
  Array<Local> slot_a_, slot_b_;            ///< per contact; empty when there is one piece and no shadow
  std::vector<Mat33> tensors_;
  // shared bodies: body j has copies slot_[first[k]] …, in the order of the pieces
  struct Shared {
    Local body, begin, end;
    Real share;                             ///< 1/k over all processes
  };
  std::vector<Shared> shared_;
  std::vector<Local> shared_slot_;
  std::vector<Real> multiplicity_;          ///< per body; empty without sharing
  bool has_shadows_ = false;
  BodyVector delta_;                        ///< sum over processes, only with shadows
  BodyVector old_;                          ///< for extrapolate
  Array<NormalTangent> metric_;             ///< with split masses; empty: the problem's own
};

// ---- templates --------------------------------------------------------------------------------------------

template <class F>
void Sweep::visit_contact(Local i, Real* gamma, F&& law) {
  const Contacts& c = bodies_->contacts();
  Copy& a = copy_[slot_a_.empty() ? c.a[i] : slot_a_[i]];
  Copy& b = copy_[slot_b_.empty() ? c.b[i] : slot_b_[i]];
  const Real* r = problem_->r().data() + 3 * i;
  Real* g = gamma + 3 * i;
  const Vec3 old(g[0], g[1], g[2]);
  const Vec3 u = Vec3(r[0], r[1], r[2]) + (b.v + b.w.cross(c.arm_b[i])) - (a.v + a.w.cross(c.arm_a[i]));
  const Vec3 now = law(problem_->cones().coulomb_block(i), i, old, u);
  g[0] = now[0], g[1] = now[1], g[2] = now[2];
  const Vec3 change = now - old;
  push(a, c.arm_a[i], change, -1.0);
  push(b, c.arm_b[i], change, 1.0);
}

template <class F>
void Sweep::visit_row_block(Local i, DualVector& gamma, F&& law) const {
  problem_->cones().at(i, [&](const auto& block, Local row) {
    typename std::decay_t<decltype(block)>::Vector x(block.rows), u(block.rows);
    const int* start = matrix_->outerIndexPtr();
    const int* column = matrix_->innerIndexPtr();
    const Real* value = matrix_->valuePtr();
    for (Local k = 0; k < block.rows; ++k) {
      Real s = problem_->r()[row + k];
      for (int e = start[row + k]; e < start[row + k + 1]; ++e) s += value[e] * gamma[column[e]];
      x[k] = gamma[row + k];
      u[k] = s;
    }
    x = law(block, i, x, u);
    for (Local k = 0; k < block.rows; ++k) gamma[row + k] = x[k];
  });
}

template <class F, bool Forward>
void Sweep::run(DualVector& gamma, F&& law, std::bool_constant<Forward>) {
  if (!bodies_) {
    const Local n = problem_->blocks();
    for (Local k = 0; k < n; ++k) visit_row_block(Forward ? k : n - 1 - k, gamma, law);
    return;
  }
  problem_->team().for_pieces(pieces(), [&](int p) {
    const Local begin = piece_begin_[p], end = piece_begin_[p + 1];
    if constexpr (Forward)
      for (Local i = begin; i < end; ++i) visit_contact(i, gamma.data(), law);
    else
      for (Local i = end; i-- > begin;) visit_contact(i, gamma.data(), law);
  });
  merge();
}

}  // namespace talus
