#include "talus/collision/detector.hpp"

#include <algorithm>
#include <limits>

#include "talus/base/error.hpp"
#include "talus/collision/cell_grid.hpp"
#include "talus/collision/margin.hpp"
#include "talus/collision/narrow_phase.hpp"
#include "talus/collision/pairs.hpp"

namespace talus {
namespace {

/// What a search works on.
struct Scene {
  const Bodies& bodies;
  const std::vector<Shape>& shapes;
  const Materials& materials;

  const Shape& shape(Local i) const { return shapes[bodies.shape[i]]; }
  Solid solid(Local i) const {
    return {shape(i), bodies.radius[i], bodies.position[i], bodies.orientation[i]};
  }
  bool unbounded(Local i) const { return is_unbounded(shape(i).kind); }
  bool wanted(Local i, Local j) const {
    return (bodies.moves_freely(i) || bodies.moves_freely(j)) && bodies.may_touch(i, j);
  }
};

/// The bounded bodies, and the others.
void part_bodies(const Scene& scene, Array<Local>& bounded, std::vector<Local>& walls) {
  bounded.clear();
  bounded.reserve(scene.bodies.size());
  walls.clear();
  for (Local i = 0; i < scene.bodies.size(); ++i)
    if (scene.unbounded(i))
      walls.push_back(i);
    else
      bounded.push_back(i);
}

bool near_wall(const Scene& scene, const Margins& margins, Local i, Local wall) {
  return wall_distance(scene.solid(wall), scene.bodies.position[i]) < margins.wall_hull(i);
}

/// Contacts of near pairs, and what was noticed on the way.
class NarrowPhase {
 public:
  /// \pre each run of `near` is in order. \post pairs with contacts are at the beginning of each run, in
  /// order, the others after them in any order.
  void find(const Scene& scene, const Margins& margins, const ContactRule& rule, Pairs& near,
            const Team& team, Contacts& contacts, DetectorReport& report);

  /// Where the pairs of a run that have no contacts begin, after `find`.
  std::size_t without_contacts(const Pairs& near, int run) const { return near.begin(run) + runs_[run].kept; }

