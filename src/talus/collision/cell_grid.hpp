// CellGrid: finds all pairs of spheres ("hulls") that overlap, in time linear in their number whatever their
// sizes.
//
// A hierarchical grid. Each hull lives on the level whose cells are just as wide as it is or up to twice
// that, in the cell of its centre; so on its own level it can only meet hulls of the 26 cells around, and on
// a coarser level those of a few cells. Only occupied cells exist: hulls are sorted by (level, Morton code of
// the cell), and blocks of 4³ cells are found through a hash table, each with a bit per occupied cell. Cell
// numbers are taken modulo 2^19 in each direction: bodies far apart may share a cell, which costs a distance
// test and changes nothing, so coordinates are not limited.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "talus/base/array.hpp"
#include "talus/base/team.hpp"
#include "talus/collision/radix_sort.hpp"
#include "talus/math/vec.hpp"

namespace talus {

class CellGrid {
 public:
  struct Hull {
    Vec3 centre;
    Real radius;
    bool overlaps(const Hull& other) const {
      const Real sum = radius + other.radius;
      return (centre - other.centre).squaredNorm() < sum * sum;
    }
  };

  /// A group of bodies close together, as one of the grid's pieces of work: hulls [first, last) in the grid's
  /// order.
  struct Group {
    Local first, last;
    Vec3 low, high;  ///< box around the hulls
  };

  /// Sorts hulls into the grid: that of body member[k] has radius(member[k]) and its centre at the body's
  /// position. Throws RunError where one is not finite.
  void build(const Array<Local>& member, const Array<Vec3>& position,
             const std::function<Real(Local)>& radius, const Team& team);

  /// Pieces of work: each has blocks of neighbouring cells.
  int pieces() const { return static_cast<int>(piece_.size()) - 1; }

  /// Appends the pairs of bodies (as of make_pair_key) whose hulls overlap and which piece p is responsible
  /// for: over all pieces each pair comes once.
  void find_pairs(int p, std::vector<std::uint64_t>& pairs) const;

  /// The groups of piece p: over all pieces every hull is in one group.
  void find_groups(int p, std::vector<Group>& groups) const;

  const Hull& hull(Local k) const { return hull_[k]; }
  Local body(Local k) const { return body_[k]; }

 private:
  struct Block {
    std::uint64_t key;       ///< level and Morton code, without the six bits within the block
    std::uint64_t occupied;  ///< a bit per cell, in Morton order
    Local first_cell;
  };
  struct Level {
    std::uint64_t number;  ///< powers of two above the finest
    Real edge, per_edge;   ///< width of a cell, and its inverse
  };
  using Cell = Eigen::Matrix<std::int64_t, 3, 1>;
  struct Near;  // scratch of one piece: hulls of a block and around it, by cell

  void make_blocks(const Team& team);
  Local block_first(Local block) const { return cell_start_[block_[block].first_cell]; }
  Cell cell_of(const Vec3& x, const Level& level) const {
    return ((x - origin_) * level.per_edge).array().floor().cast<std::int64_t>();
  }
  Local find_block(std::uint64_t key) const;
  Group group_of(Local first, Local last) const;
  void groups_of_block(Local block, std::vector<Group>& groups) const;
  void pairs_on_level(Local block, Near& near, std::vector<std::uint64_t>& pairs) const;
  void pairs_with_coarser(const Group& group, const Level& coarser, Near& near,
                          std::vector<std::uint64_t>& pairs) const;

  Array<Hull> hull_;  ///< in the grid's order, as is body_
  Array<Local> body_;
  Array<Real> radius_;  ///< in the order given
  Array<std::uint64_t> key_;
  RadixSort radix_;
  Vec3 origin_ = Vec3::Zero();  ///< low corner of the box around all centres
  std::vector<Level> levels_;   ///< those that hold a hull, finest first
  Array<Local> cell_start_;     ///< first hull of each occupied cell, and the end
  Array<Block> block_;
  Array<Local> table_;  ///< hash table of blocks, −1 where empty
  int table_bits_ = 0;
  std::vector<Local> piece_{0};  ///< first block of each piece, and the end
};

}  // namespace talus
