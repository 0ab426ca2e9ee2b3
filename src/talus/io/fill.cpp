#include "talus/io/fill.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "talus/base/error.hpp"

namespace talus {
namespace {

constexpr Real rounding = 1e-9;  // relative: what counts as touching, not as overlap

[[noreturn]] void fail(const SceneFill& fill, const std::string& what) {
  throw InputError(fmt::format("{}: error: fill{}: {}", fill.at.text(),
                               fill.name.empty() ? "" : " '" + fill.name + "'", what));
}

void check_count(const SceneFill& fill, Real count) {
  if (!(count <= static_cast<Real>(most_bodies())))
    fail(
        fill,
        fmt::format(
            "{:.3g} spheres cannot fit in the memory of this machine (about {:.2g}); give a larger radius, a "
            "smaller region or a smaller count",
            count, static_cast<Real>(most_bodies())));
}

/// Spheres hashed by the cell of their centre, cells as wide as the largest diameter: neighbours are in 27
/// cells.
class SphereGrid {
 public:
  SphereGrid(Real width, std::size_t expected) : width_(width) {
    std::size_t slots = 1024;
    while (slots < 2 * expected && slots < (std::size_t{1} << 28)) slots *= 2;
    head_.assign(slots, -1);
  }
  void add(const Vec3& p, Real r) {
    const std::size_t slot = slot_of(cell_of(p));
    next_.push_back(head_[slot]);
    head_[slot] = static_cast<Local>(position_.size());
    position_.push_back(p);
    radius_.push_back(r);
  }
  /// Is there room for a sphere that keeps `gap` from all others?
  bool free(const Vec3& p, Real r, Real gap) const {
    const std::array<std::int64_t, 3> c = cell_of(p);
    for (std::int64_t x = c[0] - 1; x <= c[0] + 1; ++x)
      for (std::int64_t y = c[1] - 1; y <= c[1] + 1; ++y)
        for (std::int64_t z = c[2] - 1; z <= c[2] + 1; ++z)
          for (Local k = head_[slot_of({x, y, z})]; k >= 0; k = next_[k]) {
            const Real least = r + radius_[k] + gap;
            if ((position_[k] - p).squaredNorm() < least * least) return false;
          }
    return true;
  }

