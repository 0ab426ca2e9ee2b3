#include "talus/io/snapshot.hpp"

#include <algorithm>

#include "talus/bodies/id_map.hpp"

namespace talus {
namespace {

template <class T>
void copy(const Array<T>& from, Array<T>& to, const Team& team) {
  to.resize(from.size());
  team.for_ranges(static_cast<Local>(from.size()), [&](Local begin, Local end) {
    std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin);
  });
}

void copy(const WarmStart& from, WarmStart& to, const Team& team) {
  copy(from.key, to.key, team);
  copy(from.impulse, to.impulse, team);
  copy(from.slip, to.slip, team);
}

}  // namespace

void Snapshot::take(const World& world, const Team& team) {
  const Bodies& b = world.bodies;
  copy(b.id, id_, team);
  copy(b.position, position_, team);
  copy(b.orientation, orientation_, team);
  copy(b.velocity, velocity_, team);
  copy(world.warm_start, warm_start_, team);
  energy_ = world.energy;
  time_ = world.time;
  step_ = world.step;
}

void Snapshot::restore(World& world, const Team& team) const {
  Bodies& b = world.bodies;
  if (b.id != id_) {  // the step had sorted the bodies
    IdMap index;
    index.build(b.id);
    Array<Local> order(id_.size());
    for (std::size_t k = 0; k < id_.size(); ++k) order[k] = index.find(id_[k]);
    b.reorder(order);
  }
  copy(position_, b.position, team);
  copy(orientation_, b.orientation, team);
  copy(velocity_, b.velocity, team);
  copy(warm_start_, world.warm_start, team);
  world.energy = energy_;
  world.time = time_;
  world.step = step_;
}

}  // namespace talus
