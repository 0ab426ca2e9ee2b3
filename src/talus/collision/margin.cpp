#include "talus/collision/margin.hpp"

#include <atomic>
#include <cmath>

namespace talus {
namespace {

/// A maximum does not depend on the order in which it is taken: threads may raise the same entry.
void raise(Real& entry, Real value) {
  std::atomic_ref<Real> shared(entry);
  Real seen = shared.load(std::memory_order_relaxed);
  while (seen < value && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

/// The share of body i's velocity that changes in a plastic collision with j.
Real plastic_share(const Bodies& b, Local i, Local j) {
  if (!b.moves_freely(i)) return 0;
  return b.moves_freely(j) ? b.mass[j] / (b.mass[i] + b.mass[j]) : 1.0;
}

}  // namespace

void Margins::prepare(const Bodies& bodies, const std::vector<Shape>& shapes, const Array<Twist>& velocity,
                      Real h, Real fixed_margin, const Team& team) {
  radius_ = bodies.radius.data();
  shape_ = bodies.shape.data();
  core_of_shape_.clear();
  for (const Shape& s : shapes)
    core_of_shape_.push_back(s.kind == ShapeKind::sphere ? 0.0 : inscribed_radius(s, 0));
  h_ = h;
  fixed_ = fixed_margin;
  largest_ = 0;
  if (fixed_ > 0) return;

  // |v_j − v_i| ≤ 2 max |v − v̄| for any v̄; the mean keeps it small for a cloud that moves as a whole
  const auto sums = team.sum<4>(bodies.owned, [&](Local i, auto& s) {
    if (!bodies.moves_freely(i)) return;
    for (int k = 0; k < 3; ++k) s[k] += velocity[i].linear[k];
    s[3] += 1;
  });
  const Vec3 mean = sums[3] > 0 ? Vec3(Vec3(sums[0], sums[1], sums[2]) / sums[3]) : Vec3(Vec3::Zero());
  std::vector<Local> turning;  // walls that turn move fastest at the farthest body
  for (Local i = 0; i < bodies.size(); ++i)
    if (std::isinf(radius_[i]) && !velocity[i].angular.isZero(0)) turning.push_back(i);
  const auto top = team.max<2>(bodies.size(), [&](Local i, auto& m) {
    m[0] = std::max(m[0], (velocity[i].linear - mean).norm() + spin(i, velocity));
    for (Local w : turning)
      m[0] =
          std::max(m[0], (velocity_at(velocity[w], bodies.position[i] - bodies.position[w]) - mean).norm());
    if (bodies.moves_freely(i))
      m[1] = std::max(m[1], (velocity[i].linear - bodies.velocity[i].linear).norm());
  });
  largest_ = 2 * h * (2 * top[0] + top[1]);
}

Real Margins::relative_speed(const Bodies& bodies, const Array<Twist>& velocity, Local a, Local b) const {
  Vec3 relative = velocity[b].linear - velocity[a].linear;
  // a turning wall moves where the body is
  if (std::isinf(radius_[a])) relative -= velocity[a].angular.cross(bodies.position[b] - bodies.position[a]);
  if (std::isinf(radius_[b])) relative += velocity[b].angular.cross(bodies.position[a] - bodies.position[b]);
  return relative.norm() + spin(a, velocity) + spin(b, velocity);
}

void Margins::expect(Local a, Local b, Real speed) {
  raise(agitation_[a], speed);
  raise(agitation_[b], speed);
}

void Margins::agitate(const Bodies& bodies, const Array<Twist>& velocity, const Pairs& near, const Halo& halo,
                      const Team& team) {
  if (fixed_ > 0) return;
  const Local n = bodies.size();
  const auto for_pairs = [&](auto&& f) {
    team.for_pieces(near.runs(), [&](int run) {
      for (std::size_t k = near.begin(run); k < near.end(run); ++k) f(pair_a(near[k]), pair_b(near[k]));
    });
  };

  // the plastic collision with each near body
  agitation_.resize(n);
  team.for_each(n, [&](Local i) { agitation_[i] = 0; });
  for_pairs([&](Local a, Local b) {
    const Real speed = relative_speed(bodies, velocity, a, b);
    raise(agitation_[a], plastic_share(bodies, a, b) * speed);
    raise(agitation_[b], plastic_share(bodies, b, a) * speed);
  });
  // plus gravity's part; is any body agitated by more than that, and enough to matter?
  const auto lively = team.max<1>(n, [&](Local i, auto& m) {
    if (!bodies.moves_freely(i)) return;
    const Real own = (velocity[i].linear - bodies.velocity[i].linear).norm();
    agitation_[i] += own + spin(i, velocity);
    if (agitation_[i] > 3 * own && 2 * h_ * agitation_[i] > least * core(i)) m[0] = 1;
  });
  const auto share_with_shadows = [&](Array<Real>& field) {
    if (&halo == &plain_halo()) return;
    exchanged_.resize(n);
    team.for_each(n, [&](Local i) { exchanged_[i].linear.x() = field[i]; });
    halo.max_to_owner(exchanged_);  // a near body may be seen by another rank only
    halo.copy_to_shadows(exchanged_);
    team.for_each(n, [&](Local i) { field[i] = exchanged_[i].linear.x(); });
  };
  share_with_shadows(agitation_);
  if (lively[0] == 0) return;

  // pass it on from neighbour to neighbour
  for (int k = 0; k < rounds; ++k) {
    next_.assign(agitation_.begin(), agitation_.end());
    for_pairs([&](Local a, Local b) {
      raise(next_[a], std::min(1.0, 2 * plastic_share(bodies, a, b)) * agitation_[b]);
      raise(next_[b], std::min(1.0, 2 * plastic_share(bodies, b, a)) * agitation_[a]);
    });
    share_with_shadows(next_);
    agitation_.swap(next_);
  }
}

}  // namespace talus
