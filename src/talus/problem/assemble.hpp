// W of any problem as an explicit matrix, for methods that factorise. Memory grows with the square of the contacts of
// a moving body, so this is for problems of some ten thousand contacts, on one process.
#pragma once
#include "talus/problem/cone_problem.hpp"

namespace talus {

/// N (relaxed law) or the problem's own W (exact law), as a sparse matrix. Throws InputError on several processes.
SparseMatrix assemble_matrix(const ConeProblem& problem, Law law);

}  // namespace talus
