// summary.json and the few lines a run ends with.
#pragma once
#include <filesystem>
#include <string>

#include "talus/io/scene.hpp"
#include "talus/io/telemetry.hpp"

namespace talus {

/// What a summary needs beside the scene, the world and the totals.
struct RunFacts {
  std::string outcome = "finished";  ///< finished, interrupted, not_converged, guard, failed
  std::string reason;                ///< of any outcome but "finished"
  Global steps_wanted = 0;
  double wall_s = 0, cpu_s = 0;  ///< of the whole run, parts before a resume included
  int threads = 1, ranks = 1;
  std::string out;           ///< directory
  std::string resumed_from;  ///< checkpoint, empty when the run was started anew
  std::vector<std::string> overrides;
};

/// summary.json as text.
std::string summary_json(const Scene& scene, const World& world, const RunTotals& totals,
                         const RunFacts& facts);

/// The summary for people: unconverged steps first and loudly, then figures, then where to look.
std::string summary_text(const Scene& scene, const World& world, const RunTotals& totals,
                         const RunFacts& facts);

/// "apgd on the relaxed model (CCP), until residual \"scaled\" ≤ 0.001 or 1000 iterations": what is in force.
std::string solver_text(const Scene& scene);

/// Bodies of finite size: all but walls and containers.
Global body_count(const World& world);
Global peak_memory_bytes();
/// Seconds as people read them: "4.2 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace talus
