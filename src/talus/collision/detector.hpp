// Detector: Bodies → Pairs → Contacts. It holds scratch memory only; what it finds is a function of its
// arguments, in canonical order, the same for any number of threads.
#pragma once
#include <memory>
#include <vector>

#include "talus/base/team.hpp"
#include "talus/bodies/bodies.hpp"
#include "talus/bodies/materials.hpp"
#include "talus/collision/contacts.hpp"
#include "talus/shapes/shape.hpp"

namespace talus {

struct DetectorSettings {
  Real margin = 0;  ///< m; contacts are listed up to this gap. 0: follows from the speeds and the step
};

/// What detection noticed, for the report of the step.
struct DetectorReport {
  Global pairs = 0;           ///< candidates of the broad phase
  Global capped = 0;          ///< contacts whose automatic margin was cut to half the smaller radius: h is too long
  Real suggested_step = 0;    ///< largest h for which no margin would have been cut (0 when none was)
  Real deepest = 0;           ///< largest penetration −φ found, ≥ 0
  Local deepest_a = -1, deepest_b = -1;
};

class Detector {
 public:
  Detector();
  ~Detector();
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;

  /// Lists all contacts of pairs that may touch within the margin. `velocity` is the free velocity of each body:
  /// the margin of a pair is what the two can close within one step `h` (docs/design.md, "Margin").
  DetectorReport find(const Bodies& bodies, const std::vector<Shape>& shapes, const Materials& materials,
                      const Array<Twist>& velocity, Real h, const DetectorSettings& settings, const Team& team,
                      Contacts& contacts);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

/// True when the narrow phase handles this pair of kinds (in either order); checked when a scene is loaded.
bool pair_supported(ShapeKind a, ShapeKind b);

/// The same result by testing every pair: the twin that tests hold the fast one against.
DetectorReport find_contacts_brute_force(const Bodies& bodies, const std::vector<Shape>& shapes,
                                         const Materials& materials, const Array<Twist>& velocity, Real h,
                                         const DetectorSettings& settings, Contacts& contacts);

}  // namespace talus
