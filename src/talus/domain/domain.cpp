#include "talus/domain/domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "talus/base/error.hpp"
#include "talus/domain/records.hpp"

namespace talus {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

// Cells are made a little larger than needed, so that a slowly growing hull does not ask for new ones each
// step.
constexpr Real cell_room = 1.125;
// Hulls are enlarged by this part of a cell's edge: rounding (of coordinates up to 2^20 edges, and of
// positions shifted by a box length) can then not hide a pair that touches exactly.
constexpr Real hull_slack = 1.0 / 65536;
// What a body and a contact weigh in the load: a contact works on two bodies.
constexpr Global body_weight = 1, contact_weight = 2;

/// What the owner says about one instance of a body.
enum class Tell : std::int32_t {
  own,     ///< you own it now; all fields
  create,  ///< you hold a copy now; fields of a shadow
  update,  ///< your copy moved; fields that are always sent
  drop,    ///< your copy is obsolete
};

struct Header {
  Global id;
  Tell tell;
  std::int32_t image;   ///< which of the receiver's instances is meant
  std::int32_t owner;   ///< new owner
  std::int32_t listed;  ///< length of the new list that follows; −1: unchanged
};

}  // namespace

/// What the messages of an update brought, and where it lies in the arrays until they are put in order.
struct Domain::Arrivals {
  struct Place {
    Shadow key;
    Local slot = 0;            ///< index in Bodies before `assemble`
    Local begin = 0, end = 0;  ///< its list in `lists`
  };
  std::vector<Place> owned;    ///< new owners' bodies
  std::vector<Place> shadows;  ///< all copies this rank holds from now on
  std::vector<Local> global;   ///< slots of global bodies, by ascending id
  std::vector<Instance> lists;
};

Domain::Domain(const DomainSettings& settings, const Team& team)
    : settings_(settings),
      team_(&team),
      trivial_(team.comm().size() == 1 && !settings.box.any()),
      partition_(settings.box, settings.cut, team.comm().size()) {
  for (int k = 0; k < 3; ++k)
    if (settings.box.periodic[k] && !(settings.box.length(k) > 0 && std::isfinite(settings.box.length(k))))
      throw InputError(fmt::format("the periodic box has no length in direction {}: [{}, {}]", "xyz"[k],
                                   settings.box.low[k], settings.box.high[k]));
}

DomainReport Domain::update(Bodies& bodies, std::span<const Real> reach) {
  DomainReport report;
  bodies_ = &bodies;
  if (trivial_) {
    owned_ = bodies.owned;
    return report;
  }
  if (fresh_) {
    owned_ = bodies.owned;
    begin_.assign(owned_ + 1, 0);
    instances_.clear();
    shadows_.clear();
    global_.clear();
    choose_global(bodies);
  }
  wrap(bodies);
  decide_partition(bodies, reach, report);
  Arrivals arrivals;
  std::vector<Message> messages = tell(bodies, reach, report);
  read(bodies, team_->comm().exchange(std::move(messages)), arrivals);
  share_global(bodies, arrivals);
  assemble(bodies, arrivals);
  plan(bodies);
  fresh_ = false;
  report.shadows = static_cast<Global>(shadows_.size());
  return report;
}

void Domain::forget(Bodies& bodies) {
  if (trivial_) return;
  bodies.resize(bodies.owned);
  shadows_.clear();
  fresh_ = true;
}

void Domain::wrap(Bodies& bodies) {
  wrapped_moment_.setZero();
  if (!settings_.box.any()) return;
  const auto moment = team_->sum_local<3>(owned_, [&](Local i, auto& sum) {
    if (too_big(bodies.radius[i])) return;
    const Vec3 before = bodies.position[i];
    settings_.box.wrap(bodies.position[i]);
    if (bodies.moves_freely(i))
      for (int k = 0; k < 3; ++k) sum[k] += bodies.mass[i] * (bodies.position[i][k] - before[k]);
  });
  wrapped_moment_ = Vec3(moment[0], moment[1], moment[2]);
}

