#include "talus/problem/sweep.hpp"

namespace talus {
namespace {

/// Contacts per piece when nobody asks for a number: large, because pieces cost sweeps.
constexpr Local contacts_per_piece = 16384;
constexpr int most_pieces = 64;

}  // namespace

Sweep::Sweep(const ConeProblem& problem, Law law, int pieces)
    : problem_(&problem), bodies_(problem.contact_operator()) {
  if (!bodies_) {
    const MatrixOperator& W = *problem.matrix_operator();
    matrix_ = law == Law::exact ? &W.own() : &W.symmetric();
    piece_begin_ = {0, problem.blocks()};
    return;
  }
  if (pieces <= 0) pieces = std::clamp<int>(problem.blocks() / contacts_per_piece, 1, most_pieces);
  plan(std::max<int>(1, std::min<Local>(pieces, problem.blocks())));
}

void Sweep::plan(int pieces) {
  const Contacts& c = bodies_->contacts();
  const InverseMass& inverse = bodies_->inverse_mass();
  const Local n = c.size(), bodies = inverse.size();
  piece_begin_.resize(pieces + 1);
  for (int p = 0; p <= pieces; ++p) piece_begin_[p] = static_cast<Local>(Global(n) * p / pieces);

  // how many pieces of all processes touch each body
  Global shadows = bodies - bodies_->owned();
  problem_->team().comm().sum(std::span<Global>(&shadows, 1));
  has_shadows_ = shadows > 0;
  std::vector<Local> local_count(bodies, 0), last_piece(bodies, -1);
  auto for_ends = [&](auto&& f) {
    for (int p = 0; p < pieces; ++p)
      for (Local i = piece_begin_[p]; i < piece_begin_[p + 1]; ++i) f(p, i, c.a[i], false), f(p, i, c.b[i], true);
  };
  for_ends([&](int p, Local, Local j, bool) {
    if (inverse.moves(j) && last_piece[j] != p) last_piece[j] = p, ++local_count[j];
  });
  multiplicity_.assign(local_count.begin(), local_count.end());
  if (has_shadows_) {
    delta_.assign(bodies, Twist{});
    for (Local j = 0; j < bodies; ++j) delta_[j].linear.x() = local_count[j];
    bodies_->halo().sum_to_owner(delta_);
    bodies_->halo().copy_to_shadows(delta_);
    for (Local j = 0; j < bodies; ++j) multiplicity_[j] = delta_[j].linear.x();
  }
  bool any_shared = false;
  for (Local j = 0; j < bodies; ++j) any_shared |= multiplicity_[j] > 1;

  // copies: the body itself, and one more per piece where it is shared
  copy_.resize(bodies);
  auto fill = [&](Copy& copy, Local j) {
    const Real k = std::max<Real>(1, multiplicity_[j]);
    copy.mass = k * inverse.mass(j);
    if (inverse.is_ball(j)) {
      copy.spin = k * inverse.spin(j);
    } else {
      copy.spin = -1 - static_cast<Real>(tensors_.size());
      tensors_.push_back(k * inverse.inertia(j));
    }
  };
  for (Local j = 0; j < bodies; ++j) fill(copy_[j], j);
  if (!any_shared) {
    multiplicity_.clear();
    return;
  }

  std::vector<Local> shared_index(bodies, -1);
  Local slots = 0;
  for (Local j = 0; j < bodies; ++j)
    if (multiplicity_[j] > 1 && local_count[j] > 0) {
      shared_index[j] = static_cast<Local>(shared_.size());
      shared_.push_back({j, slots, slots, 1 / multiplicity_[j]});
      slots += local_count[j];
    }
  shared_slot_.resize(slots);
  slot_a_.resize(n);
  slot_b_.resize(n);
  std::fill(last_piece.begin(), last_piece.end(), -1);
  for_ends([&](int p, Local i, Local j, bool is_b) {
    Local slot = j;
    if (shared_index[j] >= 0) {
      Shared& s = shared_[shared_index[j]];
      if (last_piece[j] != p) {
        last_piece[j] = p;
        shared_slot_[s.end++] = static_cast<Local>(copy_.size());
        copy_.push_back(copy_[j]);
      }
      slot = shared_slot_[s.end - 1];
    }
    (is_b ? slot_b_ : slot_a_)[i] = slot;
  });

  metric_.resize(n);
  problem_->team().for_each(n, [&](Local i) {
    const BlockMetric own = problem_->metric(i);
    const Real ka = multiplicity_[c.a[i]], kb = multiplicity_[c.b[i]];
    metric_[i] = {own.n, own.t};
    if (ka > 1 || kb > 1) {
      const NormalTangent d = bodies_->diagonal_nt(i, std::max<Real>(1, ka), std::max<Real>(1, kb));
      if (d.n > 0 && d.t > 0) metric_[i] = {1 / d.n, 1 / d.t};
    }
  });
}

BlockMatrix Sweep::diagonal(Local i) const {
  if (!bodies_) return MatrixOperator::diagonal(*matrix_, problem_->cones().begin(i), problem_->cones().rows(i));
  if (multiplicity_.empty()) return bodies_->diagonal(i);
  const Contacts& c = bodies_->contacts();
  return bodies_->diagonal(i, std::max<Real>(1, multiplicity_[c.a[i]]), std::max<Real>(1, multiplicity_[c.b[i]]));
}

void Sweep::start(const DualVector& gamma) {
  if (!bodies_) return;
  bodies_->body_velocities(gamma, old_);
  problem_->team().for_each(static_cast<Local>(old_.size()), [&](Local j) {
    copy_[j].v = old_[j].linear;
    copy_[j].w = old_[j].angular;
  });
  for (const Shared& s : shared_)
    for (Local k = s.begin; k < s.end; ++k) {
      copy_[shared_slot_[k]].v = copy_[s.body].v;
      copy_[shared_slot_[k]].w = copy_[s.body].w;
    }
}

void Sweep::merge() {
  if (has_shadows_) std::fill(delta_.begin(), delta_.end(), Twist{});
  // V + Σ (V_copy − V)/k: every impulse counted once, with the true mass
  for (const Shared& s : shared_) {
    const Copy& body = copy_[s.body];
    Vec3 v = Vec3::Zero(), w = Vec3::Zero();
    for (Local k = s.begin; k < s.end; ++k) {
      v += copy_[shared_slot_[k]].v - body.v;
      w += copy_[shared_slot_[k]].w - body.w;
    }
    if (has_shadows_) {
      delta_[s.body] = {s.share * v, s.share * w};
    } else {
      copy_[s.body].v += s.share * v;
      copy_[s.body].w += s.share * w;
    }
  }
  if (has_shadows_) {
    bodies_->halo().sum_to_owner(delta_);
    bodies_->halo().copy_to_shadows(delta_);
    for (const Shared& s : shared_) {
      copy_[s.body].v += delta_[s.body].linear;
      copy_[s.body].w += delta_[s.body].angular;
    }
  }
  for (const Shared& s : shared_)
    for (Local k = s.begin; k < s.end; ++k) {
      copy_[shared_slot_[k]].v = copy_[s.body].v;
      copy_[shared_slot_[k]].w = copy_[s.body].w;
    }
}

void Sweep::velocity(const DualVector& gamma, DualVector& u) const {
  if (!bodies_) {
    if (matrix_ == &problem_->matrix_operator()->own())
      problem_->velocity(gamma, u);
    else
      problem_->gradient(gamma, u);
    return;
  }
  const Contacts& c = bodies_->contacts();
  const Real* r = problem_->r().data();
  Real* out = u.data();
  problem_->team().for_each(c.size(), [&](Local i) {
    const Copy &a = copy_[c.a[i]], &b = copy_[c.b[i]];
    const Vec3 v = Vec3(r[3 * i], r[3 * i + 1], r[3 * i + 2]) + (b.v + b.w.cross(c.arm_b[i])) -
                   (a.v + a.w.cross(c.arm_a[i]));
    out[3 * i] = v[0], out[3 * i + 1] = v[1], out[3 * i + 2] = v[2];
  });
}

void Sweep::extrapolate(Real beta) {
  if (!bodies_) return;
  problem_->team().for_each(static_cast<Local>(old_.size()), [&](Local j) {
    Copy& now = copy_[j];
    const Twist before = old_[j];
    old_[j] = {now.v, now.w};
    now.v += beta * (now.v - before.linear);
    now.w += beta * (now.w - before.angular);
  });
  for (const Shared& s : shared_)
    for (Local k = s.begin; k < s.end; ++k) {
      copy_[shared_slot_[k]].v = copy_[s.body].v;
      copy_[shared_slot_[k]].w = copy_[s.body].w;
    }
}

}  // namespace talus
