// Between problem files and the contact problems that solvers take.
#pragma once
#include <filesystem>
#include <string>

#include "talus/io/fclib.hpp"
#include "talus/problem/cone_problem.hpp"

namespace talus {

/// The problem of a file: explicit W, cones in the file's frames (N first). Units for the `scaled` residual,
/// which a file does not state: mass 1/mean(W_NN), speed the root mean square of q per contact.
ConeProblem cone_problem(const FclibProblem& file, const Team& team);

/// One step of the engine in FCLib's global form: moving bodies in the order of `bodies` with (v, ω) in world
/// axes, f = M v_free, frames (n, t1, t2) by math's tangents(), the gap term and bodies that do not move
/// freely in w. The answer γ, when given, becomes the stored solution. Only for problems built from contacts,
/// on one process.
FclibProblem fclib_of_step(const ConeProblem& problem, const Bodies& bodies,
                           const DualVector* gamma = nullptr);

/// Writes one step into DIRECTORY/problem_STEP.hdf5 (made when it is not there) and returns the file's path.
std::filesystem::path write_step_problem(const std::filesystem::path& directory, Global step, Real time,
                                         Real h, const ConeProblem& problem, const Bodies& bodies,
                                         const DualVector& gamma);

/// The answer in a file's rows: what /solution holds.
FclibProblem::State fclib_state(const ConeProblem& problem, const DualVector& gamma);

}  // namespace talus
