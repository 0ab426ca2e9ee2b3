// The exact Coulomb law around any method for the relaxed problem (De Saxcé; Mazhar15 §2.3):
//
//     û = u + μ‖u_T‖ n  in place of u.   s ↦ S(s) = μ‖u_T‖ of the relaxed problem with r + s n;   a fixed point of S
//     solves the exact problem.
//
// The plain iteration s ← S(s) often works and may fail, so it is accelerated (Anderson, over the last few s), each
// relaxed solve is only as exact as the present residual of the exact law deserves, a step that makes that
// residual grow is taken back and damped, and when no damping helps the report says `stalled`.
// Problem files may have an unsymmetric W: its skew part times the present γ is carried to the right-hand side too.
#include <Eigen/Dense>

#include "talus/solvers/methods.hpp"
#include "talus/solvers/watch.hpp"

namespace talus {
namespace {

/// De Saxcé's term of every block of u, as a vector over contacts.
void de_saxce_terms(const ConeProblem& problem, const DualVector& u, DualVector& s) {
  problem.team().for_ranges(problem.blocks(), [&](Local begin, Local end) {
    problem.cones().visit(begin, end, [&](const auto& block, Local i, Local row) {
      s[i] = block.is_free ? 0.0 : block.de_saxce(u.data() + row);
    });
  });
}

/// Anderson acceleration (type II) of s ← S(s): combines the last steps so that the combined S(s) − s is least.
class Anderson {
 public:
  Anderson(const DualVector& like, int memory) : ds_(memory, like), df_(memory, like), s_old_(like), f_old_(like) {}

  void forget() { used_ = 0, has_old_ = false; }

  /// next = accelerated s given s and f = S(s) − s.
  void next(const DualVector& s, const DualVector& f, DualVector& out) {
    const int m = static_cast<int>(ds_.size());
    if (has_old_ && m > 0) {
      const int slot = used_ % m;
      ds_[slot] = s - s_old_;
      df_[slot] = f - f_old_;
      ++used_;
    }
    s_old_ = s, f_old_ = f, has_old_ = true;
    out = s + f;
    const int k = std::min(used_, m);
    if (k == 0) return;
    Eigen::MatrixXd A(k, k);
    Eigen::VectorXd b(k);
    for (int i = 0; i < k; ++i) {
      for (int j = 0; j <= i; ++j) A(i, j) = A(j, i) = dot(df_[i], df_[j]);
      b(i) = dot(df_[i], f);
    }
    const Real trace = A.trace();
    if (!(trace > 0)) return;
    A.diagonal().array() += 1e-10 * trace;
    const Eigen::VectorXd c = A.ldlt().solve(b);
    if (!c.allFinite()) return;
    for (int i = 0; i < k; ++i) out += -c(i) * (ds_[i] + df_[i]);
  }

 private:
  std::vector<DualVector> ds_, df_;
  DualVector s_old_, f_old_;
  int used_ = 0;
  bool has_old_ = false;
};

}  // namespace

SolveReport exact_coulomb(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings,
                          SolveFunction relaxed) {
  const ExactOptions& options = settings.options.exact;
  const ResidualKind kind = residual_kind(settings.residual);
  const double cpu_start = cpu_seconds(), wall_start = wall_seconds();

  DualVector x = gamma, u = problem.zero();           // present impulses and velocities
  const DualVector per_contact(problem.team(), problem.blocks());
  DualVector s = per_contact, S = per_contact, s_best = per_contact, f_best = per_contact, s_next = per_contact;
  Anderson anderson(per_contact, std::clamp(options.memory, 0, 20));
  problem.project(x);
  problem.velocity(x, u);

  SolverSettings inner = settings;
  inner.model = Model::relaxed;
  int iterations = 0, applications = 1, outer = 0;
  bool interrupted = false;
  if (settings.monitor)
    inner.monitor = [&](const Iteration& it) {  // what the user watches goes on counting through the relaxed solves
      Iteration shifted = it;
      shifted.iteration += iterations;
      shifted.applications += applications;
      interrupted = !settings.monitor(shifted);
      return !interrupted;
    };

  Real best = residual(kind, problem, Law::exact, x, u);
  gamma = x;
  de_saxce_terms(problem, u, s);
  Real damping = 1, inner_tolerance = 0;
  int failures = 0;
  Status status = Status::max_iterations;
  if (!std::isfinite(best)) {
    x = 0.0, gamma = 0.0, s = 0.0;
    best = std::numeric_limits<Real>::infinity();
  }
  for (;;) {
    if (best <= settings.tolerance) status = Status::converged;
    if (best <= settings.tolerance || outer >= options.max_outer || iterations >= settings.max_iterations) break;

    // relaxed problem with the term frozen
    inner_tolerance = std::max(options.inner_factor * std::min(best, Real(1e300)), 0.5 * settings.tolerance);
    inner.tolerance = inner_tolerance;
    inner.max_iterations = settings.max_iterations - iterations;
    DualVector r = problem.r();
    if (!problem.symmetric()) {
      problem.gradient(x, r);  // r + ½(W − Wᵀ)x = (Wx + r) − (Nx + r) + r
      r = u - r + problem.r();
    }
    problem.team().for_ranges(problem.blocks(), [&](Local begin, Local end) {
      problem.cones().visit(begin, end, [&](const auto& block, Local i, Local row) { block.shift(r.data() + row, s[i]); });
    });
    const SolveReport step = relaxed(problem.with_r(std::move(r)), x, inner);
    ++outer;
    iterations += std::max(1, step.iterations);
    applications += step.applications;
    problem.velocity(x, u);
    ++applications;
    const Real now = residual(kind, problem, Law::exact, x, u);
    if (interrupted) {
      status = Status::interrupted;
      if (now < best) best = now, gamma = x;
      break;
    }

    de_saxce_terms(problem, u, S);
    S = S - s;  // f(s) = S(s) − s
    if (std::isfinite(now) && now <= 2 * best) {
      failures = 0;
      damping = std::min(Real(1), 2 * damping);
      if (now < best) {
        best = now;
        gamma = x;
        s_best = s, f_best = S;
      }
      anderson.next(s, S, s_next);
    } else if (++failures > 8) {  // no damping helps
      status = Status::stalled;
      break;
    } else {
      // back to the best term seen, with a shorter plain step from there
      damping *= 0.5;
      anderson.forget();
      s_next = s_best + damping * f_best;
      x = gamma;
      problem.velocity(x, u);
      ++applications;
    }
    s = s_next;
    for (Local i = 0; i < s.size(); ++i) s[i] = std::max(s[i], 0.0);
  }

  SolveReport report;
  report.status = status;
  report.iterations = iterations;
  report.applications = applications;
  report.outer_iterations = outer;
  describe(problem, Law::exact, gamma, kind, report);
  report.cpu_seconds = cpu_seconds() - cpu_start;
  report.wall_seconds = wall_seconds() - wall_start;
  return report;
}

}  // namespace talus
