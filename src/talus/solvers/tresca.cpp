#include "talus/solvers/tresca.hpp"

namespace talus {

Parts split(const CoulombBlock& block, const Real* x) {
  const Vec3 v(x[0], x[1], x[2]);
  const Real n = block.n.dot(v);
  return {n, v - n * block.n, Vec3::Zero()};
}
void join(const CoulombBlock& block, const Parts& p, Real* x) { CoulombBlock::store(p.n * block.n + p.t, x); }

Parts split(const AnyBlock& block, const Real* x) {
  switch (block.cone.kind) {
    case ConeKind::coulomb: return split(CoulombBlock{block.cone.normal, block.cone.mu}, x);
    case ConeKind::planar: return {x[0], Vec3(x[1], 0, 0), Vec3::Zero()};
    case ConeKind::rolling: return {x[0], Vec3(x[1], x[2], 0), Vec3(x[3], x[4], 0)};
    case ConeKind::free: return {x[0], Vec3::Zero(), Vec3::Zero()};
  }
  return {};
}
void join(const AnyBlock& block, const Parts& p, Real* x) {
  if (block.cone.kind == ConeKind::coulomb) return join(CoulombBlock{block.cone.normal, block.cone.mu}, p, x);
  x[0] = p.n;
  if (block.cone.kind == ConeKind::planar) x[1] = p.t[0];
  if (block.cone.kind == ConeKind::rolling) x[1] = p.t[0], x[2] = p.t[1], x[3] = p.r[0], x[4] = p.r[1];
}

namespace {

Real friction(const CoulombBlock& b) { return b.mu; }
Real friction(const AnyBlock& b) { return b.is_free ? 0 : b.cone.mu; }
Real rolling(const CoulombBlock&) { return 0; }
Real rolling(const AnyBlock& b) { return b.cone.kind == ConeKind::rolling ? b.cone.mu_r : 0; }
Real low(const CoulombBlock&) { return 0; }
Real low(const AnyBlock& b) { return b.is_free ? b.cone.low : 0; }
Real high(const CoulombBlock&) { return std::numeric_limits<Real>::infinity(); }
Real high(const AnyBlock& b) { return b.is_free ? b.cone.high : std::numeric_limits<Real>::infinity(); }

Vec3 on_disc(const Vec3& x, Real radius) {
  const Real length2 = x.squaredNorm();
  return length2 <= radius * radius ? x : Vec3(radius / std::sqrt(length2) * x);
}
/// Largest α ≥ 0 with ‖x − αp‖ ≤ radius, for x inside.
Real disc_step(const Vec3& x, const Vec3& p, Real radius) {
  const Real pp = p.squaredNorm(), xp = x.dot(p), c = x.squaredNorm() - radius * radius;
  if (!(pp > 0)) return std::numeric_limits<Real>::infinity();
  return (xp + std::sqrt(std::max(xp * xp - pp * c, 0.0))) / pp;
}
/// On the boundary, up to the round-off of having been projected there.
bool at_disc(const Vec3& x, Real radius) { return x.squaredNorm() >= radius * radius * (1 - 1e-12); }

}  // namespace

void TrescaDiscs::set(const DualVector& gamma) {
  for_blocks(*problem_, [&](const auto& block, Local i, Local row) {
    const Real n = std::max(split(block, gamma.data() + row).n, 0.0);
    radius_[i] = {friction(block) * n, rolling(block) * n};
  });
}

void TrescaDiscs::project(DualVector& x) const {
  for_blocks(*problem_, [&](const auto& block, Local i, Local row) {
    Parts p = split(block, x.data() + row);
    p.n = std::clamp(p.n, low(block), high(block));
    p.t = on_disc(p.t, radius_[i].t);
    p.r = on_disc(p.r, radius_[i].r);
    join(block, p, x.data() + row);
  });
}

void TrescaDiscs::keep(DualVector& x, const std::vector<Activity>& active, bool free_parts) const {
  for_blocks(*problem_, [&](const auto& block, Local i, Local row) {
    Parts p = split(block, x.data() + row);
    if (active[i].n == free_parts) p.n = 0;
    if (active[i].t == free_parts) p.t.setZero();
    if (active[i].r == free_parts) p.r.setZero();
    join(block, p, x.data() + row);
  });
}

void TrescaDiscs::activity(const DualVector& x, std::vector<Activity>& active) const {
  active.resize(problem_->blocks());
  for_blocks(*problem_, [&](const auto& block, Local i, Local row) {
    const Parts p = split(block, x.data() + row);
    const Real rounding = 1e-14 * (radius_[i].t + radius_[i].r);
    active[i] = {p.n <= low(block) + rounding || p.n >= high(block), at_disc(p.t, radius_[i].t),
                 at_disc(p.r, radius_[i].r)};
  });
}

Real TrescaDiscs::feasible_step(const DualVector& x, const DualVector& p, const std::vector<Activity>& active) const {
  // the least of all steps, found as the largest of the inverses
  const auto inverse = problem_->team().max<1>(problem_->blocks(), [&](Local i, auto& m) {
    problem_->cones().at(i, [&](const auto& block, Local row) {
      const Parts a = split(block, x.data() + row), d = split(block, p.data() + row);
      Real step = std::numeric_limits<Real>::infinity();
      if (!active[i].t) step = std::min(step, disc_step(a.t, d.t, radius_[i].t));
      if (!active[i].r) step = std::min(step, disc_step(a.r, d.r, radius_[i].r));
      if (!active[i].n && d.n > 0) step = std::min(step, (a.n - low(block)) / d.n);
      if (!active[i].n && d.n < 0) step = std::min(step, (a.n - high(block)) / d.n);
      m[0] = std::max(m[0], 1 / std::max(step, std::numeric_limits<Real>::min()));
    });
  });
  return inverse[0] > 0 ? 1 / inverse[0] : std::numeric_limits<Real>::infinity();
}

SolveReport solve_by_tresca_discs(const ConeProblem& problem, DualVector& gamma, const SolverSettings& settings,
                                  const TrescaMinimizer& minimize) {
  const Law law = settings.model == Model::exact ? Law::exact : Law::relaxed;
  Watch watch(problem, law, gamma, settings);
  DualVector x = gamma, u = problem.zero(), g = problem.zero(), shift = problem.zero();
  problem.project(x);
  TrescaDiscs discs(problem);
  const auto [has_friction] = problem.team().max<1>(problem.blocks(), [&](Local i, auto& m) {
    problem.cones().at(i, [&](const auto& block, Local) { m[0] = std::max({m[0], friction(block), rolling(block)}); });
  });

  int applications = 1;
  bool over = false;
  problem.velocity(x, u);
  over = watch.done(x, u, applications);
  while (!over) {
    discs.set(x);
    // what the frozen problem has beyond Nγ + r: the skew part of W, and for the relaxed law minus De Saxcé's term
    shift = 0.0;
    if (law == Law::exact && !problem.symmetric()) {
      problem.gradient(x, g);
      ++applications;
      shift = u - g;
    }
    if (law == Law::relaxed)
      for_blocks(problem, [&](const auto& block, Local, Local row) {
        if (!block.is_free) block.shift(shift.data() + row, -block.de_saxce(u.data() + row));
      });
    DualVector r = problem.zero();
    r = problem.r() + shift;
    const ConeProblem frozen = problem.with_r(std::move(r));
    discs.project(x);
    frozen.gradient(x, g);
    ++applications;
    // friction: as much of an inner solve as the outer iteration can use; none: all of it
    const int before = watch.iteration();
    minimize(frozen, discs, x, g, has_friction > 0 ? 0.1 : 0.0, applications,
             [&](const DualVector& now, const DualVector& gradient) {
               u = gradient - shift;
               return over = watch.done(now, u, applications);
             });
    if (over) break;
    problem.velocity(x, u);
    ++applications;
    ++watch.report().outer_iterations;
    if (has_friction == 0 || watch.iteration() == before) {
      over = watch.done(x, u, applications);
      if (has_friction == 0 && !over) {
        watch.stall();
        break;
      }
    }
  }
  return watch.finish(applications);
}

Real norm_estimate(const ConeProblem& problem, int& applications) {
  DualVector x = problem.zero(), Nx = problem.zero();
  for (Local i = 0; i < x.size(); ++i) x[i] = 1 + 0.5 * std::sin(static_cast<Real>(i));
  Real estimate = 0;
  for (int k = 0; k < 15; ++k) {
    problem.apply(x, Nx);
    ++applications;
    const auto [xx, NxNx] = dots(inner(x, x), inner(Nx, Nx));
    if (!(NxNx > 0)) break;
    estimate = std::sqrt(NxNx / xx);
    x = (1 / std::sqrt(NxNx)) * Nx;
  }
  return 1.1 * estimate;  // from below by nature; who uses it watches the objective and raises it
}

}  // namespace talus
