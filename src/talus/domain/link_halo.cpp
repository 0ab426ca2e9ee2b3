#include "talus/domain/link_halo.hpp"

#include <cstring>

#include "talus/base/timer.hpp"

namespace talus {
namespace {

constexpr int tag_sums = 0, tag_copies = 1;

std::size_t bytes_of(std::size_t entries) {
  return entries * sizeof(Twist);
}

}  // namespace

void LinkHalo::set_plan(std::vector<Neighbour> neighbours, std::vector<Local> global, const Team& team) {
  team_ = &team;
  global_ = std::move(global);
  global_sum_.resize(6 * global_.size());
  neighbours_.clear();
  self_ = {};
  for (Neighbour& n : neighbours) {
    if (n.rank == team.comm().rank())
      self_ = std::move(n);
    else
      neighbours_.push_back(std::move(n));
  }
  std::vector<Link> sums, copies;
  sum_messages_ = sum_bytes_ = copy_messages_ = copy_bytes_ = 0;
  for (const Neighbour& n : neighbours_) {
    const std::size_t lent = bytes_of(n.lent.size()), borrowed = bytes_of(n.borrowed);
    sums.push_back({n.rank, borrowed, lent});
    copies.push_back({n.rank, lent, borrowed});
    sum_messages_ += borrowed > 0;
    sum_bytes_ += static_cast<Global>(borrowed);
    copy_messages_ += lent > 0;
    copy_bytes_ += static_cast<Global>(lent);
  }
  sums_ = team.comm().open(sums, tag_sums);
  copies_ = team.comm().open(copies, tag_copies);
  counts_ = {};
}

void LinkHalo::start_sum_to_owner(const BodyVector& v) const {
  for (std::size_t k = 0; k < neighbours_.size(); ++k) {
    const Neighbour& n = neighbours_[k];
    if (n.borrowed)
      std::memcpy(sums_->send_buffer(static_cast<int>(k)).data(), v.data() + n.first_borrowed,
                  bytes_of(n.borrowed));
  }
  sums_->start();
  ++counts_.sums;
  counts_.messages += sum_messages_;
  counts_.bytes += sum_bytes_;
}

/// Combines owners' entries with what came in, in a fixed order: images on this rank, then the neighbours by
/// rank.
template <class Combine>
void LinkHalo::finish_to_owner(BodyVector& v, Combine combine) const {
  for (Local k = 0; k < self_.borrowed; ++k) combine(v[self_.lent[k]], v[self_.first_borrowed + k]);
  {
    ScopedTimer timer(counts_.wait_seconds);
    sums_->finish();
  }
  for (std::size_t k = 0; k < neighbours_.size(); ++k) {
    const std::byte* from = sums_->receive_buffer(static_cast<int>(k)).data();
    for (const Local i : neighbours_[k].lent) {
      Twist t;
      std::memcpy(static_cast<void*>(&t), from, sizeof t);
      from += sizeof t;
      combine(v[i], t);
    }
  }
  for (std::size_t k = 0; k < global_.size(); ++k)
    std::memcpy(&global_sum_[6 * k], static_cast<const void*>(&v[global_[k]]), sizeof(Twist));
}

void LinkHalo::take_global(BodyVector& v) const {
  for (std::size_t k = 0; k < global_.size(); ++k)
    std::memcpy(static_cast<void*>(&v[global_[k]]), &global_sum_[6 * k], sizeof(Twist));
}

void LinkHalo::finish_sum_to_owner(BodyVector& v) const {
  finish_to_owner(v, [](Twist& entry, const Twist& t) {
    entry.linear += t.linear;
    entry.angular += t.angular;
  });
  if (global_.empty()) return;
  team_->comm().sum(std::span<Real>(global_sum_));
  take_global(v);
}

void LinkHalo::max_to_owner(BodyVector& v) const {
  start_sum_to_owner(v);
  finish_to_owner(v, [](Twist& entry, const Twist& t) {
    entry.linear = entry.linear.cwiseMax(t.linear);
    entry.angular = entry.angular.cwiseMax(t.angular);
  });
  if (global_.empty()) return;
  team_->comm().max(std::span<Real>(global_sum_));
  take_global(v);
}

void LinkHalo::start_copy_to_shadows(const BodyVector& v) const {
  for (std::size_t k = 0; k < neighbours_.size(); ++k) {
    const std::span<std::byte> to = copies_->send_buffer(static_cast<int>(k));
    const std::vector<Local>& lent = neighbours_[k].lent;
    for (std::size_t j = 0; j < lent.size(); ++j)
      std::memcpy(to.data() + bytes_of(j), static_cast<const void*>(&v[lent[j]]), sizeof(Twist));
  }
  copies_->start();
  ++counts_.copies;
  counts_.messages += copy_messages_;
  counts_.bytes += copy_bytes_;
}

void LinkHalo::finish_copy_to_shadows(BodyVector& v) const {
  for (Local k = 0; k < self_.borrowed; ++k) v[self_.first_borrowed + k] = v[self_.lent[k]];
  if (!global_.empty()) {
    // Rank 0 has the value; the others add nothing to it.
    const bool mine = team_->comm().rank() == 0;
    for (std::size_t k = 0; k < global_.size(); ++k) {
      const Twist t = mine ? v[global_[k]] : Twist{};
      std::memcpy(&global_sum_[6 * k], static_cast<const void*>(&t), sizeof t);
    }
    team_->comm().sum(std::span<Real>(global_sum_));
    if (!mine) take_global(v);
  }
  {
    ScopedTimer timer(counts_.wait_seconds);
    copies_->finish();
  }
  for (std::size_t k = 0; k < neighbours_.size(); ++k) {
    const Neighbour& n = neighbours_[k];
    if (n.borrowed)
      std::memcpy(static_cast<void*>(v.data() + n.first_borrowed),
                  copies_->receive_buffer(static_cast<int>(k)).data(), bytes_of(n.borrowed));
  }
}

void LinkHalo::sum_to_owner(BodyVector& v) const {
  start_sum_to_owner(v);
  finish_sum_to_owner(v);
}

void LinkHalo::copy_to_shadows(BodyVector& v) const {
  start_copy_to_shadows(v);
  finish_copy_to_shadows(v);
}

}  // namespace talus
