// Fills: many spheres placed by rule in a box or cylinder. The same seed gives the same bits.
#pragma once
#include <span>
#include <vector>

#include "talus/base/random.hpp"
#include "talus/io/body_file.hpp"
#include "talus/io/scene.hpp"
#include "talus/shapes/shape.hpp"

namespace talus {

/// What is filled: a box [min, max] in axes turned by `orientation` about `centre`; with `radius` > 0 only
/// what is within that distance of the z axis through `centre`.
struct FillRegion {
  Vec3 min = Vec3::Zero(), max = Vec3::Zero();  ///< relative to the centre, in the region's axes
  Real radius = 0;
  Vec3 centre = Vec3::Zero();
  Quat orientation = Quat::Identity();

  /// Is the sphere inside, to rounding? `local` is in the region's axes, relative to the centre.
  bool holds(const Vec3& local, Real r) const;
  Vec3 to_world(const Vec3& local) const { return centre + orientation * local; }
  Real volume() const;
};

/// A body that stands in the way of random placement.
struct Obstacle {
  Shape shape;
  Vec3 position;
  Quat orientation;
  Real radius;  ///< of a sphere
  /// Distance from a point to the surface, ≤ 0 inside.
  Real distance(const Vec3& point) const;
};

/// Draws one radius.
Real draw_radius(const SizeDistribution& sizes, Random& random);

/// Positions, radii and velocities of a fill. Random placement keeps clear of `obstacles` and of the spheres
/// in `placed`. Throws InputError at the fill's place when the spheres do not fit.
BodyList fill_region(const SceneFill& fill, const FillRegion& region,
                     std::span<const Obstacle> obstacles = {}, const BodyList& placed = {});

/// Most bodies that this machine's memory can hold (1.5 kB each), for refusing what cannot work.
Global most_bodies();

}  // namespace talus
