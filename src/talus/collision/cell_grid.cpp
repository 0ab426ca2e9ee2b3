#include "talus/collision/cell_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "talus/base/error.hpp"
#include "talus/collision/pairs.hpp"
#include "talus/math/morton.hpp"

namespace talus {
namespace {

constexpr int cell_bits = 19, code_bits = 3 * cell_bits;  // a direction; all three
constexpr std::uint64_t cell_mask = (std::uint64_t{1} << cell_bits) - 1;
constexpr std::uint64_t most_levels = 63;

// Morton codes of blocks: two bits a direction fewer than those of cells. Sums are taken with the other
// directions' bits filled so that the carry runs through them.
constexpr std::uint64_t block_code_mask = (std::uint64_t{1} << (code_bits - 6)) - 1;
constexpr std::uint64_t spread_x = 0x1249249249249249ULL & block_code_mask;
std::uint64_t shifted_code(std::uint64_t code, int dx, int dy, int dz) {
  const int d[3] = {dx, dy, dz};
  std::uint64_t sum = 0;
  for (int k = 0; k < 3; ++k) {
    const std::uint64_t mask = spread_x << k & block_code_mask, one = std::uint64_t{1} << k;
    const std::uint64_t mine = code & mask;
    sum |= (d[k] > 0 ? (mine | ~mask) + one : d[k] < 0 ? mine - one : mine) & mask;
  }
  return sum;
}

// The hulls of a block and of those around it that pairs on one level may involve, in 6×6×5 cells, x fastest:
// from each cell one looks forward only, to x+1, to the row y+1, and to three rows of z+1.
constexpr int near_x = 6, near_y = 6, near_z = 5, near_cells = near_x * near_y * near_z;

struct Around {
  int dx, dy, dz;
  std::uint64_t wanted = 0;             ///< cells of that block that are among the near ones
  std::array<std::int16_t, 64> slot{};  ///< where they are
};

struct AroundTable {
  std::vector<Around> list;
  std::array<std::array<int, 3>, 64> cell;  ///< coordinates within a block by Morton code
  AroundTable() {
    for (int z = 0; z < 4; ++z)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) cell[morton_code(x, y, z)] = {x, y, z};
    for (int dz = 0; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          Around a{dx, dy, dz};
          for (int c = 0; c < 64; ++c) {
            const int x = 4 * dx + cell[c][0] + 1, y = 4 * dy + cell[c][1] + 1, z = 4 * dz + cell[c][2];
            if (x < 0 || x >= near_x || y < 0 || y >= near_y || z >= near_z) continue;
            a.wanted |= std::uint64_t{1} << c;
            a.slot[c] = static_cast<std::int16_t>(x + near_x * (y + near_y * z));
          }
          list.push_back(a);
        }
  }
};
const AroundTable& around() {
  static const AroundTable table;
  return table;
}

/// Where the powers of two of the cell widths lie: the upper end of the mantissa bin for which hulls fill
/// their cells best, so that hulls of one size have cells of just that size.
Real best_mantissa(const Array<Real>& radius, const Team& team) {
  constexpr int bins = 16;
  struct Count {
    std::array<Local, bins> hulls{};
    std::array<Real, bins> largest{};
  };
  const Local n = static_cast<Local>(radius.size());
  std::vector<Count> partial(Team::piece_count(n));
  team.for_pieces(static_cast<int>(partial.size()), [&](int p) {
    Count& mine = partial[p];
    for (Local k = p * Team::piece_size; k < std::min<Local>(n, (p + 1) * Team::piece_size); ++k) {
      int exponent;
      const Real mantissa = std::frexp(2 * radius[k], &exponent);
      const int bin = std::clamp(static_cast<int>((mantissa - 0.5) * 2 * bins), 0, bins - 1);
      ++mine.hulls[bin];
      mine.largest[bin] = std::max(mine.largest[bin], mantissa);
    }
  });
  Count all;
  for (const Count& c : partial)
    for (int b = 0; b < bins; ++b) {
      all.hulls[b] += c.hulls[b];
      all.largest[b] = std::max(all.largest[b], c.largest[b]);
    }
  Real best = 1, least = std::numeric_limits<Real>::infinity();
  for (int top = 0; top < bins; ++top) {
    if (all.hulls[top] == 0) continue;
    Real cost = 0;  // volume of the cells over that of the hulls
    for (int b = 0; b < bins; ++b) {
      if (all.hulls[b] == 0) continue;
      const Real ratio = (b <= top ? 1 : 2) * all.largest[top] / all.largest[b];
      cost += all.hulls[b] * ratio * ratio * ratio;
    }
    if (cost < least) least = cost, best = all.largest[top];
  }
  return best;
}

/// For each level of hulls sorted by (level, cell): the coarsest on which they would still hardly share
/// cells. A body looks for partners on its own and on all coarser levels, so few well-filled levels are
/// better than many sparse ones.
std::vector<int> sparse_levels_raised(const Array<std::uint64_t>& key, int levels, const Team& team) {
  constexpr Real most_in_cell = 1.5;  // seen from a hull, itself included
  std::vector<int> home(levels);
  team.for_pieces(levels, [&](int level) {
    const auto first =
        std::lower_bound(key.begin(), key.end(), static_cast<std::uint64_t>(level) << code_bits);
    const auto last = std::lower_bound(first, key.end(), static_cast<std::uint64_t>(level + 1) << code_bits);
    home[level] = level;
    for (int up = 1; level + up < levels; ++up) {
      Real squares = 0;
      for (auto run = first; run != last;) {
        auto end = run;
        while (end != last && *end >> 3 * up == *run >> 3 * up) ++end;
        squares += Real(end - run) * Real(end - run);
        run = end;
      }
      if (squares > most_in_cell * Real(last - first)) break;
      home[level] = level + up;
    }
  });
  return home;
}

}  // namespace