 private:
  struct Listed {  // a contact of a pair that is not two spheres
    std::uint64_t pair;
    ContactPoint at;
  };
  struct Run {
    std::size_t kept = 0;  ///< pairs with contacts
    Local contacts = 0, first = 0;
    std::vector<Listed> listed;
    Global capped = 0;
    Real shortest = 1;  ///< least (margin used / margin wanted) where the bound took effect
    Real deepest = 0;
    Local deepest_a = -1, deepest_b = -1;
  };
  std::vector<Run> runs_;
};

void NarrowPhase::find(const Scene& scene, const Margins& margins, const ContactRule& rule, Pairs& near,
                       const Team& team, Contacts& contacts, DetectorReport& report) {
  const Bodies& bodies = scene.bodies;
  std::vector<char> is_sphere;
  for (const Shape& s : scene.shapes) is_sphere.push_back(s.kind == ShapeKind::sphere);
  const auto two_spheres = [&](Local a, Local b) {
    return is_sphere[bodies.shape[a]] && is_sphere[bodies.shape[b]];
  };

  // which pairs have contacts, and how many; spheres are computed again below, other contacts are kept
  runs_.resize(near.runs());
  team.for_pieces(near.runs(), [&](int r) {
    Run& run = runs_[r];
    std::vector<Listed> listed = std::move(run.listed);
    listed.clear();
    run = Run{};
    std::size_t kept = near.begin(r);
    Manifold manifold;
    for (std::size_t k = near.begin(r); k < near.end(r); ++k) {
      const std::uint64_t pair = near[k];
      const Local a = pair_a(pair), b = pair_b(pair);
      if (b >= bodies.owned && !rule.treats(a, b)) continue;
      const auto [reach, wanted] = margins.of(a, b);
      Real gap = std::numeric_limits<Real>::infinity();
      Local count = 0;
      if (two_spheres(a, b)) {
        gap = (bodies.position[b] - bodies.position[a]).norm() - (bodies.radius[a] + bodies.radius[b]);
        count = gap < reach.edge;
      } else {
        manifold.clear();
        const bool in_order = bodies.id[a] < bodies.id[b];
        collide(scene.solid(in_order ? a : b), scene.solid(in_order ? b : a), reach, manifold);
        std::sort(manifold.begin(), manifold.end(),
                  [](const auto& p, const auto& q) { return p.feature < q.feature; });
        for (ContactPoint& c : manifold) {
          if (!in_order) c.normal = -c.normal;
          gap = std::min(gap, c.gap);
          listed.push_back({pair, c});
        }
        count = manifold.size();
      }
      if (count == 0) continue;
      std::swap(near[kept++], near[k]);
      run.contacts += count;
      if (wanted > reach.flat || (wanted > reach.edge && !scene.unbounded(a) && !scene.unbounded(b))) {
        run.capped += count;
        run.shortest = std::min(run.shortest, reach.edge / wanted);
      }
      if (-gap > run.deepest) {
        run.deepest = -gap;
        run.deepest_a = a;
        run.deepest_b = b;
      }
    }
    run.kept = kept - near.begin(r);
    run.listed = std::move(listed);
  });

  Global total = 0;
  Real shortest = 1;
  for (Run& run : runs_) {
    run.first = static_cast<Local>(total);
    total += run.contacts;
    report.capped += run.capped;
    shortest = std::min(shortest, run.shortest);
    if (run.deepest > report.deepest) {
      report.deepest = run.deepest;
      report.deepest_a = run.deepest_a;
      report.deepest_b = run.deepest_b;
    }
  }
  if (total > std::numeric_limits<Local>::max())
    throw RunError("more contacts than one process can number (2^31)");
  report.suggested_step = report.capped > 0 ? shortest : 0;  // times h, by the caller

  contacts.resize(static_cast<Local>(total));
  team.for_pieces(near.runs(), [&](int r) {
    const Run& run = runs_[r];
    Local c = run.first;
    auto other = run.listed.begin();
    for (std::size_t k = near.begin(r); k < near.begin(r) + run.kept; ++k) {
      const Local a = pair_a(near[k]), b = pair_b(near[k]);
      const Real friction = scene.materials.pair(bodies.material[a], bodies.material[b]).friction;
      // Both arms end at one point, so that friction makes no couple: midway between the surfaces, or on the
      // surface of the one body that moves freely (a ball then rolls on a plane whatever the gap).
      const Real to_surface = 0.5 * (bodies.moves_freely(b) - bodies.moves_freely(a));
      const auto put = [&](std::uint32_t feature, const Vec3& n, const Vec3& arm_a, const Vec3& arm_b,
                           Real gap) {
        contacts.a[c] = a;
        contacts.b[c] = b;
        contacts.feature[c] = feature;
        contacts.normal[c] = n;
        contacts.arm_a[c] = arm_a + to_surface * gap * n;
        contacts.arm_b[c] = arm_b + to_surface * gap * n;
        contacts.gap[c] = gap;
        contacts.friction[c] = friction;
        ++c;
      };
      if (two_spheres(a, b)) {
        const Vec3 d = bodies.position[b] - bodies.position[a];
        const Real distance = d.norm(), gap = distance - (bodies.radius[a] + bodies.radius[b]);
        const Vec3 n = distance > 0 ? Vec3(d / distance) : Vec3(Vec3::UnitZ());
        put(0, n, n * (bodies.radius[a] + 0.5 * gap), n * -(bodies.radius[b] + 0.5 * gap), gap);
      } else {
        for (; other != run.listed.end() && other->pair == near[k]; ++other)
          put(other->at.feature, other->at.normal, other->at.point - bodies.position[a],
              other->at.point - bodies.position[b], other->at.gap);
      }
    }
  });
}

}  // namespace

struct Detector::Scratch {
  Array<Local> bounded;
  std::vector<Local> walls;
  Margins margins;
  CellGrid grid;
  std::vector<std::vector<std::uint64_t>> found;  ///< by piece of the grid
  Pairs near;
  NarrowPhase narrow;
};

Detector::Detector() : scratch_(std::make_unique<Scratch>()) {}
Detector::~Detector() = default;
Detector::Detector(Detector&&) noexcept = default;
Detector& Detector::operator=(Detector&&) noexcept = default;

DetectorReport Detector::find(const Bodies& bodies, const std::vector<Shape>& shapes,
                              const Materials& materials, const Array<Twist>& velocity, Real h,
                              const DetectorSettings& settings, const Team& team, Contacts& contacts,
                              const ContactRule& rule, const Halo& halo) {
  Scratch& s = *scratch_;
  const Scene scene{bodies, shapes, materials};

  // hulls into the grid
  part_bodies(scene, s.bounded, s.walls);
  s.margins.prepare(bodies, shapes, velocity, h, settings.margin, team);
  s.grid.build(
      s.bounded, bodies.position, [&](Local i) { return s.margins.hull(i); }, team);

  // near pairs
  s.found.resize(s.grid.pieces());
  team.for_pieces(s.grid.pieces(), [&](int p) {
    auto& found = s.found[p];
    s.grid.find_pairs(p, found);
    std::erase_if(found, [&](std::uint64_t key) { return !scene.wanted(pair_a(key), pair_b(key)); });
    std::vector<CellGrid::Group> groups;
    if (!s.walls.empty()) s.grid.find_groups(p, groups);
    for (const CellGrid::Group& g : groups) {
      Real reach = 0;  // a group is far from a wall when a sphere around it is
      for (Local k = g.first; k < g.last; ++k) reach = std::max(reach, s.margins.wall_hull(s.grid.body(k)));
      const Vec3 centre = 0.5 * (g.low + g.high);
      reach += 0.5 * (g.high - g.low).norm();
      for (Local wall : s.walls) {
        if (!(wall_distance(scene.solid(wall), centre) < reach)) continue;
        for (Local k = g.first; k < g.last; ++k) {
          const Local i = s.grid.body(k);
          if (scene.wanted(i, wall) && near_wall(scene, s.margins, i, wall))
            found.push_back(make_pair_key(i, wall));
        }
      }
    }
  });
  s.near.gather(s.found, bodies.size(), team);

  // contacts
  DetectorReport report;
  report.pairs = static_cast<Global>(s.near.size());
  s.margins.agitate(bodies, velocity, s.near, halo, team);
  s.narrow.find(scene, s.margins, rule, s.near, team, contacts, report);
  report.suggested_step *= h;
  return report;
}

Global Detector::count_missed(const Bodies& bodies, const std::vector<Shape>& shapes,
                              const Materials& materials, const Array<Twist>& velocity, Real h,
                              const Team& team, const ContactRule& rule) {
  Scratch& s = *scratch_;
  const Scene scene{bodies, shapes, materials};

  // does the pair overlap at the end of the step, by how it moves now?
  const auto overlaps = [&](Local a, Local b, Real speed) {
    const Real reach = h * speed, smaller = s.margins.smaller_core(a, b);
    if (!scene.unbounded(a) && !scene.unbounded(b) &&
        (bodies.position[b] - bodies.position[a]).norm() > bodies.radius[a] + bodies.radius[b] + reach)
      return false;
    Manifold manifold;
    const bool in_order = bodies.id[a] < bodies.id[b];
    const Local first = in_order ? a : b, second = in_order ? b : a;
    collide(scene.solid(first), scene.solid(second), {reach, std::min(reach, Margins::most * smaller)},
            manifold);
    return std::any_of(manifold.begin(), manifold.end(), [&](const ContactPoint& c) {
      const Vec3 u = velocity_at(velocity[second], c.point - bodies.position[second]) -
                     velocity_at(velocity[first], c.point - bodies.position[first]);
      return c.gap + h * u.dot(c.normal) < -Margins::least * smaller;
    });
  };
  std::vector<Global> missed(s.near.runs(), 0);
  if (!s.margins.is_fixed())
    team.for_pieces(s.near.runs(), [&](int run) {
      for (std::size_t k = s.narrow.without_contacts(s.near, run); k < s.near.end(run); ++k) {
        const Local a = pair_a(s.near[k]), b = pair_b(s.near[k]);
        if (b >= bodies.owned && !rule.treats(a, b)) continue;
        const Real speed = s.margins.relative_speed(bodies, velocity, a, b);
        if (!overlaps(a, b, speed)) continue;
        s.margins.expect(a, b, speed);
        ++missed[run];
      }
    });
  Global total = 0;
  for (Global m : missed) total += m;
  team.comm().sum(std::span<Global>(&total, 1));
  return total;
}

void Detector::list_again(const Bodies& bodies, const std::vector<Shape>& shapes, const Materials& materials,
                          const Team& team, Contacts& contacts, const ContactRule& rule) {
  Scratch& s = *scratch_;
  team.for_pieces(s.near.runs(), [&](int run) { s.near.restore_order(run); });
  DetectorReport same;  // what was noticed the first time holds
  s.narrow.find({bodies, shapes, materials}, s.margins, rule, s.near, team, contacts, same);
}

DetectorReport find_contacts_brute_force(const Bodies& bodies, const std::vector<Shape>& shapes,
                                         const Materials& materials, const Array<Twist>& velocity, Real h,
                                         const DetectorSettings& settings, Contacts& contacts) {
  const Team team(1);
  const Scene scene{bodies, shapes, materials};
  Margins margins;
  margins.prepare(bodies, shapes, velocity, h, settings.margin, team);
  const auto near = [&](Local i, Local j) {
    if (scene.unbounded(i)) return near_wall(scene, margins, j, i);
    if (scene.unbounded(j)) return near_wall(scene, margins, i, j);
    return CellGrid::Hull{bodies.position[i], margins.hull(i)}.overlaps(
        {bodies.position[j], margins.hull(j)});
  };
  std::vector<std::vector<std::uint64_t>> found(1);
  for (Local i = 0; i < bodies.size(); ++i)
    for (Local j = i + 1; j < bodies.size(); ++j) {
      if (scene.unbounded(i) && scene.unbounded(j)) continue;
      if (scene.wanted(i, j) && near(i, j)) found[0].push_back(make_pair_key(i, j));
    }
  Pairs pairs;
  pairs.gather(found, bodies.size(), team);
  DetectorReport report;
  report.pairs = static_cast<Global>(pairs.size());
  margins.agitate(bodies, velocity, pairs, plain_halo(), team);
  NarrowPhase().find(scene, margins, every_contact(), pairs, team, contacts, report);
  report.suggested_step *= h;
  return report;
}

}  // namespace talus