 private:
  std::array<std::int64_t, 3> cell_of(const Vec3& p) const {
    std::array<std::int64_t, 3> c;
    for (int k = 0; k < 3; ++k)
      c[k] = static_cast<std::int64_t>(std::floor(std::clamp(p[k] / width_, -4e18, 4e18)));
    return c;
  }
  std::size_t slot_of(const std::array<std::int64_t, 3>& c) const {
    return mix64(mix64(mix64(static_cast<std::uint64_t>(c[0])) ^ static_cast<std::uint64_t>(c[1])) ^
                 static_cast<std::uint64_t>(c[2])) &
           (head_.size() - 1);
  }
  Real width_;
  std::vector<Local> head_, next_;
  std::vector<Vec3> position_;
  std::vector<Real> radius_;
};

/// Sites that fit in an extent, the first `first` from its lower end and the last at least `last` from its
/// upper.
std::int64_t sites(Real extent, Real first, Real last, Real spacing) {
  const Real n = std::floor((extent - first - last) / spacing + 1 + rounding);
  return n < 1 ? 0 : static_cast<std::int64_t>(std::min(n, 1e12));
}

/// Cubic lattice, plain or jittered, from the bottom up.
void fill_lattice(const SceneFill& fill, const FillRegion& region, Random& random, BodyList& out) {
  const bool jittered = fill.arrangement == Arrangement::jittered;
  const Real largest = fill.radius.largest(), needed = (2 + fill.gap) * largest;
  const Vec3 extent = region.max - region.min;
  Real spacing = fill.spacing.value_or(jittered ? 1.1 * needed : needed);
  // A plain lattice stands on the walls; a jittered one keeps whole cells inside.
  auto counts = [&](Real s) {
    const Real edge = jittered ? 0.5 * s : largest;
    return std::array{sites(extent.x(), edge, edge, s), sites(extent.y(), edge, edge, s),
                      sites(extent.z(), edge, edge, s)};
  };
  // what is left over goes to both sides
  auto first_site = [&](Real s, const std::array<std::int64_t, 3>& n) {
    Vec3 first = region.min + Vec3::Constant(jittered ? 0.5 * s : largest);
    if (!fill.cells)
      for (int k = 0; k < 2; ++k)
        first[k] = region.min[k] + 0.5 * (extent[k] - static_cast<Real>(n[k] - 1) * s);
    return first;
  };
  auto inside = [&](const Vec3& p, Real s) {
    // a jittered sphere stays in its cell, so the cell's corner must be in the cylinder
    if (jittered && region.radius > 0)
      return std::hypot(p.x(), p.y()) + s / std::numbers::sqrt2 <= region.radius;
    return region.holds(p, largest);
  };
  /// Sites of a lattice; in a cylinder those of one layer are counted.
  auto total = [&](Real s) {
    const auto n = counts(s);
    Real layer = static_cast<Real>(n[0]) * static_cast<Real>(n[1]);
    if (region.radius > 0 && n[2] > 0) {
      layer = 0;
      const Vec3 first = first_site(s, n);
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < n[0]; ++x)
          layer += inside(first + s * Vec3(static_cast<Real>(x), static_cast<Real>(y), 0), s);
    }
    return layer * static_cast<Real>(n[2]);
  };
  if (jittered && fill.count && !fill.spacing && !fill.cells) {
    // the widest cells of which enough fit: all the free room goes to the displacements
    spacing = std::max(needed, std::cbrt(extent.prod() / static_cast<Real>(*fill.count)));
    while (spacing > needed && total(spacing) < static_cast<Real>(*fill.count))
      spacing = std::max(needed, 0.99 * spacing);
  }
  if (spacing < needed * (1 - rounding))
    fail(fill, fmt::format("spacing = {} would make neighbours overlap; it must be at least {} (two of the "
                           "largest radius plus "
                           "gap)",
                           spacing, needed));
  std::array<std::int64_t, 3> n = counts(spacing);
  if (fill.cells) {
    for (int k = 0; k < 3; ++k) {
      if ((*fill.cells)[k] > n[k])
        fail(
            fill,
            fmt::format(
                "cells asks for {} spheres in {}, only {} fit; make the region larger or the spheres smaller",
                (*fill.cells)[k], "xyz"[k], n[k]));
      n[k] = (*fill.cells)[k];
    }
  }
  check_count(fill, fill.count ? static_cast<Real>(*fill.count)
                               : static_cast<Real>(n[0]) * static_cast<Real>(n[1]) * static_cast<Real>(n[2]));
  const Vec3 first = first_site(spacing, n);
  for (std::int64_t z = 0; z < n[2]; ++z)
    for (std::int64_t y = 0; y < n[1]; ++y)
      for (std::int64_t x = 0; x < n[0]; ++x) {
        if (fill.count && static_cast<Global>(out.position.size()) == *fill.count) return;
        Vec3 p = first + spacing * Vec3(static_cast<Real>(x), static_cast<Real>(y), static_cast<Real>(z));
        if (!inside(p, spacing)) continue;
        const Real r = draw_radius(fill.radius, random);
        if (jittered) {
          const Real room = fill.jitter * std::max(0.0, 0.5 * (spacing - fill.gap * largest) - r);
          for (int k = 0; k < 3; ++k) p[k] += random.uniform(-room, room);
        }
        out.position.push_back(region.to_world(p));
        out.radius.push_back(r);
      }
}

/// Hexagonal close packing: layers ABAB of rows (Preclik15 §7.2.2), touching.
void fill_hcp(const SceneFill& fill, const FillRegion& region, BodyList& out) {
  if (fill.radius.kind != SizeDistribution::Kind::fixed)
    fail(fill, "hcp needs spheres of one size; give radius as a number");
  const Real r = fill.radius.value, pitch = (1 + 0.5 * fill.gap) * r;  // half the distance of neighbours
  const Vec3 step(2 * pitch, std::numbers::sqrt3 * pitch, 2 * std::sqrt(2.0 / 3.0) * pitch);
  const Vec3 extent = region.max - region.min;
  std::array<std::int64_t, 3> n;
  for (int k = 0; k < 3; ++k) n[k] = sites(extent[k], r, r, step[k]);
  if (fill.cells) {
    // every other row and layer is shifted
    const Vec3 shift((*fill.cells)[1] > 1 || (*fill.cells)[2] > 1 ? pitch : 0,
                     (*fill.cells)[2] > 1 ? step.y() / 3 : 0, 0);
    for (int k = 0; k < 3; ++k) {
      const std::int64_t fit = sites(extent[k] - shift[k], r, r, step[k]);
      if ((*fill.cells)[k] > fit)
        fail(
            fill,
            fmt::format(
                "cells asks for {} spheres in {}, only {} fit; make the region larger or the spheres smaller",
                (*fill.cells)[k], "xyz"[k], fit));
      n[k] = (*fill.cells)[k];
    }
  }
  check_count(fill, fill.count ? static_cast<Real>(*fill.count)
                               : static_cast<Real>(n[0]) * static_cast<Real>(n[1]) * static_cast<Real>(n[2]));
  const Vec3 first = region.min + Vec3::Constant(r);
  for (std::int64_t z = 0; z < n[2]; ++z)
    for (std::int64_t y = 0; y < n[1]; ++y)
      for (std::int64_t x = 0; x < n[0]; ++x) {
        if (fill.count && static_cast<Global>(out.position.size()) == *fill.count) return;
        const Vec3 p = first + Vec3(pitch * static_cast<Real>(2 * x + ((y + z) & 1)),
                                    step.y() * (static_cast<Real>(y) + static_cast<Real>(z & 1) / 3),
                                    step.z() * static_cast<Real>(z));
        if (!region.holds(p, r)) continue;
        out.position.push_back(region.to_world(p));
        out.radius.push_back(r);
      }
}

/// Random sequential addition, the largest first, so that small ones find the gaps.
void fill_random(const SceneFill& fill, const FillRegion& region, std::span<const Obstacle> obstacles,
                 const BodyList& placed, Random& random, BodyList& out) {
  const Real largest = fill.radius.largest(), gap = fill.gap * largest;
  const Global most = fill.count
                          ? *fill.count
                          : static_cast<Global>(std::min(
                                9e15, region.volume() / (4.18 * std::pow(fill.radius.smallest(), 3)) + 1));
  if (fill.count) check_count(fill, static_cast<Real>(most));
  std::vector<Real> radii;
  if (fill.count) {
    for (Global i = 0; i < most; ++i) radii.push_back(draw_radius(fill.radius, random));
    std::sort(radii.begin(), radii.end(), std::greater<>());
    Real solid = 0;
    for (Real r : radii) solid += 4.0 / 3.0 * std::numbers::pi * r * r * r;
    if (solid > 0.74 * region.volume())
      fail(fill, fmt::format("{} spheres have {:.3g} of the volume of the region, no packing has more than "
                             "0.74; make the region "
                             "larger or the spheres fewer",
                             most, solid / region.volume()));
  }
  Real widest = largest;
  for (Real r : placed.radius) widest = std::max(widest, r);
  SphereGrid grid(2 * widest + gap,
                  placed.position.size() + (fill.count ? static_cast<std::size_t>(most) : 0));
  for (std::size_t i = 0; i < placed.position.size(); ++i) grid.add(placed.position[i], placed.radius[i]);
  constexpr int tries = 20000;
  for (Global i = 0; i < most; ++i) {
    const Real r = fill.count ? radii[static_cast<std::size_t>(i)] : draw_radius(fill.radius, random);
    bool found = false;
    if ((region.max - region.min).minCoeff() >= 2 * r) {
      for (int k = 0; k < tries && !found; ++k) {
        Vec3 local;
        for (int c = 0; c < 3; ++c) local[c] = random.uniform(region.min[c] + r, region.max[c] - r);
        if (region.radius > 0 && std::hypot(local.x(), local.y()) > region.radius - r) continue;
        const Vec3 p = region.to_world(local);
        found =
            grid.free(p, r, gap) && std::all_of(obstacles.begin(), obstacles.end(),
                                                [&](const Obstacle& o) { return o.distance(p) >= r + gap; });
        if (found) {
          grid.add(p, r);
          out.position.push_back(p);
          out.radius.push_back(r);
        }
      }
    }
    if (!found && fill.count)
      fail(fill,
           fmt::format(
               "only {} of {} spheres found room in {} tries each; random placement reaches a solid fraction "
               "of "
               "about 0.35: make the region larger, the spheres fewer, or use arrangement = \"jittered\"",
               i, most, tries));
    if (!found) return;
    if (!fill.count && i > most_bodies()) check_count(fill, static_cast<Real>(i));
  }
}

}  // namespace