/// Bodies much larger than most, if they are few, are global: cells need not be as large as they are. Decided
/// by counting bodies in classes of size (powers of two), so it depends neither on units nor on the ranks.
void Domain::choose_global(const Bodies& bodies) {
  constexpr int classes = 64;     // of radii in [2^(top−k), 2^(top−k+1))
  constexpr int much_larger = 3;  // classes: 4 to 16 times
  const Comm& comm = team_->comm();
  std::array<Global, 1> top = {std::numeric_limits<Global>::min()};
  std::array<Real, 1> largest = {0};
  for (Local i = 0; i < owned_; ++i) {
    const Real r = bodies.radius[i];
    if (!std::isfinite(r)) continue;
    if (r > 0) top[0] = std::max<Global>(top[0], std::ilogb(r));
    largest[0] = std::max(largest[0], r);
  }
  comm.max(std::span<Global>(top));
  comm.max(std::span<Real>(largest));

  global_radius_ = infinity;
  const PeriodicBox& box = settings_.box;
  if (box.any()) {
    // A bounded global body would need images on every rank; in a periodic box only walls are global.
    for (int k = 0; k < 3; ++k)
      if (box.periodic[k] && 2 * largest[0] > 0.5 * box.length(k) * (1 + hull_slack))
        throw InputError(fmt::format(
            "a body of diameter {:.4g} m is larger than half the periodic box, which is {:.4g} m long in {}; "
            "a body would meet its own image. Make the box at least {:.4g} m long",
            2 * largest[0], box.length(k), "xyz"[k], 4 * largest[0]));
    return;
  }
  std::array<Global, classes> count{};
  for (Local i = 0; i < owned_; ++i)
    if (const Real r = bodies.radius[i]; std::isfinite(r) && r > 0)
      ++count[std::min<Global>(classes - 1, top[0] - std::ilogb(r))];
  comm.sum(std::span<Global>(count));
  Global total = 0, above = 0;
  for (const Global c : count) total += c;
  if (total == 0) return;
  int median = 0;
  for (Global seen = count[0]; 2 * seen < total; seen += count[++median]) {
  }
  for (int k = 0; k <= median - much_larger; ++k) {
    above += count[k];
    if (above > settings_.most_global) break;
    global_radius_ = std::ldexp(1.0, static_cast<int>(top[0]) - k);
  }
}

void Domain::decide_partition(const Bodies& bodies, std::span<const Real> reach, DomainReport& report) {
  const Comm& comm = team_->comm();
  const auto [widest] = team_->max<1>(owned_, [&](Local i, auto& most) {
    if (!too_big(bodies.radius[i]))
      most[0] = std::max(most[0], bodies.radius[i] + (reach.empty() ? 0 : reach[i]));
  });
  std::array<Global, 1> most = {body_weight * owned_};
  for (Local i = 0; i < owned_; ++i) most[0] += contact_weight * bodies.contacts[i];
  std::array<Global, 1> total = most;
  comm.max(std::span<Global>(most));
  comm.sum(std::span<Global>(total));

  const Real hull = widest * (1 + hull_slack);
  for (int k = 0; k < 3; ++k)
    if (settings_.box.periodic[k] && 2.01 * hull >= settings_.box.length(k))
      throw RunError(fmt::format(
          "a body can reach {:.4g} m within a step, more than half the periodic box ({:.4g} m in {}): "
          "use a shorter step or a larger box",
          hull, settings_.box.length(k), "xyz"[k]));
  if (total[0] > 0) report.imbalance = static_cast<Real>(most[0]) * comm.size() / static_cast<Real>(total[0]);

  const Real edge = 2 * hull * cell_room;
  const bool cells_too_small = 2 * hull > partition_.edge();
  ++steps_since_split_;
  if (steps_since_split_ == 2) balance_reached_ = report.imbalance;  // the first load counted on the new cut
  const bool drifted = settings_.rebalance && comm.size() > 1 &&
                       steps_since_split_ > settings_.rebalance_every &&
                       report.imbalance > settings_.imbalance && report.imbalance > 1.05 * balance_reached_;
  if (cut_ && !cells_too_small && !drifted) return;

  if (!cut_ || cells_too_small || 2 * edge < partition_.edge()) {
    std::array<Real, 6> bounds;
    bounds.fill(-infinity);
    for (Local i = 0; i < owned_; ++i)
      if (!too_big(bodies.radius[i]))
        for (int k = 0; k < 3; ++k) {
          bounds[k] = std::max(bounds[k], bodies.position[i][k]);
          bounds[3 + k] = std::max(bounds[3 + k], -bodies.position[i][k]);
        }
    comm.max(std::span<Real>(bounds));
    Vec3 low = Vec3::Zero(), high = Vec3::Zero();
    for (int k = 0; k < 3 && std::isfinite(bounds[k]); ++k) {
      high[k] = bounds[k] + 0.5 * edge;
      low[k] = -bounds[3 + k] - 0.5 * edge;
    }
    partition_.set_cells(low, high, edge > 0 ? edge : 1);  // edge 0: there is no body to put into a cell
  }
  split(bodies);
  report.split_anew = true;
  cut_ = true;
  steps_since_split_ = 0;
}

