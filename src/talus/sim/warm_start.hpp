// Warm start: the impulse of a contact that persists is the guess of the next solve. Contacts are recognised by
// the ids of their bodies and the feature, so the order of bodies and contacts may change in between.
#pragma once
#include <span>

#include "talus/base/team.hpp"
#include "talus/bodies/bodies.hpp"
#include "talus/bodies/contact_rule.hpp"
#include "talus/bodies/id_map.hpp"
#include "talus/collision/contacts.hpp"
#include "talus/sim/world.hpp"

namespace talus {

/// Fills `impulse` (3 per contact, on body b) and `slip` (1 per contact) with what `last` knows of each contact,
/// zero for new ones. `h` is the length of the coming step. \return the number of contacts recognised.
Global guess_impulses(const WarmStart& last, const Contacts& contacts, const Bodies& bodies, Real h, const Team& team,
                      std::span<Real> impulse, std::span<Real> slip, const ContactRule& rule = every_contact());

/// Remembers the impulses of a step of length h. `new_velocity` gives the slip at the contact points.
void keep_impulses(const Contacts& contacts, const Bodies& bodies, const Array<Twist>& new_velocity, Real h,
                   const Team& team, std::span<const Real> impulse, WarmStart& kept,
                   const ContactRule& rule = every_contact());

/// Hands impulses to the ranks that will treat their contacts, after the domain was updated; all ranks must call it. An
/// impulse whose bodies are both gone from here and were never owned here is forgotten: its contact starts cold.
void share_impulses(WarmStart& kept, const Bodies& bodies, const Domain& domain, const Team& team);

}  // namespace talus
