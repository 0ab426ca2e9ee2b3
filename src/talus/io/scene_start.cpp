#include "talus/io/scene_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "talus/base/error.hpp"
#include "talus/collision/detector.hpp"

namespace talus {
namespace {

const BodySource& source_of(Local body, const std::vector<BodySource>& sources) {
  return *std::find_if(sources.begin(), sources.end(),
                       [&](const BodySource& s) { return body >= s.begin && body < s.end; });
}

std::string describe(Local body, const BodySource& source) {
  if (source.end - source.begin == 1) return source.label;
  return fmt::format("sphere {} of {}", body - source.begin, source.label);
}

void check_finite(const World& world, const std::vector<BodySource>& sources, Complaints& complaints) {
  const Bodies& b = world.bodies;
  for (Local i = 0; i < b.size(); ++i)
    if (!b.position[i].allFinite() || !b.velocity[i].linear.allFinite() ||
        !b.velocity[i].angular.allFinite()) {
      const BodySource& s = source_of(i, sources);
      complaints.error(s.at, fmt::format("{} has a position or velocity that is not finite", describe(i, s)));
      return;
    }
}

/// One body stands for all of a table: they have the same shape, group and mask.
void check_pairs(const World& world, const std::vector<BodySource>& sources, Complaints& complaints) {
  const Bodies& b = world.bodies;
  std::set<std::pair<ShapeKind, ShapeKind>> told;
  for (std::size_t s = 0; s < sources.size(); ++s)
    for (std::size_t t = s; t < sources.size(); ++t) {
      const Local i = sources[s].begin, j = sources[t].begin;
      if (sources[s].end == i || sources[t].end == j || (s == t && sources[s].end - i < 2)) continue;
      if (!b.moves_freely(i) && !b.moves_freely(j)) continue;
      const ShapeKind a = world.shapes[b.shape[i]].kind, c = world.shapes[b.shape[j]].kind;
      if (!b.may_touch(i, j) || pair_supported(a, c) || !told.insert(std::minmax(a, c)).second) continue;
      complaints.error(
          sources[t].at,
          fmt::format("{} ({}) may touch {} ({}), and this pair of shapes is not supported; use another "
                      "shape, or keep them apart with group and ignores",
                      sources[t].label, shape_name(c), sources[s].label, shape_name(a)));
    }
}

void check_overlap(const Scene& scene, const World& world, const std::vector<BodySource>& sources,
                   Complaints& complaints) {
  const Bodies& b = world.bodies;
  auto size = [&](Local i) { return inscribed_radius(world.shapes[b.shape[i]], b.radius[i]); };
  Real smallest = std::numeric_limits<Real>::infinity();
  for (Local i = 0; i < b.size(); ++i) smallest = std::min(smallest, size(i));
  Array<Twist> rest(static_cast<std::size_t>(b.size()));
  Detector detector;
  Contacts contacts;
  DetectorSettings settings;
  settings.margin = 1e-3 * smallest;
  detector.find(b, world.shapes, world.materials, rest, scene.simulation.step, settings, Team(1), contacts);
  Global count = 0;
  Real worst = 0;
  Local at = -1;
  for (Local c = 0; c < contacts.size(); ++c) {
    if (!b.moves_freely(contacts.a[c]) && !b.moves_freely(contacts.b[c])) continue;
    const Real overlap = -contacts.gap[c] / std::min(size(contacts.a[c]), size(contacts.b[c]));
    if (!(overlap > scene.collision.start_overlap)) continue;
    ++count;
    if (overlap > worst) worst = overlap, at = c;
  }
  if (at < 0) return;
  Local i = contacts.a[at], j = contacts.b[at];
  const BodySource *s = &source_of(i, sources), *t = &source_of(j, sources);
  if (b.moves_freely(j) && !b.moves_freely(i))
    std::swap(i, j), std::swap(s, t);  // complain about what can be moved
  const Vec3& p = b.position[i];
  complaints.error(
      s->at, fmt::format("{} at [{:.6g}, {:.6g}, {:.6g}] overlaps {} by {:.3g} m, {:.3g} of its size{}; move "
                         "them apart (up to "
                         "collision.start_overlap = {} is allowed)",
                         describe(i, *s), p.x(), p.y(), p.z(), describe(j, *t), -contacts.gap[at], worst,
                         count > 1 ? fmt::format(" ({} such contacts, this is the worst)", count) : "",
                         scene.collision.start_overlap));
}

}  // namespace

void check_start(const Scene& scene, const World& world, const std::vector<BodySource>& sources) {
  Complaints complaints;
  check_finite(world, sources, complaints);
  check_pairs(world, sources, complaints);
  complaints.raise_if_any();
  check_overlap(scene, world, sources, complaints);
  complaints.raise_if_any();
}

}  // namespace talus