void Domain::split(const Bodies& bodies) {
  if (team_->comm().size() == 1) return;
  std::vector<std::pair<std::uint64_t, Global>> weighed;
  for (Local i = 0; i < owned_; ++i)
    if (!too_big(bodies.radius[i]))
      weighed.push_back(
          {partition_.key(bodies.position[i]), body_weight + contact_weight * bodies.contacts[i]});
  std::sort(weighed.begin(), weighed.end());
  std::vector<std::uint64_t> keys;
  std::vector<Global> weights;
  for (const auto& [key, weight] : weighed) {
    if (!keys.empty() && keys.back() == key) {
      weights.back() += weight;
      continue;
    }
    keys.push_back(key);
    weights.push_back(weight);
  }
  partition_.split(keys, weights, team_->comm());
}

std::vector<Message> Domain::tell(const Bodies& bodies, std::span<const Real> reach, DomainReport& report) {
  // New owner and instances of every owned body.
  const int me = team_->comm().rank();
  const Real slack = hull_slack * partition_.edge();
  new_owner_.resize(owned_);
  new_begin_.assign(owned_ + 1, 0);
  std::vector<std::vector<Instance>> found(Team::piece_count(owned_));
  team_->for_ranges(owned_, [&](Local begin, Local end) {
    std::vector<Instance>& mine = found[begin / Team::piece_size];
    std::vector<Instance> one;
    for (Local i = begin; i < end; ++i) {
      if (too_big(bodies.radius[i])) {
        new_owner_[i] = 0;
        continue;
      }
      new_owner_[i] = partition_.instances(bodies.position[i],
                                           bodies.radius[i] + (reach.empty() ? 0 : reach[i]) + slack, one);
      new_begin_[i + 1] = static_cast<Local>(one.size());
      mine.insert(mine.end(), one.begin(), one.end());
    }
  });
  new_instances_.clear();
  for (const auto& piece : found) new_instances_.insert(new_instances_.end(), piece.begin(), piece.end());
  for (Local i = 0; i < owned_; ++i) new_begin_[i + 1] += new_begin_[i];

  std::map<int, std::vector<std::byte>> letters;
  for (Local i = 0; i < owned_; ++i) {
    const std::span<const Instance> old_list = instances(i);
    const std::span<const Instance> list(new_instances_.data() + new_begin_[i],
                                         new_begin_[i + 1] - new_begin_[i]);
    const int owner = new_owner_[i];
    if (owner == me && old_list.empty() && list.empty()) continue;
    const bool changed =
        owner != me || !std::equal(list.begin(), list.end(), old_list.begin(), old_list.end());
    auto say = [&](Instance to, Tell what, bool with_list, auto occasion) {
      Writer out(letters[to.rank]);
      out.put(Header{bodies.id[i], what, to.image, owner,
                     with_list ? static_cast<std::int32_t>(list.size()) : -1});
      if (with_list)
        for (const Instance& instance : list) out.put(instance);
      if constexpr (!std::is_same_v<decltype(occasion), std::nullptr_t>) write_body(out, bodies, i, occasion);
    };
    if (owner != me) {
      say({owner, 0}, Tell::own, true, Sent::with_owner);
      ++report.migrated;
    }
    for (const Instance& instance : list) {
      if (std::binary_search(old_list.begin(), old_list.end(), instance))
        say(instance, Tell::update, changed, Sent::always);
      else
        say(instance, Tell::create, true, Sent::with_shadow);
    }
    for (const Instance& instance : old_list)
      if (instance != Instance{owner, 0} && !std::binary_search(list.begin(), list.end(), instance))
        say(instance, Tell::drop, false, nullptr);
  }

  std::vector<Message> messages;
  for (auto& [rank, data] : letters) {
    if (rank != me) {
      ++report.messages;
      report.bytes += static_cast<Global>(data.size());
    }
    messages.push_back({rank, std::move(data)});
  }
  return messages;
}

