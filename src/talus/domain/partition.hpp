// Partition: space is cut into cells, the cells are put on the Morton curve, and the curve is cut into one
// interval per rank (De20 §IV). The edge of a cell is at least twice the largest hull of a body that is not
// global, so a hull reaches only the cells around its own and Preclik15's condition (7) holds by
// construction: cuts are between cells, so no subdomain is a sliver.
//
// The lattice of cells has no end: bodies that leave the scene's box are in further cells (2^20 to each side;
// beyond that in the last one, which costs balance but stays right). Every rank knows the first key of each
// rank, 8 bytes a rank.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "talus/base/comm.hpp"
#include "talus/domain/periodic_box.hpp"
#include "talus/math/vec.hpp"

namespace talus {

/// Where a body is instantiated: a rank, and the periodic image it sees there (0: the body where it is).
struct Instance {
  std::int32_t rank = 0;
  std::int32_t image = 0;
  auto operator<=>(const Instance&) const = default;
};

class Partition {
 public:
  Partition() = default;
  /// Everything on rank 0 until `split`.
  Partition(const PeriodicBox& box, std::array<bool, 3> cut_axes, int ranks);

  /// New cells of at least `edge`: a whole number of them fills the box from `low` to `high` (in a periodic
  /// direction the periodic box), so that hulls inside it do not reach into empty cells around, which belong
  /// to anybody.
  void set_cells(const Vec3& low, const Vec3& high, Real edge);
  /// No edge is smaller, except in a periodic box narrower than this; 0 before set_cells.
  Real edge() const { return smallest_edge_; }

  /// The cell's key of a point inside the box.
  std::uint64_t key(const Vec3& x) const;
  int owner(std::uint64_t key) const;
  /// First key of `rank`.
  std::uint64_t first_key(int rank) const { return first_[rank]; }

  /// All instances of a body: of every cell its hull (the box around a sphere) touches, the owner and the
  /// image there. Sorted, without the parent instance {owner(key(x)), 0}, which is returned.
  int instances(const Vec3& x, Real hull, std::vector<Instance>& found) const;

  /// Cuts the curve so that each rank gets about the same weight. `keys` ascending, with the weight of each,
  /// on every rank its own part; collective. Decided from reduced integers only, so all ranks cut alike.
  void split(std::span<const std::uint64_t> keys, std::span<const Global> weights, const Comm& comm);

  /// What a checkpoint needs to cut in the same way again.
  struct State {
    Vec3 low = Vec3::Zero(), high = Vec3::Zero();
    Real edge = 0;
    std::vector<std::uint64_t> first;
  };
  State state() const { return {low_, high_, smallest_edge_, first_}; }
  void restore(const State& state);

 private:
  /// Cell of a coordinate: unbounded integers; the image of the box it lies in is taken off by instances().
  std::int64_t cell(Real x, int axis) const;
  std::uint64_t key_of_cells(std::int64_t x, std::int64_t y, std::int64_t z) const;

  PeriodicBox box_;
  std::array<bool, 3> cut_ = {true, true, true};
  Vec3 low_ = Vec3::Zero(), high_ = Vec3::Zero();  ///< as given to set_cells
  Vec3 origin_ = Vec3::Zero(), edge_ = Vec3::Zero();
  Real smallest_edge_ = 0;
  std::array<std::int64_t, 3> cells_ = {
      0, 0, 0};                       ///< cells across the box; more follow on both sides in open directions
  std::vector<std::uint64_t> first_;  ///< first key of each rank, ascending
};

}  // namespace talus