bool FillRegion::holds(const Vec3& local, Real r) const {
  const Real slack = rounding * r;
  for (int k = 0; k < 3; ++k)
    if (local[k] - r < min[k] - slack || local[k] + r > max[k] + slack) return false;
  return radius == 0 || std::hypot(local.x(), local.y()) + r <= radius + slack;
}

Real FillRegion::volume() const {
  const Vec3 extent = max - min;
  return radius > 0 ? std::numbers::pi * radius * radius * extent.z() : extent.prod();
}

Real Obstacle::distance(const Vec3& point) const {
  const Vec3 local = orientation.conjugate() * (point - position);
  switch (shape.kind) {
    case ShapeKind::sphere:
      return local.norm() - radius;
    case ShapeKind::box: {
      const Vec3 q = local.cwiseAbs() - shape.half;
      return q.cwiseMax(0).norm() + std::min(q.maxCoeff(), 0.0);
    }
    case ShapeKind::cylinder: {
      const Real a = std::hypot(local.x(), local.y()) - shape.radius,
                 b = std::abs(local.z()) - shape.half.z();
      return std::hypot(std::max(a, 0.0), std::max(b, 0.0)) + std::min(std::max(a, b), 0.0);
    }
    case ShapeKind::half_space:
      return local.z();
    default:
      return std::numeric_limits<Real>::infinity();  // containers: the region keeps inside
  }
}