void Domain::read(Bodies& bodies, std::span<const Message> messages, Arrivals& arrivals) {
  told_.assign(shadows_.size(), -1);
  const Local global = team_->comm().rank() == 0 ? 0 : static_cast<Local>(global_.size());
  std::fill_n(told_.begin(), global, 0);  // global bodies are told to all ranks at once, by share_global
  const auto first_copy = shadows_.begin() + global;

  for (const Message& message : messages) {
    Reader in(message.data);
    while (!in.at_end()) {
      const auto head = in.get<Header>();
      const Shadow key{message.rank, head.id, head.image};
      const auto held = std::lower_bound(first_copy, shadows_.end(), key);
      const bool found = held != shadows_.end() && *held == key;
      const Local copy = found ? static_cast<Local>(held - shadows_.begin()) : -1;
      const bool expected = head.tell == Tell::update || head.tell == Tell::drop;
      if ((expected && !found) || (found && (head.tell == Tell::create || told_[copy] >= 0)))
        throw RunError(
            fmt::format("ranks disagree on the copies of body {}: rank {} told rank {} of one it {}", head.id,
                        message.rank, team_->comm().rank(), found ? "has been told of" : "does not hold"));
      if (found) told_[copy] = head.owner;

      Arrivals::Place place;
      place.key = {head.owner, head.id, head.image};
      place.begin = static_cast<Local>(arrivals.lists.size());
      if (head.listed >= 0)
        for (int k = 0; k < head.listed; ++k) arrivals.lists.push_back(in.get<Instance>());
      else if (head.tell == Tell::update)
        for (const Instance& instance : instances(owned_ + copy)) arrivals.lists.push_back(instance);
      place.end = static_cast<Local>(arrivals.lists.size());

      if (head.tell == Tell::drop) continue;
      if (head.tell == Tell::update) {
        place.slot = owned_ + copy;
        read_body(in, bodies, place.slot, Sent::always);
      } else {
        place.slot = bodies.size();
        bodies.resize(place.slot + 1);
        read_body(in, bodies, place.slot, head.tell == Tell::own ? Sent::with_owner : Sent::with_shadow);
      }
      if (head.image != 0)
        bodies.position[place.slot] = image_position(settings_.box, bodies.position[place.slot], head.image);
      (head.tell == Tell::own ? arrivals.owned : arrivals.shadows).push_back(place);
    }
  }
  for (Local i = 0; i < static_cast<Local>(shadows_.size()); ++i)
    if (told_[i] < 0)
      throw RunError(
          fmt::format("ranks disagree on the copies of body {}: rank {} told rank {} nothing of it",
                      shadows_[i].id, shadows_[i].owner, team_->comm().rank()));
  auto by_key = [](const Arrivals::Place& a, const Arrivals::Place& b) { return a.key < b.key; };
  std::sort(arrivals.owned.begin(), arrivals.owned.end(), by_key);
  std::sort(arrivals.shadows.begin(), arrivals.shadows.end(), by_key);
}

