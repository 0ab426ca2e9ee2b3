#include "talus/problem/cone_problem.hpp"

#include <fmt/format.h>

#include "talus/base/error.hpp"

namespace talus {

ConeProblem ConeProblem::from_contacts(const Contacts& contacts, const Bodies& bodies,
                                       const BodyVector& free_velocity, const GapRule& rule,
                                       const ProblemScales& scales, const Team& team, const Halo& halo) {
  ConeProblem p;
  p.team_ = &team;
  p.scales_ = scales;
  p.free_velocity_ = &free_velocity;
  p.N_ = std::make_shared<const std::variant<ContactOperator, MatrixOperator>>(
      std::in_place_type<ContactOperator>, contacts, bodies, team, halo);
  p.K_ = Cones::coulomb(contacts.normal, contacts.friction);

  // r = n·max(φ/h, −recovery) + Dᵀ v_free
  p.r_ = p.zero();
  p.contact_operator()->contact_velocities(free_velocity, p.r_);
  team.for_each(contacts.size(), [&](Local i) {
    Real recovery = rule.recovery_speed;
    if (recovery < 0) {
      const Real radius = std::min(bodies.radius[contacts.a[i]], bodies.radius[contacts.b[i]]);
      recovery = rule.gravity > 0 ? 0.1 * std::sqrt(rule.gravity * radius) : scales.speed;
    }
    const Vec3 bias = std::max(contacts.gap[i] / rule.h, -recovery) * contacts.normal[i];
    for (int k = 0; k < 3; ++k) p.r_[3 * i + k] += bias[k];
  });
  p.finish();
  return p;
}

ConeProblem ConeProblem::from_matrix(SparseMatrix W, std::span<const Real> q, Cones cones,
                                     const ProblemScales& scales, const Team& team) {
  if (W.rows() != cones.rows() || static_cast<Local>(q.size()) != cones.rows())
    throw InputError(fmt::format("the contact matrix has {} rows and q has {}; the cones need {}", W.rows(), q.size(),
                                 cones.rows()));
  ConeProblem p;
  p.team_ = &team;
  p.scales_ = scales;
  p.N_ = std::make_shared<const std::variant<ContactOperator, MatrixOperator>>(std::in_place_type<MatrixOperator>,
                                                                              std::move(W), team);
  p.K_ = std::move(cones);
  p.r_ = p.zero();
  std::copy(q.begin(), q.end(), p.r_.values().begin());
  p.finish();
  return p;
}

void ConeProblem::finish() {
  Global count[2] = {K_.blocks(), K_.rows()};
  team_->comm().sum(std::span<Global>(count, 2));
  contacts_ = count[0], dim_ = count[1];

  // P = 1/diag(N). A block that no impulse can move (N_ii = 0) borrows the mean of the others.
  std::vector<BlockMetric> any;
  auto P = std::make_shared<Array<NormalTangent>>(K_.uniform() ? K_.blocks() : 0);
  if (K_.uniform()) {
    team_->for_each(K_.blocks(), [&](Local i) {
      if (const ContactOperator* N = contact_operator()) {
        (*P)[i] = N->diagonal_nt(i);
      } else {
        const BlockMatrix block = diagonal(i);
        const Vec3& n = K_.normal()[i];
        const Real nn = n.dot(block * n);
        (*P)[i] = {nn, 0.5 * (block.trace() - nn)};
      }
    });
  } else {
    any.resize(K_.blocks());
    for (Local i = 0; i < K_.blocks(); ++i) {
      const BlockMatrix block = diagonal(i);
      if (K_.kind(i) == ConeKind::coulomb) {
        const Vec3 n = K_.any_block(i).cone.normal;
        const Real nn = n.dot(block * n);
        any[i] = {nn, 0.5 * (block.trace() - nn), 1};
      } else {
        any[i].n = block(0, 0);
        any[i].t = K_.kind(i) == ConeKind::planar ? block(1, 1) : any[i].n;
        if (K_.kind(i) == ConeKind::rolling) {
          any[i].t = 0.5 * (block(1, 1) + block(2, 2));
          any[i].r = 0.5 * (block(3, 3) + block(4, 4));
        }
      }
    }
  }
  const auto [sum, positive] = team_->sum<2>(K_.blocks(), [&](Local i, auto& s) {
    const Real nn = K_.uniform() ? (*P)[i].n : any[i].n;
    if (nn > 0) s[0] += nn, s[1] += 1;
  });
  const Real mean = positive > 0 ? sum / positive : 1.0;
  auto invert = [mean](Real d, Real fallback) { return 1.0 / (d > 1e-12 * fallback ? d : fallback > 0 ? fallback : mean); };
  team_->for_each(K_.blocks(), [&](Local i) {
    if (K_.uniform()) {
      NormalTangent& m = (*P)[i];
      m = {invert(m.n, m.t), invert(m.t, m.n)};
    } else {
      BlockMetric& m = any[i];
      m = {invert(m.n, m.t), invert(m.t, m.n), invert(m.r, m.n)};
    }
  });
  metric_ = std::move(P);
  any_metric_ = std::make_shared<const std::vector<BlockMetric>>(std::move(any));
}

ConeProblem ConeProblem::with_r(DualVector r) const {
  ConeProblem p;
  p.N_ = N_;
  p.r_ = std::move(r);
  p.K_ = K_;
  p.scales_ = scales_;
  p.team_ = team_;
  p.free_velocity_ = free_velocity_;
  p.contacts_ = contacts_;
  p.dim_ = dim_;
  p.metric_ = metric_;
  p.any_metric_ = any_metric_;
  return p;
}

ConeProblem ConeProblem::with_normal_shift(std::span<const Real> s) const {
  DualVector r = r_;
  team_->for_ranges(blocks(), [&](Local begin, Local end) {
    K_.visit(begin, end, [&](const auto& block, Local i, Local row) { block.shift(r.data() + row, s[i]); });
  });
  return with_r(std::move(r));
}

ConeProblem ConeProblem::with_cones(Cones cones) const {
  ConeProblem p = with_r(r_);
  p.K_ = std::move(cones);
  return p;
}

void ConeProblem::apply(const DualVector& x, DualVector& Nx) const {
  std::visit([&](const auto& N) { N.apply(x, Nx); }, *N_);
}

void ConeProblem::gradient(const DualVector& x, DualVector& g) const {
  std::visit([&](const auto& N) { N.apply(x, g, &r_); }, *N_);
}

void ConeProblem::velocity(const DualVector& gamma, DualVector& u) const {
  if (const MatrixOperator* W = matrix_operator())
    W->apply_own(gamma, u, &r_);
  else
    gradient(gamma, u);
}

bool ConeProblem::symmetric() const {
  const MatrixOperator* W = matrix_operator();
  return !W || W->is_symmetric();
}

BlockMatrix ConeProblem::diagonal(Local i, bool own) const {
  if (const ContactOperator* N = contact_operator()) return N->diagonal(i);
  const MatrixOperator& W = *matrix_operator();
  return MatrixOperator::diagonal(own ? W.own() : W.symmetric(), K_.begin(i), K_.rows(i));
}

void ConeProblem::project(DualVector& gamma) const {
  team_->for_ranges(blocks(), [&](Local begin, Local end) {
    K_.visit(begin, end, [&](const auto& block, Local, Local row) {
      block.project(gamma.data() + row, gamma.data() + row);
    });
  });
}

Real ConeProblem::objective(const DualVector& gamma, const DualVector& N_gamma) const {
  return dot(gamma, 0.5 * N_gamma + r_);
}

void ConeProblem::body_velocities(const DualVector& gamma, BodyVector& v) const {
  const ContactOperator* N = contact_operator();
  N->body_velocities(gamma, v);
  const BodyVector& free = *free_velocity_;
  team_->for_each(static_cast<Local>(v.size()), [&](Local j) {
    v[j].linear += free[j].linear;
    v[j].angular += free[j].angular;
  });
}

void ConeProblem::slip(const BodyVector& v, std::span<Real> slip) const {
  const Contacts& c = contact_operator()->contacts();
  team_->for_each(c.size(), [&](Local i) {
    const Vec3 u = velocity_at(v[c.b[i]], c.arm_b[i]) - velocity_at(v[c.a[i]], c.arm_a[i]);
    slip[i] = std::sqrt((u - c.normal[i].dot(u) * c.normal[i]).squaredNorm());
  });
}

}  // namespace talus
