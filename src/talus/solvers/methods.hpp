// One function per method; each has its own file, which cites the paper and follows its text.
#pragma once
#include <vector>

#include "talus/problem/sweep.hpp"
#include "talus/solvers/solver.hpp"

namespace talus {

SolveReport jacobi(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);
SolveReport gauss_seidel(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);
SolveReport nbgs(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);
SolveReport apgd(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);
SolveReport ags(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);
SolveReport spg(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);
SolveReport kucera(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);
SolveReport gpminres(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);
SolveReport admm(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings);

/// The exact law by a fixed point on De Saxcé's term around a method for the relaxed problem.
SolveReport exact_coulomb(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings,
                          SolveFunction relaxed);

/// f(block, i, first row) for all blocks, by the team.
template <class F>
void for_blocks(const ConeProblem& problem, F&& f) {
  problem.team().for_ranges(problem.blocks(),
                            [&](Local begin, Local end) { problem.cones().visit(begin, end, f); });
}

/// rows/trace(N_ii) of every block (of the matrices a sweep sees): the B of Heyn13 and Mazhar15.
std::vector<Real> trace_scales(const ConeProblem& problem, const Sweep* sweep = nullptr);

}  // namespace talus