/// Global bodies live on rank 0, which tells all others: everything when they are new, later what changes.
void Domain::share_global(Bodies& bodies, Arrivals& arrivals) {
  const Comm& comm = team_->comm();
  const bool owner = comm.rank() == 0;
  if (owner) {
    for (Local i = 0; i < owned_; ++i)
      if (too_big(bodies.radius[i])) arrivals.global.push_back(i);
    for (const Arrivals::Place& place : arrivals.owned)
      if (too_big(bodies.radius[place.slot])) arrivals.global.push_back(place.slot);
    std::sort(arrivals.global.begin(), arrivals.global.end(),
              [&](Local a, Local b) { return bodies.id[a] < bodies.id[b]; });
  } else {
    arrivals.global.assign(global_.begin(), global_.end());
  }
  if (comm.size() == 1) return;
  auto told = [&](Local i) { return fresh_ || bodies.mobility[i] != Mobility::fixed; };
  const Sent occasion = fresh_ ? Sent::with_shadow : Sent::always;
  // Whether there is anything to say is known to all: who moves never changes after the bodies were told
  // anew.
  if (!fresh_ && std::none_of(arrivals.global.begin(), arrivals.global.end(), told)) return;
  std::vector<std::byte> letter;
  if (owner) {
    Writer out(letter);
    for (const Local i : arrivals.global)
      if (told(i)) write_body(out, bodies, i, occasion);
  }
  comm.broadcast(letter);
  if (owner) return;
  Reader in(letter);
  if (fresh_) {
    while (!in.at_end()) {
      arrivals.global.push_back(bodies.size());
      bodies.resize(bodies.size() + 1);
      read_body(in, bodies, bodies.size() - 1, occasion);
    }
  } else {
    for (const Local i : arrivals.global)
      if (told(i)) read_body(in, bodies, i, occasion);
  }
}

/// Puts the arrays in order: owned bodies that stayed (in the order they had), newly owned ones by id, global
/// bodies of rank 0, shadow copies by (owner, id, image).
void Domain::assemble(Bodies& bodies, Arrivals& arrivals) {
  const int me = team_->comm().rank();
  std::vector<Local> kept;
  departed_.clear();
  for (Local i = 0; i < owned_; ++i) {
    if (new_owner_[i] == me)
      kept.push_back(i);
    else
      departed_.push_back({bodies.id[i], new_owner_[i]});
  }
  std::sort(departed_.begin(), departed_.end());
  std::vector<Local> tail;
  for (const auto& place : arrivals.owned) tail.push_back(place.slot);
  if (me != 0) tail.insert(tail.end(), arrivals.global.begin(), arrivals.global.end());
  for (const auto& place : arrivals.shadows) tail.push_back(place.slot);

  const Local stay = static_cast<Local>(kept.size());
  const std::size_t total = kept.size() + tail.size();
  for_each_field(bodies, [&](const char*, Sent, auto& field) {
    std::remove_reference_t<decltype(field)> moved(tail.size());
    for (std::size_t k = 0; k < tail.size(); ++k) moved[k] = field[tail[k]];
    if (stay < owned_)
      for (Local k = 0; k < stay; ++k) field[k] = field[kept[k]];  // kept[k] ≥ k
    field.resize(total);
    std::copy(moved.begin(), moved.end(), field.begin() + stay);
  });

  Array<Local> begin = {0};
  begin.reserve(total + 1);
  Array<Instance> lists;
  auto list = [&](const Instance* first, const Instance* last) {
    lists.insert(lists.end(), first, last);
    begin.push_back(static_cast<Local>(lists.size()));
  };
  auto list_of = [&](const Arrivals::Place& place) {
    list(arrivals.lists.data() + place.begin, arrivals.lists.data() + place.end);
  };
  for (const Local i : kept)
    list(new_instances_.data() + new_begin_[i], new_instances_.data() + new_begin_[i + 1]);
  for (const auto& place : arrivals.owned) list_of(place);
  owned_ = bodies.owned = stay + static_cast<Local>(arrivals.owned.size());

  global_.clear();
  shadows_.clear();
  if (me == 0) {
    for (Local i = 0; i < owned_; ++i)
      if (too_big(bodies.radius[i])) global_.push_back(i);
    std::sort(global_.begin(), global_.end(), [&](Local a, Local b) { return bodies.id[a] < bodies.id[b]; });
  } else {
    for (std::size_t k = 0; k < arrivals.global.size(); ++k) {
      global_.push_back(owned_ + static_cast<Local>(k));
      shadows_.push_back({0, bodies.id[global_.back()], 0});
      list(nullptr, nullptr);
    }
  }
  for (const auto& place : arrivals.shadows) {
    shadows_.push_back(place.key);
    list_of(place);
  }
  begin_.swap(begin);
  instances_.swap(lists);
}

