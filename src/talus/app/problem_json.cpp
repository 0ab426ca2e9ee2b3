#include "talus/app/problem_json.hpp"

namespace talus {

nlohmann::ordered_json problem_record(const FclibProblem& file, const ConeProblem& problem,
                                      const SolverSettings& settings, const SolveReport& report) {
  nlohmann::ordered_json residuals;
  for (const std::string_view name : residual_names())
    residuals[std::string(name)] = report.residuals[residual_kind(name)];
  return {{"name", file.name},
          {"contacts", problem.contacts()},
          {"solver", settings.solver},
          {"model", model_word(settings.model)},
          {"tolerance", settings.tolerance},
          {"tolerance_on", settings.residual},
          {"status", std::string(status_name(report.status))},
          {"iterations", report.iterations},
          {"applications", report.applications},
          {"outer_iterations", report.outer_iterations},
          {"factorizations", report.factorizations},
          {"wall_s", report.wall_seconds},
          {"cpu_s", report.cpu_seconds},
          {"threads", problem.team().threads()},
          {"objective", report.objective},
          {"residual", residuals},
          {"velocity_norm", report.velocity_norm}};
}

}  // namespace talus
