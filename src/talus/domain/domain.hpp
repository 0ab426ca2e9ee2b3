// Domain: who owns what. It gives every body one owner by the Morton partition, puts shadow copies wherever a
// body's hull reaches, and keeps the lists by which all ranks agree who treats a contact.
//
// After `update` on every rank:
//  - each body is owned by exactly one rank; owned bodies come first in Bodies, then global bodies of rank 0
//  (on the
//    other ranks), then shadow copies in ascending order of (owner, id, image);
//  - a body is instantiated on every rank (and as every periodic image) whose cells its hull touches, and
//  every
//    instance knows the owner and all other instances (Preclik15, Requirements 1 and 2);
//  - two bodies whose hulls overlap are seen together by at least one rank, and `treats` is true on exactly
//  one.
//
// Changes are told, never derived (Preclik15 §6.5): the owner of the last step computes the new owner and the
// new instances, and says to each rank concerned: own this, make a copy, update the copy, drop the copy. One
// message per rank concerned. A copy that was told nothing, or twice, is an error.
//
// On one rank without a periodic direction update does nothing and the halo is the plain one.
#pragma once
#include <memory>
#include <span>

#include "talus/algebra/halo.hpp"
#include "talus/base/team.hpp"
#include "talus/bodies/bodies.hpp"
#include "talus/bodies/contact_rule.hpp"
#include "talus/domain/link_halo.hpp"
#include "talus/domain/partition.hpp"

namespace talus {

struct DomainSettings {
  PeriodicBox box;
  std::array<bool, 3> cut = {true, true, true};  ///< directions that are divided among ranks
  bool rebalance = true;
  Real imbalance = 1.15;    ///< largest over mean load that is put up with
  int rebalance_every = 8;  ///< steps between two rebalancings at least
  int most_global = 64;     ///< at most so many bounded bodies are made global for their size
};

/// What one update did; sums and maxima are over all ranks where not said otherwise.
struct DomainReport {
  Real imbalance = 1;  ///< largest over mean load, counted before this update
  bool split_anew = false;
  Global migrated = 0;  ///< of this rank: bodies handed to another owner
  Global shadows = 0;   ///< of this rank: copies held, images of own bodies included
  Global messages = 0;  ///< of this rank: messages sent by this update
  Global bytes = 0;     ///< of this rank: bytes sent by this update
};

class Domain : public ContactRule {
 public:
  Domain(const DomainSettings& settings, const Team& team);

  /// True when this process sees all bodies and no images: there are no shadow copies and nothing is
  /// exchanged.
  bool trivial() const { return trivial_; }

  /// Brings owners, shadow copies and lists up to date after bodies moved; collective. `reach` is, for each
  /// owned body as the arrays are now, how far from its surface contacts are to be found: two bodies are seen
  /// together when the sum of their reaches is no less than their gap.
  DomainReport update(Bodies& bodies, std::span<const Real> reach);

  /// Drops all shadow copies, so that owned bodies may be reordered, added or removed before the next update,
  /// which tells everything anew. On every rank at the same time.
  void forget(Bodies& bodies);

  /// Tells which contacts this rank treated, by their local bodies: the load that the next rebalancing
  /// counts.
  void count_contacts(Bodies& bodies, std::span<const Local> a, std::span<const Local> b) const;

  // ContactRule
  bool treats(Local a, Local b) const override;
  int relative_image(Local a, Local b) const override;

  /// The rank that treats the contacts of two bodies, given any local instance of each and which image of
  /// `high` touches `low` (the lower id); −1 when they are not seen together anywhere.
  int treating_rank(Local low, Local high, int image) const;
  /// Rank that owns local body i.
  int owner(Local i) const { return i < owned_ ? team_->comm().rank() : shadows_[i - owned_].owner; }
  /// Image of local body i: 0 for bodies where they are.
  int image(Local i) const { return i < owned_ ? 0 : shadows_[i - owned_].image; }
  bool is_global(Local i) const;
  /// Where else local body i is instantiated, sorted; the owner's instance is not listed. Empty for global
  /// bodies.
  std::span<const Instance> instances(Local i) const {
    return {instances_.data() + begin_[i], static_cast<std::size_t>(begin_[i + 1] - begin_[i])};
  }
  /// New owner of a body that this rank owned before the last update and then handed over; −1 for others.
  int new_owner(Global id) const;
  /// Σ m s over bodies of this rank that the last update wrapped, s the shift of position: a uniform field g
  /// gains −g·(this) of potential energy by it without any work being done.
  const Vec3& wrapped_moment() const { return wrapped_moment_; }

  const Halo& halo() const { return trivial_ ? plain_halo() : halo_; }
  const LinkHalo& links() const { return halo_; }
  const DomainSettings& settings() const { return settings_; }

  /// What decides the next cut, for checkpoints: a run resumed with it on the same ranks goes on with the
  /// same bits.
  struct State {
    Partition::State partition;
    Real balance_reached = 1;
    Global steps_since_split = 0;
  };
  State state() const;
  void restore(const State& state);

 private:
  struct Shadow {
    int owner = 0;
    Global id = 0;
    int image = 0;
    auto operator<=>(const Shadow&) const = default;
  };
  struct Arrivals;

  void wrap(Bodies& bodies);
  void choose_global(const Bodies& bodies);
  bool too_big(Real radius) const { return !(radius < global_radius_); }
  void decide_partition(const Bodies& bodies, std::span<const Real> reach, DomainReport& report);
  void split(const Bodies& bodies);
  std::vector<Message> tell(const Bodies& bodies, std::span<const Real> reach, DomainReport& report);
  void read(Bodies& bodies, std::span<const Message> messages, Arrivals& arrivals);
  void assemble(Bodies& bodies, Arrivals& arrivals);
  void share_global(Bodies& bodies, Arrivals& arrivals);
  void plan(const Bodies& bodies);
  bool instantiated(Local i, Instance where) const;
  Instance treating_instance(Local low, Local high, int image) const;

  DomainSettings settings_;
  const Team* team_;
  bool trivial_;
  Partition partition_;
  LinkHalo halo_;

  // What this rank knows of its local bodies.
  const Bodies* bodies_ = nullptr;  ///< as last updated; the contact rule looks up ids in it
  Local owned_ = 0;
  Array<Local> begin_;  ///< of each local body's list in instances_
  Array<Instance> instances_;
  Array<Shadow> shadows_;  ///< bodies after the owned ones
  Array<Local> global_;    ///< local indices of global bodies, ascending
  std::vector<std::pair<Global, int>>
      departed_;  ///< bodies handed over by the last update, by id, and their owners
  Vec3 wrapped_moment_ = Vec3::Zero();

  // What this rank decided for its owned bodies in the update under way.
  std::vector<int> new_owner_;
  std::vector<int> told_;  ///< new owner of each copy held so far, −1 until it is told
  Array<Local> new_begin_;
  Array<Instance> new_instances_;

  // Load.
  bool fresh_ = true;         ///< no list anywhere: everything is to be told anew
  bool cut_ = false;          ///< partition_ holds a cut
  Real global_radius_ = 0;    ///< bounded bodies of at least this radius are global
  Real balance_reached_ = 1;  ///< imbalance that the last cut reached: cells are indivisible
  Global steps_since_split_ = 0;
};

}  // namespace talus
