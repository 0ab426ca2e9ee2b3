#include "talus/problem/residuals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "talus/base/error.hpp"

namespace talus {
namespace {

constexpr std::array<std::string_view, 9> names = {"scaled", "de20",    "de20_abs",        "mazhar15",   "heyn13",
                                                   "chrono", "natural", "natural_siconos", "natural_faf"};

/// f(block, i, γ_i, û_i) over all blocks: û = u for the relaxed law. Pointers to at most 6 numbers each.
template <class F>
void for_blocks(const ConeProblem& problem, Law law, const DualVector& gamma, const DualVector& u, Local begin,
                Local end, F&& f) {
  problem.cones().visit(begin, end, [&](const auto& block, Local i, Local row) {
    const Real* x = gamma.data() + row;
    if (law == Law::relaxed) {
      f(block, i, x, u.data() + row);
    } else {
      Real shifted[6];
      std::copy_n(u.data() + row, block.rows, shifted);
      block.shift(shifted, block.de_saxce(shifted));
      f(block, i, x, shifted);
    }
  });
}

/// Partial results of one piece of contacts, added (or maximised) in the order of the pieces.
template <std::size_t Sums, std::size_t Maxima, class F>
std::pair<std::array<Real, Sums>, std::array<Real, Maxima>> reduce(const ConeProblem& problem, F&& f) {
  const Local n = problem.blocks();
  const int pieces = Team::piece_count(n);
  std::vector<std::pair<std::array<Real, Sums>, std::array<Real, Maxima>>> partial(pieces);
  problem.team().for_pieces(pieces, [&](int p) {
    std::array<Real, Sums> sum{};
    std::array<Real, Maxima> max{};
    f(p * Team::piece_size, std::min<Local>(n, (p + 1) * Team::piece_size), sum, max);
    partial[p] = {sum, max};
  });
  std::pair<std::array<Real, Sums>, std::array<Real, Maxima>> total{};
  for (const auto& p : partial) {
    for (std::size_t k = 0; k < Sums; ++k) total.first[k] += p.first[k];
    for (std::size_t k = 0; k < Maxima; ++k) total.second[k] = std::max(total.second[k], p.second[k]);
  }
  problem.team().comm().sum(std::span<Real>(total.first));
  if constexpr (Maxima > 0) problem.team().comm().max(std::span<Real>(total.second));
  return total;
}

struct De20Parts {
  Real r_p, r_d, r_c, r_c_abs;
};
De20Parts de20_parts(const ConeProblem& problem, Law law, const DualVector& gamma, const DualVector& u) {
  const auto [sum, max] = reduce<2, 2>(problem, [&](Local begin, Local end, auto& s, auto& m) {
    for_blocks(problem, law, gamma, u, begin, end, [&](const auto& block, Local, const Real* x, const Real* v) {
      Real work = 0;
      for (Local k = 0; k < block.rows; ++k) work += x[k] * v[k];
      Real dual = block.dual_violation(v);
      if (block.is_free) {  // a row at its bound may move away from it; then neither u nor γu is an error
        Real moved = x[0] - v[0];
        block.project(&moved, &moved);
        if (moved == x[0]) dual = work = 0;
      }
      s[0] += work;
      s[1] += std::abs(work);
      m[0] = std::max(m[0], block.primal_violation(x));
      m[1] = std::max(m[1], dual);
    });
  });
  // a NaN anywhere shows in the sum; maxima would lose it, and call it converged
  if (!std::isfinite(sum[1])) {
    const Real nan = std::numeric_limits<Real>::quiet_NaN();
    return {nan, nan, nan, nan};
  }
  const Real contacts = std::max<Real>(1, static_cast<Real>(problem.contacts()));
  return {max[0], max[1], std::abs(sum[0]) / contacts, sum[1] / contacts};
}

Real scaled_of(const De20Parts& p, const ProblemScales& s) {
  return std::max({p.r_p / (s.mass * s.speed), p.r_d / s.speed, p.r_c / (s.mass * s.speed * s.speed)});
}

/// ‖γ − Π_K(γ − d û)‖²
Real projected_gradient2(const ConeProblem& problem, Law law, const DualVector& gamma, const DualVector& u, Real d) {
  const auto [sum, unused] = reduce<1, 0>(problem, [&](Local begin, Local end, auto& s, auto&) {
    for_blocks(problem, law, gamma, u, begin, end, [&](const auto& block, Local, const Real* x, const Real* v) {
      Real moved[6];
      for (Local k = 0; k < block.rows; ++k) moved[k] = x[k] - d * v[k];
      block.project(moved, moved);
      for (Local k = 0; k < block.rows; ++k) s[0] += (x[k] - moved[k]) * (x[k] - moved[k]);
    });
  });
  (void)unused;
  return sum[0];
}

Real over(Real x, Real divisor) { return divisor > 0 ? x / divisor : x; }

Real natural(const ConeProblem& problem, Law law, const DualVector& gamma, const DualVector& u) {
  const auto [sum, unused] = reduce<2, 0>(problem, [&](Local begin, Local end, auto& s, auto&) {
    problem.cones().visit(begin, end, [&](const auto& block, Local i, Local row) {
      const BlockMetric P = problem.metric(i);
      Real x[6];
      block.move(gamma.data() + row, -1.0, u.data() + row, x, P);
      if (law == Law::relaxed)
        block.project(x, x, P);
      else
        block.coulomb(x, x);
      for (Local k = 0; k < block.rows; ++k) x[k] = gamma[row + k] - x[k];
      s[0] += block.norm2_inverse(x, P);
      s[1] += block.norm2(problem.r().data() + row, P);
    });
  });
  (void)unused;
  return over(std::sqrt(sum[0]), std::sqrt(sum[1]));
}

}  // namespace

std::span<const std::string_view> residual_names() { return names; }

std::string_view residual_name(ResidualKind kind) { return names[static_cast<std::size_t>(kind)]; }

ResidualKind residual_kind(std::string_view name) {
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k] == name) return static_cast<ResidualKind>(k);
  throw InputError(fmt::format("unknown residual \"{}\"; there are: {}", name, fmt::join(names, ", ")));
}

