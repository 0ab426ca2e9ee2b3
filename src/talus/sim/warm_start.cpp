#include "talus/sim/warm_start.hpp"

namespace talus {
namespace {

WarmStart::Key key_of(const Contacts& contacts, const Bodies& bodies, Local i) {
  const Global a = bodies.id[contacts.a[i]], b = bodies.id[contacts.b[i]];
  return {std::min(a, b), std::max(a, b), contacts.feature[i]};
}

/// Impulses are kept on the body with the higher id; +1 when that is b, −1 when it is a.
Real sign_of(const Contacts& contacts, const Bodies& bodies, Local i) {
  return bodies.id[contacts.a[i]] < bodies.id[contacts.b[i]] ? 1.0 : -1.0;
}

}  // namespace

Global guess_impulses(const WarmStart& last, const Contacts& contacts, const Bodies& bodies, Real h, const Team& team,
                      std::span<Real> impulse, std::span<Real> slip) {
  // Group what is known by the body with the lower id: group of body i = known[first[i] .. first[i+1]).
  IdMap index;
  index.build(bodies.id);
  const Local n = static_cast<Local>(last.key.size());
  Array<Local> first(bodies.size() + 1, 0), known(n), body(n);
  for (Local k = 0; k < n; ++k) {
    body[k] = index.find(last.key[k].low);
    if (body[k] >= 0) ++first[body[k] + 1];
  }
  for (Local i = 0; i < bodies.size(); ++i) first[i + 1] += first[i];
  Array<Local> next(first.begin(), first.end() - 1);
  for (Local k = 0; k < n; ++k)
    if (body[k] >= 0) known[next[body[k]]++] = k;

  const auto found = team.sum_local<1>(contacts.size(), [&](Local i, auto& count) {
    const WarmStart::Key key = key_of(contacts, bodies, i);
    const Local low = bodies.id[contacts.a[i]] == key.low ? contacts.a[i] : contacts.b[i];
    Vec3 guess = Vec3::Zero();
    slip[i] = 0;
    for (Local g = first[low]; g < first[low + 1]; ++g)
      if (last.key[known[g]] == key) {
        guess = sign_of(contacts, bodies, i) * h * last.impulse[known[g]];
        slip[i] = last.slip[known[g]];
        count[0] += 1;
        break;
      }
    for (int c = 0; c < 3; ++c) impulse[3 * i + c] = guess[c];
  });
  return static_cast<Global>(found[0]);
}

void keep_impulses(const Contacts& contacts, const Bodies& bodies, const Array<Twist>& new_velocity, Real h,
                   const Team& team, std::span<const Real> impulse, WarmStart& kept) {
  const Local n = contacts.size();
  kept.key.resize(n);
  kept.impulse.resize(n);
  kept.slip.resize(n);
  team.for_each(n, [&](Local i) {
    const Vec3 gamma(impulse[3 * i], impulse[3 * i + 1], impulse[3 * i + 2]);
    const Vec3 u = velocity_at(new_velocity[contacts.b[i]], contacts.arm_b[i]) -
                   velocity_at(new_velocity[contacts.a[i]], contacts.arm_a[i]);
    kept.key[i] = key_of(contacts, bodies, i);
    kept.impulse[i] = sign_of(contacts, bodies, i) / h * gamma;
    kept.slip[i] = (u - u.dot(contacts.normal[i]) * contacts.normal[i]).norm();
  });
}

}  // namespace talus
