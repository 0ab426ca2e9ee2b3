#include "talus/domain/partition.hpp"

#include <algorithm>
#include <cmath>

#include "talus/math/morton.hpp"

namespace talus {
namespace {

constexpr std::int64_t cell_limit = std::int64_t{1} << 21;  // Morton codes hold 21 bits a direction
constexpr std::int64_t cell_offset =
    cell_limit / 2;  // cell 0 of an open direction, so that both sides have room
constexpr int key_bits = 63;

}  // namespace

Partition::Partition(const PeriodicBox& box, std::array<bool, 3> cut_axes, int ranks)
    : box_(box), cut_(cut_axes), first_(ranks, ~std::uint64_t{0}) {
  first_[0] = 0;
}

void Partition::set_cells(const Vec3& low, const Vec3& high, Real edge) {
  low_ = low;
  high_ = high;
  smallest_edge_ = edge;
  for (int k = 0; k < 3; ++k) {
    origin_[k] = box_.periodic[k] ? box_.low[k] : low[k];
    const Real length = box_.periodic[k] ? box_.length(k) : std::max(high[k] - low[k], edge);
    const Real most = static_cast<Real>(box_.periodic[k] ? cell_limit : cell_offset);
    cells_[k] = static_cast<std::int64_t>(std::clamp(std::floor(length / edge), 1.0, most));
    edge_[k] = length / static_cast<Real>(cells_[k]);
  }
}

std::int64_t Partition::cell(Real x, int axis) const {
  const Real c = std::floor((x - origin_[axis]) / edge_[axis]);
  if (box_.periodic[axis]) return static_cast<std::int64_t>(c);
  const Real limit = static_cast<Real>(cell_offset);
  return c >= limit ? cell_offset - 1 : c < -limit ? -cell_offset : static_cast<std::int64_t>(c);
}

std::uint64_t Partition::key_of_cells(std::int64_t x, std::int64_t y, std::int64_t z) const {
  std::array<std::int64_t, 3> c = {x, y, z};
  for (int k = 0; k < 3; ++k) c[k] = !cut_[k] ? 0 : box_.periodic[k] ? c[k] : c[k] + cell_offset;
  return morton_code(static_cast<std::uint64_t>(c[0]), static_cast<std::uint64_t>(c[1]),
                     static_cast<std::uint64_t>(c[2]));
}

std::uint64_t Partition::key(const Vec3& x) const {
  std::array<std::int64_t, 3> c{};
  for (int k = 0; k < 3; ++k) {
    c[k] = cell(x[k], k);
    if (box_.periodic[k])
      c[k] = std::clamp<std::int64_t>(c[k], 0, cells_[k] - 1);  // x/edge may round up at the far side
  }
  return key_of_cells(c[0], c[1], c[2]);
}

int Partition::owner(std::uint64_t key) const {
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), key) - first_.begin()) - 1;
}

int Partition::instances(const Vec3& x, Real hull, std::vector<Instance>& found) const {
  found.clear();
  std::array<std::int64_t, 3> low{}, high{};
  for (int k = 0; k < 3; ++k) {
    low[k] = cell(x[k] - hull, k);
    high[k] = cell(x[k] + hull, k);
    // In a direction that is not cut all cells of one image are one.
    if (!cut_[k] && !box_.periodic[k]) low[k] = high[k] = 0;
  }
  const int parent = owner(key(x));
  std::array<std::int64_t, 3> c{};
  std::array<std::int64_t, 3> wrapped{};
  std::array<int, 3> shift{};
  auto wrap = [&](int k) {
    wrapped[k] = c[k];
    shift[k] = 0;
    if (!box_.periodic[k]) return;
    // A point in the box beyond the high side (cell ≥ count) is seen by the ranks of the low side at x −
    // length.
    const std::int64_t n = cells_[k];
    const std::int64_t box = c[k] >= 0 ? c[k] / n : -((n - 1 - c[k]) / n);
    wrapped[k] = c[k] - box * n;
    shift[k] = static_cast<int>(-box);
  };
  for (c[0] = low[0]; c[0] <= high[0]; ++c[0]) {
    wrap(0);
    for (c[1] = low[1]; c[1] <= high[1]; ++c[1]) {
      wrap(1);
      for (c[2] = low[2]; c[2] <= high[2]; ++c[2]) {
        wrap(2);
        const Instance here{owner(key_of_cells(wrapped[0], wrapped[1], wrapped[2])),
                            image_code(shift[0], shift[1], shift[2])};
        if (here != Instance{parent, 0} && (found.empty() || found.back() != here)) found.push_back(here);
      }
    }
  }
  if (found.size() > 1) {
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
  return parent;
}

void Partition::split(std::span<const std::uint64_t> keys, std::span<const Global> weights,
                      const Comm& comm) {
  const int ranks = static_cast<int>(first_.size());
  std::vector<Global> before(keys.size() + 1, 0);  // weight of all keys below the k-th, on this rank
  for (std::size_t k = 0; k < keys.size(); ++k) before[k + 1] = before[k] + weights[k];
  auto weight_below = [&](std::uint64_t key) {
    return before[std::lower_bound(keys.begin(), keys.end(), key) - keys.begin()];
  };
  std::array<Global, 1> total = {before.back()};
  comm.sum(std::span<Global>(total));

  // Rank r begins at the largest key that leaves at most r/ranks of the weight below it: found bit by bit for
  // many ranks at once, in blocks so that no further array of the length of the ranks is held.
  constexpr int block = 256;
  std::array<Global, 2 * block> below{};
  for (int begin = 1; begin < ranks; begin += block) {
    const int n = std::min(block, ranks - begin);
    auto target = [&](int i) {  // r·total/ranks without overflow
      const Global r = begin + i;
      return total[0] / ranks * r + total[0] % ranks * r / ranks;
    };
    for (int i = 0; i < n; ++i) first_[begin + i] = 0;
    for (int bit = key_bits - 1; bit >= 0; --bit) {
      const std::uint64_t step = std::uint64_t{1} << bit;
      for (int i = 0; i < n; ++i) below[i] = weight_below(first_[begin + i] | step);
      comm.sum(std::span<Global>(below.data(), n));
      for (int i = 0; i < n; ++i)
        if (below[i] <= target(i)) first_[begin + i] |= step;
    }
    // The cell that crosses the target goes to the side where that leaves the smaller error.
    for (int i = 0; i < n; ++i) {
      below[i] = weight_below(first_[begin + i]);
      below[block + i] = weight_below(first_[begin + i] + 1);
    }
    comm.sum(std::span<Global>(below));
    for (int i = 0; i < n; ++i)
      if (below[block + i] - target(i) < target(i) - below[i]) ++first_[begin + i];
  }
}

void Partition::restore(const State& state) {
  set_cells(state.low, state.high, state.edge);
  first_ = state.first;
}

}  // namespace talus
