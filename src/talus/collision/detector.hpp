// Detector: Bodies → Pairs → Contacts. It holds scratch memory only; what it finds is a function of its
// arguments, in canonical order, the same for any number of threads.
#pragma once
#include <memory>
#include <vector>

#include "talus/algebra/halo.hpp"
#include "talus/base/team.hpp"
#include "talus/bodies/bodies.hpp"
#include "talus/bodies/contact_rule.hpp"
#include "talus/bodies/materials.hpp"
#include "talus/collision/contacts.hpp"
#include "talus/shapes/shape.hpp"

namespace talus {

struct DetectorSettings {
  Real margin =
      0;  ///< m; contacts are listed up to this gap. 0: follows from the speeds and the step (margin.hpp)
};

/// What detection noticed, for the report of the step.
struct DetectorReport {
  Global pairs = 0;   ///< candidates of the broad phase, of this process
  Global capped = 0;  ///< contacts whose automatic margin was cut to half the smaller radius: h is too long
  Real suggested_step = 0;  ///< largest h for which no margin would have been cut (0 when none was)
  Real deepest = 0;         ///< largest penetration −φ found, ≥ 0
  Local deepest_a = -1, deepest_b = -1;
};

class Detector {
 public:
  Detector();
  ~Detector();
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;

  /// Lists all contacts of pairs that may touch within the margin. `velocity` is the free velocity of each
  /// body (of driven ones the prescribed): the margin of a pair is what the two can close within one step `h`
  /// (margin.hpp). Pairs of which neither moves freely are left out, and those that groups and masks, or the
  /// rule of who treats a contact, exclude. Every rank must call it: margins are agreed upon between
  /// neighbours through `halo`.
  DetectorReport find(const Bodies& bodies, const std::vector<Shape>& shapes, const Materials& materials,
                      const Array<Twist>& velocity, Real h, const DetectorSettings& settings,
                      const Team& team, Contacts& contacts, const ContactRule& rule = every_contact(),
                      const Halo& halo = plain_halo());

  /// After a solve: did it give bodies velocities that close gaps nobody expected to close? Counts the pairs that
  /// `find` saw near but did not list and that `velocity` makes overlap by more than 1e-3 of the smaller inscribed
  /// radius at the end of the step, over all ranks, and widens their margins. `list_again` then lists the contacts
  /// with the margins as they are now. Both take the arguments of the last `find`; every rank must call them.
  Global count_missed(const Bodies& bodies, const std::vector<Shape>& shapes, const Materials& materials,
                      const Array<Twist>& velocity, Real h, const Team& team, const ContactRule& rule = every_contact());
  void list_again(const Bodies& bodies, const std::vector<Shape>& shapes, const Materials& materials, const Team& team,
                  Contacts& contacts, const ContactRule& rule = every_contact());

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