struct CellGrid::Near {
  struct Span {
    int slot;
    Local first, count;
  };
  std::array<Local, near_cells + 1> start;
  std::array<Span, near_cells> span;
  int spans = 0;
  std::vector<Hull> hull;
  std::vector<Local> body;
};

void CellGrid::build(const Array<Local>& member, const Array<Vec3>& position,
                     const std::function<Real(Local)>& radius, const Team& team) {
  const Local n = static_cast<Local>(member.size());
  hull_.resize(n);
  levels_.clear();
  block_.clear();
  piece_.assign(1, 0);
  if (n == 0) return;
  radius_.resize(n);
  team.for_each(n, [&](Local k) { radius_[k] = radius(member[k]); });

  // the box around all centres
  struct Box {
    Vec3 low = Vec3::Constant(std::numeric_limits<Real>::infinity());
    Vec3 high = Vec3::Constant(-std::numeric_limits<Real>::infinity());
    Local bad = -1;
  };
  std::vector<Box> partial(Team::piece_count(n));
  team.for_pieces(static_cast<int>(partial.size()), [&](int p) {
    Box& box = partial[p];
    for (Local k = p * Team::piece_size; k < std::min<Local>(n, (p + 1) * Team::piece_size); ++k) {
      const Vec3& centre = position[member[k]];
      if (!std::isfinite(centre.sum() + radius_[k]) && box.bad < 0) box.bad = k;
      box.low = box.low.cwiseMin(centre);
      box.high = box.high.cwiseMax(centre);
    }
  });
  Box box;
  for (const Box& b : partial) {
    if (b.bad >= 0)
      throw RunError(
          fmt::format("body at index {} has a position that is not a finite number", member[b.bad]));
    box.low = box.low.cwiseMin(b.low);
    box.high = box.high.cwiseMax(b.high);
  }
  origin_ = box.low;
  const Real extent = (box.high - box.low).maxCoeff();

  // levels: cells of `mantissa`·2^e, as narrow as the hull allows
  const Real mantissa = best_mantissa(radius_, team);
  const auto exponent_of = [&](Local k) {
    int exponent;
    return std::frexp(2 * radius_[k], &exponent) <= mantissa ? exponent : exponent + 1;
  };
  const auto range = [&] {
    std::vector<std::array<int, 2>> parts(Team::piece_count(n));
    team.for_pieces(static_cast<int>(parts.size()), [&](int p) {
      auto& mine = parts[p];
      mine = {std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
      for (Local k = p * Team::piece_size; k < std::min<Local>(n, (p + 1) * Team::piece_size); ++k) {
        const int e = exponent_of(k);
        mine = {std::min(mine[0], e), std::max(mine[1], e)};
      }
    });
    std::array<int, 2> all = parts[0];
    for (const auto& p : parts) all = {std::min(all[0], p[0]), std::max(all[1], p[1])};
    return all;
  }();
  const int finest = std::max(range[0], range[1] - static_cast<int>(most_levels));
  std::vector<Level> all_levels;
  for (int e = finest; e <= range[1]; ++e) {
    // coordinates are rounded: cells a little wider than the hull make up for it
    const Real edge = std::ldexp(mantissa, e) + 8 * std::numeric_limits<Real>::epsilon() * extent;
    all_levels.push_back({static_cast<std::uint64_t>(e - finest), edge, 1 / edge});
  }

  // sort by (level, Morton code of the cell); where a level is sparse its hulls move to a coarser one
  key_.resize(n);
  body_.resize(n);
  std::vector<int> home(all_levels.size());
  std::iota(home.begin(), home.end(), 0);
  const auto sort_by_cell = [&] {
    team.for_each(n, [&](Local k) {
      const Level& level = all_levels[home[std::max(exponent_of(k), finest) - finest]];
      const Cell c = cell_of(position[member[k]], level);
      key_[k] =
          level.number << code_bits | morton_code(c.x() & cell_mask, c.y() & cell_mask, c.z() & cell_mask);
      body_[k] = k;
    });
    radix_.sort(key_, body_, team);
  };
  sort_by_cell();
  if (all_levels.size() > 1) {
    const std::vector<int> fuller = sparse_levels_raised(key_, static_cast<int>(all_levels.size()), team);
    if (fuller != home) {
      home = fuller;
      sort_by_cell();
    }
  }
  team.for_each(n, [&](Local k) {
    const Local from = body_[k];
    body_[k] = member[from];
    hull_[k] = {position[body_[k]], radius_[from]};
  });
  make_blocks(team);
  for (const Block& b : block_)
    if (levels_.empty() || levels_.back().number != b.key >> (code_bits - 6))
      levels_.push_back(all_levels[b.key >> (code_bits - 6)]);
}

void CellGrid::make_blocks(const Team& team) {
  const Local n = static_cast<Local>(key_.size());
  // count, then fill
  const int parts = Team::piece_count(n);
  std::vector<std::array<Local, 2>> first(parts);
  const auto each_cell = [&](int p, auto&& on_cell) {
    for (Local k = p * Team::piece_size; k < std::min<Local>(n, (p + 1) * Team::piece_size); ++k)
      if (k == 0 || key_[k] != key_[k - 1]) on_cell(k, k == 0 || key_[k] >> 6 != key_[k - 1] >> 6);
  };
  team.for_pieces(parts, [&](int p) {
    std::array<Local, 2> count{};
    each_cell(p, [&](Local, bool new_block) { ++count[0], count[1] += new_block; });
    first[p] = count;
  });
  std::array<Local, 2> total{};
  for (auto& f : first) {
    const auto count = f;
    f = total;
    total = {total[0] + count[0], total[1] + count[1]};
  }
  cell_start_.resize(total[0] + 1);
  cell_start_[total[0]] = n;
  block_.resize(total[1] + 1);
  team.for_pieces(parts, [&](int p) {
    auto cell = first[p][0], block = first[p][1];
    each_cell(p, [&](Local k, bool new_block) {
      if (new_block) block_[block++] = {key_[k] >> 6, 0, cell};
      cell_start_[cell++] = k;
    });
  });
  block_[total[1]] = {~std::uint64_t{0}, 0, total[0]};  // the end
  const Local blocks = total[1];
  team.for_each(blocks, [&](Local b) {
    std::uint64_t occupied = 0;
    for (Local c = block_[b].first_cell; c < block_[b + 1].first_cell; ++c)
      occupied |= std::uint64_t{1} << (key_[cell_start_[c]] & 63);
    block_[b].occupied = occupied;
  });
  block_.pop_back();

  table_bits_ = std::bit_width(static_cast<std::uint64_t>(2 * blocks));
  table_.assign(std::size_t{1} << table_bits_, -1);
  for (Local b = 0; b < blocks; ++b) {
    std::uint64_t at = block_[b].key * 0x9e3779b97f4a7c15ULL >> (64 - table_bits_);
    while (table_[at] >= 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = b;
  }

  const Local share = std::max<Local>(1024, n / 512);
  piece_.assign(1, 0);
  Local begin = 0;
  for (Local b = 1; b < blocks; ++b)
    if (block_first(b) - begin >= share) {
      piece_.push_back(b);
      begin = block_first(b);
    }
  piece_.push_back(blocks);
}

Local CellGrid::find_block(std::uint64_t key) const {
  std::uint64_t at = key * 0x9e3779b97f4a7c15ULL >> (64 - table_bits_);
  for (; table_[at] >= 0; at = (at + 1) & (table_.size() - 1))
    if (block_[table_[at]].key == key) return table_[at];
  return -1;
}

CellGrid::Group CellGrid::group_of(Local first, Local last) const {
  Group g{first, last, hull_[first].centre, hull_[first].centre};
  for (Local k = first; k < last; ++k) {
    g.low = g.low.cwiseMin(hull_[k].centre - Vec3::Constant(hull_[k].radius));
    g.high = g.high.cwiseMax(hull_[k].centre + Vec3::Constant(hull_[k].radius));
  }
  return g;
}

void CellGrid::groups_of_block(Local block, std::vector<Group>& groups) const {
  const Local first = block_first(block);
  const Local last = block + 1 < static_cast<Local>(block_.size()) ? block_first(block + 1)
                                                                   : static_cast<Local>(hull_.size());
  const Group whole = group_of(first, last);
  const std::uint64_t number = block_[block].key >> (code_bits - 6);
  const auto level =
      std::find_if(levels_.begin(), levels_.end(), [&](const Level& l) { return l.number == number; });
  if ((whole.high - whole.low).maxCoeff() < 6 * level->edge) {
    groups.push_back(whole);
    return;
  }
  for (Local k = first; k < last; ++k)
    groups.push_back(group_of(k, k + 1));  // far apart, in one block by the modulus
}

void CellGrid::find_groups(int p, std::vector<Group>& groups) const {
  for (Local b = piece_[p]; b < piece_[p + 1]; ++b) groups_of_block(b, groups);
}

void CellGrid::find_pairs(int p, std::vector<std::uint64_t>& pairs) const {
  Near near;
  std::vector<Group> groups;
  for (Local b = piece_[p]; b < piece_[p + 1]; ++b) {
    pairs_on_level(b, near, pairs);
    const std::uint64_t number = block_[b].key >> (code_bits - 6);
    if (number == levels_.back().number) continue;
    groups.clear();
    groups_of_block(b, groups);
    for (const Group& g : groups)
      for (const Level& level : levels_)
        if (level.number > number) pairs_with_coarser(g, level, near, pairs);
  }
}

void CellGrid::pairs_on_level(Local block, Near& near, std::vector<std::uint64_t>& pairs) const {
  const std::uint64_t code = block_[block].key & block_code_mask,
                      level_bits = block_[block].key & ~block_code_mask;
  near.start.fill(0);
  near.spans = 0;
  for (const Around& a : around().list) {
    const bool own = !(a.dx | a.dy | a.dz);
    const Local b = own ? block : find_block(level_bits | shifted_code(code, a.dx, a.dy, a.dz));
    if (b < 0) continue;
    for (std::uint64_t cells = block_[b].occupied & a.wanted; cells; cells &= cells - 1) {
      const int c = std::countr_zero(cells);
      const std::uint64_t before = block_[b].occupied & ((std::uint64_t{1} << c) - 1);
      const Local cell = block_[b].first_cell + std::popcount(before);
      const Local first = cell_start_[cell], count = cell_start_[cell + 1] - first;
      near.span[near.spans++] = {a.slot[c], first, count};
      near.start[a.slot[c] + 1] = count;
    }
  }
  for (int s = 0; s < near_cells; ++s) near.start[s + 1] += near.start[s];
  const Local total = near.start[near_cells];
  if (total < 2) return;
  near.hull.resize(total);
  near.body.resize(total);
  for (int s = 0; s < near.spans; ++s) {
    const auto [slot, first, count] = near.span[s];
    std::copy_n(hull_.begin() + first, count, near.hull.begin() + near.start[slot]);
    std::copy_n(body_.begin() + first, count, near.body.begin() + near.start[slot]);
  }

  const auto test = [&](Local i, Local begin, Local end) {
    const Hull me = near.hull[i];
    for (Local j = begin; j < end; ++j)
      if (me.overlaps(near.hull[j])) pairs.push_back(make_pair_key(near.body[i], near.body[j]));
  };
  for (int z = 0; z < 4; ++z)
    for (int y = 1; y <= 4; ++y)
      for (int x = 1; x <= 4; ++x) {
        const int s = x + near_x * (y + near_y * z);
        const auto row = [&](int dy, int dz) { return s + near_x * (dy + near_y * dz); };
        for (Local i = near.start[s]; i < near.start[s + 1]; ++i) {
          test(i, i + 1, near.start[s + 2]);
          for (const int r : {row(1, 0), row(-1, 1), row(0, 1), row(1, 1)})
            test(i, near.start[r - 1], near.start[r + 2]);
        }
      }
}

void CellGrid::pairs_with_coarser(const Group& group, const Level& coarser, Near& near,
                                  std::vector<std::uint64_t>& pairs) const {
  const Vec3 reach = Vec3::Constant(0.5 * coarser.edge);  // no hull of that level is larger
  const Cell low = cell_of(group.low - reach, coarser), high = cell_of(group.high + reach, coarser);
  near.hull.clear();
  near.body.clear();
  Cell b;
  for (b.z() = low.z() >> 2; b.z() <= high.z() >> 2; ++b.z())
    for (b.y() = low.y() >> 2; b.y() <= high.y() >> 2; ++b.y())
      for (b.x() = low.x() >> 2; b.x() <= high.x() >> 2; ++b.x()) {
        const std::uint64_t mask = cell_mask >> 2;
        const Local found = find_block(coarser.number << (code_bits - 6) |
                                       morton_code(b.x() & mask, b.y() & mask, b.z() & mask));
        if (found < 0) continue;
        Local cell = block_[found].first_cell;
        for (std::uint64_t cells = block_[found].occupied; cells; cells &= cells - 1, ++cell) {
          const auto& [x, y, z] = around().cell[std::countr_zero(cells)];
          const Cell c = 4 * b + Cell(x, y, z);
          if ((c.array() < low.array()).any() || (c.array() > high.array()).any()) continue;
          for (Local j = cell_start_[cell]; j < cell_start_[cell + 1]; ++j) {
            const Vec3& x_j = hull_[j].centre;
            const Vec3 away = x_j - x_j.cwiseMax(group.low).cwiseMin(group.high);
            if (!(away.squaredNorm() < hull_[j].radius * hull_[j].radius)) continue;
            near.hull.push_back(hull_[j]);
            near.body.push_back(body_[j]);
          }
        }
      }
  for (std::size_t j = 0; j < near.hull.size(); ++j)
    for (Local i = group.first; i < group.last; ++i)
      if (hull_[i].overlaps(near.hull[j])) pairs.push_back(make_pair_key(body_[i], near.body[j]));
}

}  // namespace talus
