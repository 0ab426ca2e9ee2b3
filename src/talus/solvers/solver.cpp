#include "talus/solvers/solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "talus/base/error.hpp"
#include "talus/solvers/methods.hpp"

namespace talus {
namespace {

constexpr std::array table = {
    SolverInfo{"jacobi", "Heyn13 4.1", "all", false, jacobi},
    SolverInfo{"gauss_seidel", "Mazhar15 Alg. 2", "all", false, gauss_seidel},
    SolverInfo{"nbgs", "Preclik15 5-6", "all; exact law itself", true, nbgs},
    SolverInfo{"apgd", "Mazhar15 Alg. 1, De20 III-A", "all", false, apgd},
    SolverInfo{"ags", "ours (docs/solvers.md)", "all", false, ags},
    SolverInfo{"spg", "Heyn13 4.3 (P-SPG-FB)", "all", false, spg},
    SolverInfo{"kucera", "Heyn13 4.4", "all; friction by Tresca discs", true, kucera},
    SolverInfo{"gpminres", "Heyn13 4.2", "all; friction by Tresca discs", true, gpminres},
    SolverInfo{"admm", "ours (docs/solvers.md)", "all; exact law itself; one process", true, admm},
};

}  // namespace

std::string_view model_name(Model model) {
  constexpr std::string_view names[] = {"relaxed", "exact", "lagged"};
  return names[static_cast<int>(model)];
}

std::string_view status_name(Status status) {
  constexpr std::string_view names[] = {"converged", "max_iterations", "stalled", "interrupted"};
  return names[static_cast<int>(status)];
}

Model model_kind(std::string_view name) {
  if (name == "relaxed" || name == "ccp") return Model::relaxed;
  if (name == "exact" || name == "ncp") return Model::exact;
  if (name == "lagged") return Model::lagged;
  throw InputError(fmt::format("unknown contact model \"{}\"; there are: relaxed (ccp), exact (ncp), lagged", name));
}

std::span<const SolverInfo> solver_table() { return table; }

const SolverInfo& find_solver(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SolverInfo& info : table) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw InputError(fmt::format("unknown solver \"{}\"; there are: {}", name, fmt::join(names, ", ")));
}

std::vector<Real> trace_scales(const ConeProblem& problem, const Sweep* sweep) {
  std::vector<Real> B(problem.blocks());
  problem.team().for_each(problem.blocks(), [&](Local i) {
    const BlockMetric P = sweep ? sweep->metric(i) : problem.metric(i);
    Real trace = 1 / P.n;
    Real rows = 1;
    switch (problem.cones().kind(i)) {
      case ConeKind::coulomb: trace += 2 / P.t, rows = 3; break;
      case ConeKind::planar: trace += 1 / P.t, rows = 2; break;
      case ConeKind::rolling: trace += 2 / P.t + 2 / P.r, rows = 5; break;
      case ConeKind::free: break;
    }
    B[i] = rows / trace;
  });
  return B;
}

SolveReport solve(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings,
                  std::span<const Real> slip) {
  const SolverInfo& solver = find_solver(settings.solver);
  switch (settings.model) {
    case Model::relaxed: break;
    case Model::exact:
      return solver.exact_law ? solver.run(problem, gamma, settings)
                              : exact_coulomb(problem, gamma, settings, solver.run);
    case Model::lagged: {
      if (slip.empty()) break;
      SolverSettings relaxed = settings;
      relaxed.model = Model::relaxed;
      std::vector<Real> shift(slip.size());
      for (std::size_t i = 0; i < slip.size(); ++i)
        shift[i] = slip[i] * problem.cones().friction()[i];
      return solver.run(problem.with_normal_shift(shift), gamma, relaxed);
    }
  }
  return solver.run(problem, gamma, settings);
}

}  // namespace talus
