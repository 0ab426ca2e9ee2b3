// The parts of a step that touch one body at a time: free flight before the solve, motion after it.
#pragma once
#include "talus/algebra/halo.hpp"
#include "talus/base/team.hpp"
#include "talus/problem/cone_problem.hpp"
#include "talus/sim/world.hpp"

namespace talus {

/// v* = v + h M⁻¹ f for free bodies; the prescribed velocity, taken in the middle of the step, for driven ones.
void free_flight(const World& world, Real h, const Team& team, BodyVector& free_velocity);

/// q⁺ = q + h v⁺; orientations by the exponential map, angular momentum carried across the rotation (V1).
/// \post velocity of free bodies has ω = I(q⁺)⁻¹ L with L = I(q) ω⁺.
void integrate(World& world, const BodyVector& new_velocity, Real h, const Team& team);

/// Sorts the bodies along the Morton curve over their present box; fixed and unbounded ones last.
void sort_bodies(Bodies& bodies, const Team& team);

/// Units for the scaled residual: mean mass of free bodies, and g·h (without gravity: their mean speed).
ProblemScales step_units(const World& world, const BodyVector& free_velocity, Real h, const Team& team);

}  // namespace talus
