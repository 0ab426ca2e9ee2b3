// Bodies: structure of arrays, cut by who uses them when: identity (detection, output), pose and mass
// (integration), velocity (solver). Owned bodies come first, shadow copies after them.
//
// Every per-body field is listed once, in for_each_field, with what is sent when. Reordering, migration,
// shadow copies and checkpoints all follow from that table; none names a field of its own.
#pragma once
#include <string>
#include <vector>

#include "talus/base/array.hpp"
#include "talus/base/types.hpp"
#include "talus/math/vec.hpp"

namespace talus {

/// When a field travels between processes. Checkpoints hold every field except `never`.
enum class Sent : std::uint8_t {
  always,       ///< each step, to all holders of shadow copies
  with_shadow,  ///< once, when a shadow copy is made
  with_owner,   ///< only when the body itself moves to another process
  never,        ///< derived; rebuilt by the receiver
};

enum class Mobility : std::uint8_t { dynamic, fixed, prescribed };

struct Bodies {
  // identity
  Array<Global> id;             ///< stable for the whole run, unique over all processes
  Array<Local> shape;           ///< index into World::shapes
  Array<Local> material;        ///< index into World::materials
  Array<Local> name;            ///< index into World::names, −1 for the unnamed many
  Array<std::uint32_t> group;   ///< bits this body belongs to
  Array<std::uint32_t> mask;    ///< bits this body collides with
  Array<Mobility> mobility;
  // pose and mass
  Array<Vec3> position;         ///< of the mass centre, world
  Array<Quat> orientation;      ///< body axes → world
  Array<Real> radius;           ///< of a sphere; of the bounding sphere otherwise (infinite for walls)
  Array<Real> mass;             ///< kept for fixed bodies too, used only when dynamic
  Array<Vec3> inertia;          ///< principal moments, body axes
  // velocity
  Array<Twist> velocity;        ///< world
  // load
  Array<Local> contacts;        ///< contacts of the last step that count as this body's: its weight in the partition

  Local size() const { return static_cast<Local>(id.size()); }
  Local owned = 0;              ///< bodies [0, owned) belong to this process, the rest are shadow copies

  bool moves_freely(Local i) const { return mobility[i] == Mobility::dynamic; }
  Real inverse_mass(Local i) const { return moves_freely(i) ? 1.0 / mass[i] : 0.0; }
  /// M⁻¹'s rotational block in world axes; zero when the body does not move freely.
  Mat33 inverse_inertia(Local i) const;
  /// Do two bodies collide, by group and mask?
  bool may_touch(Local i, Local j) const { return (group[i] & mask[j]) && (group[j] & mask[i]); }

  void resize(Local n);
  /// New body k is old body order[k], for all fields.
  void reorder(const Array<Local>& order);
};

/// Visits f(name, sent, array) for every field of one Bodies (const or not).
template <class B, class F>
void for_each_field(B& b, F&& f) {
  f("id", Sent::with_shadow, b.id);
  f("shape", Sent::with_shadow, b.shape);
  f("material", Sent::with_shadow, b.material);
  f("name", Sent::with_shadow, b.name);
  f("group", Sent::with_shadow, b.group);
  f("mask", Sent::with_shadow, b.mask);
  f("mobility", Sent::with_shadow, b.mobility);
  f("position", Sent::always, b.position);
  f("orientation", Sent::always, b.orientation);
  f("radius", Sent::with_shadow, b.radius);
  f("mass", Sent::with_shadow, b.mass);
  f("inertia", Sent::with_shadow, b.inertia);
  f("velocity", Sent::always, b.velocity);
  f("contacts", Sent::with_owner, b.contacts);
}

/// Hash of id, pose and velocity of all owned bodies, independent of their order in the arrays.
std::uint64_t state_hash(const Bodies& bodies);

}  // namespace talus
