// Beds for benches, made by Talus itself so that anyone can repeat them.
#pragma once
#include "talus/sim/world.hpp"

namespace talus {

/// Spheres of one size on a hexagonal close lattice, pulled apart and shaken by so little that about half of
/// the twelve neighbours of each are in touch: about 3 contacts per body, as in a settled bed. In an open
/// box; bodies along the Morton curve.
World shaken_packing(Local spheres);

/// Spheres of one size on a cubic lattice, in touch but for 1e-4 of the radius: 3 contacts per body, and it
/// stays so for the few steps of a bench. In an open box; bodies along the Morton curve.
World cubic_packing(Local spheres);

/// Spheres with radii 1:`ratio`, equally many in each octave, at random without overlap.
World random_mixture(Local spheres, Real ratio);

}  // namespace talus
