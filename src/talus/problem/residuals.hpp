// How far (γ, u = Wγ + r) is from solving a contact problem: every residual of the papers, one implementation,
// always in double precision. For the exact law u is replaced by û = u + (μ‖u_T‖ + μ_r‖u_R‖) n.
//
//   de20             max(‖r_p‖∞, ‖r_d‖∞, |γᵀu|/m), m contacts: r_p, r_d the violations of K and K*. Absolute, mixed units.
//   de20_abs         the same with Σ|γ_iᵀu_i|/m, whose terms cannot cancel
//   scaled           max(‖r_p‖∞/(m̄ s), ‖r_d‖∞/s, r_c/(m̄ s²)) with de20's r_c, m̄ mean mass, s = g h: what `run` stops on
//   mazhar15         ‖γ − Π_K(γ − d u)‖₂ / (rows·d), d = 1e-6                                        (Mazhar15 eq. 25)
//   heyn13           ‖γ − Π_K(γ − d u)‖₂ / d, d = 1e-6                                               (Heyn13 eq. 24)
//   chrono           heyn13 with d = 1/rows²
//   natural          ‖γ − Π_P(γ − P u)‖_{P⁻¹} / ‖r‖_P, P = 1/diag(N): scale-invariant; what `solve` stops on. For the
//                    exact law Π_P is the closed-form Coulomb step on u itself.
//   natural_siconos  ‖γ − Π_K(γ − u)‖ / max(‖r‖, ‖γ‖, ‖u‖)
//   natural_faf      ‖γ − Π_K(γ − u)‖ / ‖r‖
//
// Where the divisor is zero (no load at all) the undivided norm is given.
#pragma once
#include <span>
#include <string_view>

#include "talus/problem/cone_problem.hpp"

namespace talus {

enum class ResidualKind {
  scaled, de20, de20_abs, mazhar15, heyn13, chrono, natural, natural_siconos, natural_faf
};

/// All names in the order of the enumeration.
std::span<const std::string_view> residual_names();
/// The kind of a name; throws InputError with the list of names.
ResidualKind residual_kind(std::string_view name);
std::string_view residual_name(ResidualKind kind);

struct Residuals {
  Real scaled = 0, de20 = 0, de20_abs = 0, mazhar15 = 0, heyn13 = 0, chrono = 0, natural = 0, natural_siconos = 0,
       natural_faf = 0;
  Real r_p = 0, r_d = 0, r_c = 0;  ///< the parts of de20

  Real operator[](ResidualKind kind) const;
};

/// One residual of γ, given u = Wγ + r. One pass, one or two all-reduces.
Real residual(ResidualKind kind, const ConeProblem& problem, Law law, const DualVector& gamma, const DualVector& u);

/// All of them.
Residuals all_residuals(const ConeProblem& problem, Law law, const DualVector& gamma, const DualVector& u);

}  // namespace talus
