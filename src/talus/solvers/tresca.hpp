// Friction for methods that know bounds only (Heyn13 §6): discs of fixed radius, Tresca's law, in an outer fixed point.
//
// With the discs' radii frozen at μγ_n the constraints are separable, {γ_n ≥ 0} × {‖γ_T‖ ≤ ρ}, and a fixed point
// ρ = μγ_n satisfies the exact Coulomb law. For the relaxed law De Saxcé's term μ‖u_T‖ is taken off the normal
// velocity as well, so that both laws have the same loop. Without friction there is nothing to iterate.
#pragma once
#include <cstdint>

#include "talus/solvers/methods.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {

/// A contact's rows by constraint: the normal, the tangential and the rolling part.
struct Parts {
  Real n = 0;
  Vec3 t = Vec3::Zero(), r = Vec3::Zero();
};
Parts split(const CoulombBlock& block, const Real* x);
Parts split(const AnyBlock& block, const Real* x);
void join(const CoulombBlock& block, const Parts& p, Real* x);
void join(const AnyBlock& block, const Parts& p, Real* x);

/// Which parts of a contact sit on the boundary of their constraint.
struct Activity {
  bool n = false, t = false, r = false;
  bool operator==(const Activity&) const = default;
};

class TrescaDiscs {
 public:
  explicit TrescaDiscs(const ConeProblem& problem) : problem_(&problem), radius_(problem.blocks()) {}

  /// Radii μγ_n (and μ_rγ_n) of γ.
  void set(const DualVector& gamma);
  /// Nearest point of the discs.
  void project(DualVector& x) const;
  /// x's parts that are free (or active) in `active`, the others zero.
  void keep(DualVector& x, const std::vector<Activity>& active, bool free_parts) const;
  void activity(const DualVector& x, std::vector<Activity>& active) const;
  /// Largest α with the free parts of x − αp inside.
  Real feasible_step(const DualVector& x, const DualVector& p, const std::vector<Activity>& active) const;

 private:
  struct Radius {
    Real t = 0, r = 0;
  };
  const ConeProblem* problem_;
  std::vector<Radius> radius_;
};

/// Minimises ½xᵀNx + rᵀx of the given problem over the discs, from x with gradient g. Calls `stop(x, g)` once per
/// iteration, with the number of products so far in `applications`, and returns when it says so or when its own
/// projected gradient has fallen by `reduction`.
using TrescaMinimizer = std::function<void(const ConeProblem& frozen, const TrescaDiscs& discs, DualVector& x, DualVector& g,
                                           Real reduction, int& applications,
                                           const std::function<bool(const DualVector&, const DualVector&)>& stop)>;

SolveReport solve_by_tresca_discs(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings,
                                  const TrescaMinimizer& minimize);

/// A bound on ‖N‖: power iteration, raised by a margin. `applications` counts its products.
Real norm_estimate(const ConeProblem& problem, int& applications);

}  // namespace talus
