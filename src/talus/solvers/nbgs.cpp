// Non-linear block Gauss-Seidel, subdomain-wise. Preclik15 §5-6: each contact is solved exactly with all others
// frozen, for the exact Coulomb law (NCP) or the relaxed cone (CCP), and the reaction is relaxed:
//     γ_i ← γ_i + ω (γ_i* − γ_i)
// (relaxing velocities instead would lose momentum between subdomains). Where the one-contact matrix is
// α nnᵀ + β (I − nnᵀ) — every contact of balls — the exact answer is a closed form; otherwise the case analysis of
// math/one_contact.hpp (`contact = "exact"`), or the closed form with the block's diagonal (`contact = "diagonal"`, the
// default: it does not cycle where an exact local answer jumps). Blocks other than coulomb use the diagonal closed form, whose fixed points are the same.
#include "talus/math/one_contact.hpp"
#include "talus/problem/sweep.hpp"
#include "talus/solvers/methods.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {
namespace {

/// The one-contact matrices that are not of the closed form, and which contacts have them.
struct FullBlocks {
  std::vector<Local> index;  ///< per contact, −1: closed form
  Array<Mat33> matrix;
};
FullBlocks full_blocks(const ConeProblem& problem, const Sweep& sweep, bool wanted) {
  FullBlocks full;
  full.index.assign(problem.blocks(), -1);
  if (!wanted) return full;
  for (Local i = 0; i < problem.blocks(); ++i) {
    if (problem.cones().kind(i) != ConeKind::coulomb) continue;
    const Mat33 W = sweep.diagonal(i);
    const Vec3 n = problem.cones().uniform() ? problem.cones().normal()[i] : problem.cones().any_block(i).cone.normal;
    const Real nn = n.dot(W * n), tt = 0.5 * (W.trace() - nn);
    const Mat33 closed = tt * Mat33::Identity() + (nn - tt) * n * n.transpose();
    if ((W - closed).squaredNorm() <= 1e-24 * W.squaredNorm() && nn > 0 && tt > 0) continue;
    full.index[i] = static_cast<Local>(full.matrix.size());
    full.matrix.push_back(W);
  }
  return full;
}

}  // namespace

SolveReport nbgs(const ConeProblem& problem, DualVector& gamma_best, const SolverSettings& settings) {
  const NbgsOptions& options = settings.options.nbgs;
  const Real ω = options.omega;
  const bool exact = settings.model == Model::exact;
  const Law law = exact ? Law::exact : Law::relaxed;
  Watch watch(problem, law, gamma_best, settings);
  DualVector γ = gamma_best, u = problem.zero();
  problem.project(γ);
  Sweep sweep(problem, law, options.pieces);
  const FullBlocks full = full_blocks(problem, sweep, options.contact == "exact");

  auto solve_contact = [&](const auto& block, Local i, const auto& γ_i, const auto& u_i) {
    using Vector = typename std::decay_t<decltype(block)>::Vector;
    Vector solved(block.rows);
    if (full.index[i] >= 0) {
      const Mat33& W = full.matrix[full.index[i]];
      const Vec3 x(γ_i[0], γ_i[1], γ_i[2]), q = Vec3(u_i[0], u_i[1], u_i[2]) - W * x;
      Vec3 n;
      Real μ;
      if constexpr (std::is_same_v<Vector, Vec3>)
        n = block.n, μ = block.mu;
      else
        n = block.cone.normal, μ = block.cone.mu;
      const Vec3 answer = solve_one_contact(W, q, n, μ, exact, x);
      for (int k = 0; k < 3; ++k) solved[k] = answer[k];
    } else {
      const BlockMetric P = sweep.metric(i);
      const Vector free = block.moved(γ_i, -1.0, u_i, P);
      solved = exact ? block.coulombed(free) : block.projected(free, P);
    }
    return ω == 1 ? solved : Vector(γ_i + ω * (solved - γ_i));
  };

  sweep.start(γ);
  sweep.velocity(γ, u);
  int sweeps = 0;
  while (!watch.done(γ, u, sweeps)) {
    sweep.forward(γ, solve_contact);
    ++sweeps;
    sweep.velocity(γ, u);
  }
  return watch.finish(sweeps);
}

}  // namespace talus
