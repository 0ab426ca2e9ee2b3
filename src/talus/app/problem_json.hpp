// One solve of a problem file as JSON: the record of `solve --json` and, in a list, of `compare --json`.
#pragma once
#include <nlohmann/json.hpp>

#include "talus/app/problem_command.hpp"

namespace talus {

nlohmann::ordered_json problem_record(const FclibProblem& file, const ConeProblem& problem,
                                      const SolverSettings& settings, const SolveReport& report);

}  // namespace talus