Real Residuals::operator[](ResidualKind kind) const {
  switch (kind) {
    case ResidualKind::scaled: return scaled;
    case ResidualKind::de20: return de20;
    case ResidualKind::de20_abs: return de20_abs;
    case ResidualKind::mazhar15: return mazhar15;
    case ResidualKind::heyn13: return heyn13;
    case ResidualKind::chrono: return chrono;
    case ResidualKind::natural: return natural;
    case ResidualKind::natural_siconos: return natural_siconos;
    case ResidualKind::natural_faf: return natural_faf;
  }
  return 0;
}

Real residual(ResidualKind kind, const ConeProblem& problem, Law law, const DualVector& gamma, const DualVector& u) {
  constexpr Real d = 1e-6;  // g_d of Mazhar15, τ_g of Heyn13
  const Real rows = std::max<Real>(1, static_cast<Real>(problem.dim()));
  switch (kind) {
    case ResidualKind::scaled: return scaled_of(de20_parts(problem, law, gamma, u), problem.scales());
    case ResidualKind::de20: {
      const De20Parts p = de20_parts(problem, law, gamma, u);
      return std::max({p.r_p, p.r_d, p.r_c});
    }
    case ResidualKind::de20_abs: {
      const De20Parts p = de20_parts(problem, law, gamma, u);
      return std::max({p.r_p, p.r_d, p.r_c_abs});
    }
    case ResidualKind::mazhar15: return std::sqrt(projected_gradient2(problem, law, gamma, u, d)) / (rows * d);
    case ResidualKind::heyn13: return std::sqrt(projected_gradient2(problem, law, gamma, u, d)) / d;
    case ResidualKind::chrono:
      return std::sqrt(projected_gradient2(problem, law, gamma, u, 1 / (rows * rows))) * rows * rows;
    case ResidualKind::natural: return natural(problem, law, gamma, u);
    case ResidualKind::natural_siconos: {
      const auto [qq, gg, uu] = dots(inner(problem.r(), problem.r()), inner(gamma, gamma), inner(u, u));
      return over(std::sqrt(projected_gradient2(problem, law, gamma, u, 1.0)), std::sqrt(std::max({qq, gg, uu})));
    }
    case ResidualKind::natural_faf:
      return over(std::sqrt(projected_gradient2(problem, law, gamma, u, 1.0)), norm(problem.r()));
  }
  return 0;
}

Residuals all_residuals(const ConeProblem& problem, Law law, const DualVector& gamma, const DualVector& u) {
  Residuals all;
  const De20Parts p = de20_parts(problem, law, gamma, u);
  all.r_p = p.r_p, all.r_d = p.r_d, all.r_c = p.r_c;
  all.de20 = std::max({p.r_p, p.r_d, p.r_c});
  all.de20_abs = std::max({p.r_p, p.r_d, p.r_c_abs});
  all.scaled = scaled_of(p, problem.scales());
  all.mazhar15 = residual(ResidualKind::mazhar15, problem, law, gamma, u);
  all.heyn13 = residual(ResidualKind::heyn13, problem, law, gamma, u);
  all.chrono = residual(ResidualKind::chrono, problem, law, gamma, u);
  all.natural = natural(problem, law, gamma, u);
  all.natural_siconos = residual(ResidualKind::natural_siconos, problem, law, gamma, u);
  all.natural_faf = residual(ResidualKind::natural_faf, problem, law, gamma, u);
  return all;
}

}  // namespace talus
