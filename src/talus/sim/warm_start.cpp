#include "talus/sim/warm_start.hpp"

#include <algorithm>
#include <map>

#include "talus/domain/records.hpp"

namespace talus {
namespace {

constexpr int image_bit = 27;  // features stay far below: 27 images fit above

WarmStart::Key key_of(const Contacts& contacts, const Bodies& bodies, const ContactRule& rule, Local i) {
  Local low = contacts.a[i], high = contacts.b[i];
  if (bodies.id[low] > bodies.id[high]) std::swap(low, high);
  const auto image = low < bodies.owned && high < bodies.owned ? 0u : static_cast<std::uint32_t>(rule.relative_image(low, high));
  return {bodies.id[low], bodies.id[high], contacts.feature[i] | image << image_bit};
}

/// Impulses are kept on the body with the higher id; +1 when that is b, −1 when it is a.
Real sign_of(const Contacts& contacts, const Bodies& bodies, Local i) {
  return bodies.id[contacts.a[i]] < bodies.id[contacts.b[i]] ? 1.0 : -1.0;
}

}  // namespace

Global guess_impulses(const WarmStart& last, const Contacts& contacts, const Bodies& bodies, Real h, const Team& team,
                      std::span<Real> impulse, std::span<Real> slip, const ContactRule& rule) {
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
    const WarmStart::Key key = key_of(contacts, bodies, rule, i);
    Local low = bodies.id[contacts.a[i]] == key.low ? contacts.a[i] : contacts.b[i];
    if (low >= bodies.owned) low = index.find(key.low);  // of several images one stands for all
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
                   const Team& team, std::span<const Real> impulse, WarmStart& kept, const ContactRule& rule) {
  const Local n = contacts.size();
  kept.key.resize(n);
  kept.impulse.resize(n);
  kept.slip.resize(n);
  team.for_each(n, [&](Local i) {
    const Vec3 gamma(impulse[3 * i], impulse[3 * i + 1], impulse[3 * i + 2]);
    const Vec3 u = velocity_at(new_velocity[contacts.b[i]], contacts.arm_b[i]) -
                   velocity_at(new_velocity[contacts.a[i]], contacts.arm_a[i]);
    kept.key[i] = key_of(contacts, bodies, rule, i);
    kept.impulse[i] = sign_of(contacts, bodies, i) / h * gamma;
    kept.slip[i] = (u - u.dot(contacts.normal[i]) * contacts.normal[i]).norm();
  });
}

void share_impulses(WarmStart& kept, const Bodies& bodies, const Domain& domain, const Team& team) {
  const Comm& comm = team.comm();
  if (comm.size() == 1) return;
  struct Item {
    WarmStart::Key key;
    Vec3 impulse;
    Real slip;
  };
  IdMap index;
  index.build(bodies.id);
  std::map<int, std::vector<std::byte>> letters;
  std::size_t staying = 0;
  for (std::size_t k = 0; k < kept.key.size(); ++k) {
    const WarmStart::Key& key = kept.key[k];
    const Local low = index.find(key.low), high = index.find(key.high);
    // Where the contact will be treated, if it persists: known when both bodies are here, else one of few ranks.
    std::vector<int> to;
    if (low >= 0 && high >= 0) {
      to = {domain.treating_rank(low, high, static_cast<int>(key.feature >> image_bit))};
    } else if (low >= 0 || high >= 0) {
      const Local here = low >= 0 ? low : high;
      to = {domain.owner(here)};
      for (const Instance& instance : domain.instances(here)) to.push_back(instance.rank);
    } else {
      to = {domain.new_owner(key.low), domain.new_owner(key.high)};
    }
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    bool stays = false;
    for (const int rank : to) {
      if (rank < 0) continue;
      if (rank == comm.rank())
        stays = true;
      else
        Writer(letters[rank]).put(Item{key, kept.impulse[k], kept.slip[k]});
    }
    if (!stays) continue;
    kept.key[staying] = key;
    kept.impulse[staying] = kept.impulse[k];
    kept.slip[staying] = kept.slip[k];
    ++staying;
  }
  kept.key.resize(staying);
  kept.impulse.resize(staying);
  kept.slip.resize(staying);
  std::vector<Message> messages;
  for (auto& [rank, data] : letters) messages.push_back({rank, std::move(data)});
  for (const Message& message : comm.exchange(std::move(messages))) {
    Reader in(message.data);
    while (!in.at_end()) {
      const auto item = in.get<Item>();
      kept.key.push_back(item.key);
      kept.impulse.push_back(item.impulse);
      kept.slip.push_back(item.slip);
    }
  }
}

}  // namespace talus
