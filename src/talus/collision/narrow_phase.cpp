#include "talus/collision/narrow_phase.hpp"

#include <utility>

#include "talus/collision/detector.hpp"

namespace talus {
namespace {

void sphere_sphere(const Solid& a, const Solid& b, const Reach& reach, Manifold& out) {
  const Vec3 d = b.position - a.position;
  const Real distance = d.norm(), gap = distance - (a.radius + b.radius);
  if (!(gap < reach.edge)) return;
  const Vec3 n = distance > 0 ? Vec3(d / distance) : Vec3(Vec3::UnitZ());
  out.add(n, a.position + n * (a.radius + 0.5 * gap), gap, 0);
}

using Collide = void (*)(const Solid&, const Solid&, const Reach&, Manifold&);

/// What to call for a pair of kinds in ascending order; null where the pair is not supported.
Collide pair_function(ShapeKind a, ShapeKind b) {
  using K = ShapeKind;
  constexpr auto pair = [](K x, K y) { return static_cast<int>(x) * shape_kind_count + static_cast<int>(y); };
  switch (pair(a, b)) {
    case pair(K::sphere, K::sphere):
      return sphere_sphere;
    case pair(K::sphere, K::box):
      return sphere_box;
    case pair(K::sphere, K::cylinder):
      return sphere_cylinder;
    case pair(K::sphere, K::half_space):
      return sphere_half_space;
    case pair(K::sphere, K::hollow_box):
      return sphere_hollow_box;
    case pair(K::sphere, K::hollow_cylinder):
      return sphere_hollow_cylinder;
    case pair(K::box, K::box):
      return box_box;
    case pair(K::box, K::half_space):
      return box_half_space;
    case pair(K::box, K::hollow_box):
      return box_hollow_box;
    case pair(K::cylinder, K::half_space):
      return cylinder_half_space;
    default:
      return nullptr;
  }
}

}  // namespace

void collide(const Solid& a, const Solid& b, const Reach& reach, Manifold& out) {
  if (a.shape.kind <= b.shape.kind) {
    if (const Collide f = pair_function(a.shape.kind, b.shape.kind)) f(a, b, reach, out);
    return;
  }
  const int before = out.size();
  if (const Collide f = pair_function(b.shape.kind, a.shape.kind)) f(b, a, reach, out);
  for (int i = before; i < out.size(); ++i) out[i].normal = -out[i].normal;
}

bool pair_supported(ShapeKind a, ShapeKind b) {
  return pair_function(std::min(a, b), std::max(a, b)) != nullptr;
}

}  // namespace talus
