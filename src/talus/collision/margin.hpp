// Margin: up to which gap a contact is listed, so that nothing overlaps at the end of the step that the
// solver did not see coming, and little is listed in vain.
//
// Two bodies close on each other at their relative speed, but the step itself changes velocities: an impact
// travels through a resting bed at once. How much a body's velocity can change is its agitation
//     e_i = Δ_i + max over near bodies j of  m_j/(m_i + m_j) · |v_j − v_i|,   Δ_i = |free velocity −
//     velocity|,
// the change by the perfectly plastic collision with its most vehement neighbour, plus what gravity gave it
// in this step and a support may take away. It is passed on to bodies up to four neighbours away,
// undiminished: a floor that stops the first grain of a falling column stops those behind it too. The margin
// of a pair is
//     h (e_a + e_b),  at least 1e-3 and at most 1/2 of the smaller inscribed radius.
// (E1, 10 000 spheres falling: passing on 2/(k+2) at the k-th neighbour missed 14 contacts in 175 steps, 1
// this way, for 8 % more contacts; eight neighbours missed none for 18 % more.) It does not depend on the
// frame of reference: a cloud that falls as a whole lists nothing. The upper bound counts where a body may
// pass an edge; on the flat of a wall there is no passing by and no bound. Fixed and driven bodies do not
// accept agitation. "Near" means that the hulls overlap: bounding spheres enlarged for the largest margin
// there can be.
#pragma once
#include <vector>

#include "talus/algebra/halo.hpp"
#include "talus/base/team.hpp"
#include "talus/bodies/bodies.hpp"
#include "talus/collision/narrow_phase.hpp"
#include "talus/collision/pairs.hpp"
#include "talus/shapes/shape.hpp"

namespace talus {

class Margins {
 public:
  static constexpr Real least = 1e-3;  ///< of the smaller inscribed radius
  static constexpr Real most = 0.5;
  static constexpr int rounds = 4;  ///< how many neighbours away agitation is passed on

  /// How far beyond its surface a body's hull can reach, whatever the speeds: `hull` is never more than this
  /// larger.
  static Real largest_reach(const Shape& shape, Real radius, Real fixed_margin) {
    const Real core = shape.kind == ShapeKind::sphere ? radius : inscribed_radius(shape, 0);
    return 0.5 * (fixed_margin > 0 ? fixed_margin : most * (core > 0 ? core : radius));
  }

  /// Finds the largest closing speed there can be. `fixed_margin` > 0: that one for every pair.
  /// All ranks must call it.
  void prepare(const Bodies& bodies, const std::vector<Shape>& shapes, const Array<Twist>& velocity, Real h,
               Real fixed_margin, const Team& team);

  /// Radius around the centre of body i; pairs whose hulls do not overlap have no contact.
  Real hull(Local i) const {
    const Real margin = fixed_ > 0 ? fixed_ : std::clamp(largest_, least * core(i), most * core(i));
    return (radius_[i] + 0.5 * margin) * (1 + 1e-12);  // sums of two hulls are rounded; they must not miss
  }
  /// The same against walls.
  Real wall_hull(Local i) const {
    return (radius_[i] + (fixed_ > 0 ? fixed_ : std::max(largest_, least * core(i)))) * (1 + 1e-12);
  }

  /// Finds the agitation of every body from the near pairs. All ranks must call it.
  void agitate(const Bodies& bodies, const Array<Twist>& velocity, const Pairs& near, const Halo& halo,
               const Team& team);

  /// Bodies a and b close on each other at `speed`, whatever was expected of them.
  void expect(Local a, Local b, Real speed);
  bool is_fixed() const { return fixed_ > 0; }
  Real relative_speed(const Bodies& bodies, const Array<Twist>& velocity, Local a, Local b) const;
  /// Smaller inscribed radius of a pair.
  Real smaller_core(Local a, Local b) const { return std::min(core(a), core(b)); }

  struct PairMargin {
    Reach reach;
    Real wanted;  ///< what would be needed; more than reach.edge when the bound took effect
  };
  PairMargin of(Local a, Local b) const {
    if (fixed_ > 0) return {{fixed_, fixed_}, fixed_};
    const Real smaller = smaller_core(a, b), wanted = h_ * (agitation_[a] + agitation_[b]);
    const Real at_least = std::max(wanted, least * smaller);
    return {{at_least, std::min(at_least, most * smaller)}, wanted};
  }

 private:
  /// Inscribed radius.
  Real core(Local i) const {
    const Real c = core_of_shape_[shape_[i]];
    return c > 0 ? c : radius_[i];
  }
  Real spin(Local i, const Array<Twist>& velocity) const {
    return core_of_shape_[shape_[i]] > 0 && !std::isinf(radius_[i]) ? velocity[i].angular.norm() * radius_[i]
                                                                    : 0.0;
  }

  const Real* radius_ = nullptr;  ///< of the bodies under detection
  const Local* shape_ = nullptr;
  std::vector<Real> core_of_shape_;  ///< 0 for spheres, whose radius is the body's
  Real h_ = 0, fixed_ = 0, largest_ = 0;
  Array<Real> agitation_, next_;
  BodyVector exchanged_;
};

}  // namespace talus
