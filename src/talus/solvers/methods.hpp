// One function per method; each has its own file, which cites the paper and follows its text.
#pragma once
#include "talus/solvers/solver.hpp"

namespace talus {

SolveReport apgd(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);

/// The exact law by a fixed point on De Saxcé's term around a method for the relaxed problem.
SolveReport exact_coulomb(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings,
                          SolveFunction relaxed);

}  // namespace talus
