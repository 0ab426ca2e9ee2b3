// LinkHalo: the halo of a domain. Its plan is frozen from one update to the next: who sends which entries to
// whom. One message per neighbour and verb, in buffers and requests set up once per plan.
#pragma once
#include <memory>
#include <vector>

#include "talus/algebra/halo.hpp"
#include "talus/base/team.hpp"

namespace talus {

/// What one rank shares with a neighbour.
struct Neighbour {
  int rank = 0;
  std::vector<Local>
      lent;  ///< own bodies the neighbour has copies of (one entry per copy), in the order it holds them
  Local first_borrowed = 0;  ///< its bodies that we have copies of: a range of local indices
  Local borrowed = 0;
};

/// Counted since the plan was made (and `reset_counts`): what this rank sent.
struct HaloCounts {
  Global sums = 0, copies = 0;  ///< calls of the verbs, to owners and to shadows
  Global messages = 0, bytes = 0;
  double wait_seconds = 0;  ///< in finish_…: time that nothing else was done
};

class LinkHalo : public Halo {
 public:
  LinkHalo() = default;

  /// `neighbours` ascending by rank, this rank itself among them where it holds images of its own bodies.
  /// `global` are the local indices of global bodies that move freely, in the same order on every rank; rank
  /// 0 owns them.
  void set_plan(std::vector<Neighbour> neighbours, std::vector<Local> global, const Team& team);

  void sum_to_owner(BodyVector& v) const override;
  void max_to_owner(BodyVector& v) const override;
  void copy_to_shadows(BodyVector& v) const override;
  void start_sum_to_owner(const BodyVector& v) const override;
  void finish_sum_to_owner(BodyVector& v) const override;
  void start_copy_to_shadows(const BodyVector& v) const override;
  void finish_copy_to_shadows(BodyVector& v) const override;

  std::span<const Neighbour> neighbours() const { return neighbours_; }
  const HaloCounts& counts() const { return counts_; }
  void reset_counts() const { counts_ = {}; }

 private:
  template <class Combine>
  void finish_to_owner(BodyVector& v, Combine combine) const;
  void take_global(BodyVector& v) const;

  const Team* team_ = nullptr;
  std::vector<Neighbour> neighbours_;  ///< other ranks
  Neighbour self_;                     ///< images of own bodies on this rank
  std::vector<Local> global_;
  std::unique_ptr<Links> sums_, copies_;
  Global sum_messages_ = 0, sum_bytes_ = 0, copy_messages_ = 0, copy_bytes_ = 0;
  mutable HaloCounts counts_;
  mutable std::vector<Real> global_sum_;
};

}  // namespace talus