Real SizeDistribution::largest() const {
  if (kind == Kind::fixed) return value;
  return kind == Kind::discrete ? *std::max_element(values.begin(), values.end()) : max;
}

Real SizeDistribution::smallest() const {
  if (kind == Kind::fixed) return value;
  return kind == Kind::discrete ? *std::min_element(values.begin(), values.end()) : min;
}

Real draw_radius(const SizeDistribution& sizes, Random& random) {
  using Kind = SizeDistribution::Kind;
  switch (sizes.kind) {
    case Kind::uniform:
      return random.uniform(sizes.min, sizes.max);
    case Kind::lognormal: {
      // inverse of the normal distribution between the cut-offs, by bisection on erfc: no value is ever
      // rejected
      const Real a = std::log(sizes.min / sizes.median) / sizes.sigma,
                 b = std::log(sizes.max / sizes.median) / sizes.sigma;
      auto cumulative = [](Real x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); };
      const Real u = random.uniform(cumulative(a), cumulative(b));
      Real low = a, high = b;
      for (int k = 0; k < 48; ++k) {
        const Real middle = 0.5 * (low + high);
        (cumulative(middle) < u ? low : high) = middle;
      }
      return std::clamp(sizes.median * std::exp(sizes.sigma * 0.5 * (low + high)), sizes.min, sizes.max);
    }
    case Kind::discrete: {
      Real total = 0;
      for (Real w : sizes.weights) total += w;
      Real u = random.uniform() * total;
      for (std::size_t k = 0; k + 1 < sizes.values.size(); ++k) {
        if (u < sizes.weights[k]) return sizes.values[k];
        u -= sizes.weights[k];
      }
      return sizes.values.back();
    }
    default:
      return sizes.value;
  }
}

BodyList fill_region(const SceneFill& fill, const FillRegion& region, std::span<const Obstacle> obstacles,
                     const BodyList& placed) {
  Random random(static_cast<std::uint64_t>(fill.seed));
  BodyList out;
  switch (fill.arrangement) {
    case Arrangement::random:
      fill_random(fill, region, obstacles, placed, random, out);
      break;
    case Arrangement::hcp:
      fill_hcp(fill, region, out);
      break;
    default:
      fill_lattice(fill, region, random, out);
  }
  const Global got = static_cast<Global>(out.position.size());
  if (got == 0) fail(fill, "not one sphere fits; make the region larger or the spheres smaller");
  if (fill.count && got < *fill.count)
    fail(fill, fmt::format("only {} of {} spheres fit; make the region larger, the spheres smaller or fewer",
                           got, *fill.count));
  out.velocity.resize(out.position.size());
  for (Vec3& v : out.velocity) {
    v = fill.velocity;
    if (fill.random_speed > 0) {
      Vec3 w;
      do {
        for (int k = 0; k < 3; ++k) w[k] = random.uniform(-1, 1);
      } while (w.squaredNorm() > 1);
      v += fill.random_speed * w;
    }
  }
  return out;
}

Global most_bodies() {
  const Real bytes = static_cast<Real>(sysconf(_SC_PHYS_PAGES)) * static_cast<Real>(sysconf(_SC_PAGE_SIZE));
  return static_cast<Global>(std::min(bytes / 1500, 2e9));
}

}  // namespace talus