void Domain::plan(const Bodies& bodies) {
  struct Lent {
    int rank;
    Global id;
    int image;
    Local body;
    auto operator<=>(const Lent&) const = default;
  };
  std::vector<Lent> lent;
  for (Local i = 0; i < owned_; ++i)
    for (const Instance& instance : instances(i))
      lent.push_back({instance.rank, bodies.id[i], instance.image, i});
  std::sort(lent.begin(), lent.end());

  std::map<int, Neighbour> neighbours;
  for (const Lent& l : lent) neighbours[l.rank].lent.push_back(l.body);
  const Local copies = owned_ + (team_->comm().rank() == 0 ? 0 : static_cast<Local>(global_.size()));
  for (Local i = copies; i < bodies.size(); ++i) {
    Neighbour& n = neighbours[owner(i)];
    if (n.borrowed++ == 0) n.first_borrowed = i;
  }
  std::vector<Neighbour> list;
  for (auto& [rank, neighbour] : neighbours) {
    neighbour.rank = rank;
    list.push_back(std::move(neighbour));
  }
  std::vector<Local> moving;
  if (team_->comm().size() > 1)
    for (const Local i : global_)
      if (bodies.moves_freely(i)) moving.push_back(i);
  halo_.set_plan(std::move(list), std::move(moving), *team_);
}

void Domain::count_contacts(Bodies& bodies, std::span<const Local> a, std::span<const Local> b) const {
  if (trivial_) return;
  std::fill(bodies.contacts.begin(), bodies.contacts.end(), 0);
  for (std::size_t k = 0; k < a.size(); ++k) {
    // A wall's contact is the other body's load, and so is that of a body owned elsewhere.
    const bool first = a[k] < owned_ && !is_global(a[k]);
    ++bodies.contacts[first || b[k] >= owned_ ? a[k] : b[k]];
  }
}

bool Domain::is_global(Local i) const {
  return too_big(bodies_->radius[i]);
}

bool Domain::instantiated(Local i, Instance where) const {
  if (where == Instance{owner(i), 0}) return true;
  const auto list = instances(i);
  return std::binary_search(list.begin(), list.end(), where);
}

/// The instance of `low` at which its contacts with image d of `high` are treated: where low itself is, if
/// high is seen there; else where high itself is, if low is seen there; else the first instance both have
/// (Preclik15 §6.2). All ranks that see the pair hold the same lists, so they agree; no position is compared.
Instance Domain::treating_instance(Local low, Local high, int d) const {
  if (instantiated(high, {owner(low), d})) return {owner(low), 0};
  const int back = image_difference(0, d);
  if (instantiated(low, {owner(high), back})) return {owner(high), back};
  for (const Instance& instance : instances(low)) {
    const int other = image_sum(instance.image, d);
    if (other >= 0 && instantiated(high, {instance.rank, other})) return instance;
  }
  return {-1, 0};
}

bool Domain::treats(Local a, Local b) const {
  if (a < owned_ && b < owned_) return true;
  const Global id_a = bodies_->id[a], id_b = bodies_->id[b];
  if (id_a == id_b) return false;  // a body and its own image
  // With a global body: where the other one is owned.
  if (is_global(a)) return b < owned_ && !is_global(b);
  if (is_global(b)) return a < owned_;
  const auto [low, high] = id_a < id_b ? std::pair(a, b) : std::pair(b, a);
  const int d = image_difference(image(high), image(low));
  return d >= 0 && treating_instance(low, high, d) == Instance{team_->comm().rank(), image(low)};
}

int Domain::treating_rank(Local low, Local high, int image_of_high) const {
  if (trivial_) return team_->comm().rank();
  if (is_global(low)) return is_global(high) ? 0 : owner(high);
  if (is_global(high)) return owner(low);
  return treating_instance(low, high, image_of_high).rank;
}

int Domain::new_owner(Global id) const {
  const auto found = std::lower_bound(departed_.begin(), departed_.end(), std::pair(id, 0));
  return found != departed_.end() && found->first == id ? found->second : -1;
}

int Domain::relative_image(Local a, Local b) const {
  if (trivial_ || (a < owned_ && b < owned_) || is_global(a) || is_global(b)) return 0;
  return std::max(0, image_difference(image(b), image(a)));
}

Domain::State Domain::state() const {
  return {partition_.state(), balance_reached_, steps_since_split_};
}

void Domain::restore(const State& state) {
  partition_.restore(state.partition);
  balance_reached_ = state.balance_reached;
  steps_since_split_ = state.steps_since_split;
  cut_ = true;
  fresh_ = true;
}

}  // namespace talus
