// The contact problem of one step:  find γ ∈ K, g = N γ + r ∈ K*, γ ⟂ g   (min ½ γᵀNγ + rᵀγ over K).
//
// DRAFT of the interface that other rooms may rely on; `problem` owns this file and completes it.
#pragma once
#include <span>

#include "talus/algebra/halo.hpp"
#include "talus/base/team.hpp"
#include "talus/bodies/bodies.hpp"
#include "talus/collision/contacts.hpp"

namespace talus {

/// Units of the problem for the scaled residual: m̄ (mean mass of moving bodies) and g·h (or the mean speed).
struct ProblemScales {
  Real mass = 1;
  Real speed = 1;
};

}  // namespace talus
