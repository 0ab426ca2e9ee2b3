// DualVector: one number per row of the contact problem (three per contact), in the order of the contacts.
//
// A contact lives on exactly one process, so dual vectors have no shadows: sums, differences and multiples are
// local loops, and a dot product is fixed-order partial sums followed by one all-reduce. Expressions are tiny
// templates: one statement is one pass over memory,
//
//     y = gamma + beta * (gamma - gamma_old);
//     const auto [dNd, dd] = dots(inner(d, N_gamma - N_y), inner(d, d));      // one pass, one all-reduce
//
// Nodes hold vectors by reference and other nodes by value; an expression is used in the statement that writes it
// and never stored. Solver texts never mention threads or ranks: both are in the loops below.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include "talus/base/array.hpp"
#include "talus/base/team.hpp"
#include "talus/base/types.hpp"

namespace talus {

class DualVector;

/// Tag of everything that can stand on the right of a DualVector assignment: operator[](i), team(), size().
struct DualExpression {};
template <class E>
concept DualExpr = std::is_base_of_v<DualExpression, E>;

/// Things that fill a whole vector at once but are no row-by-row expressions (a projection): assign_to(out).
template <class A>
concept DualAssigner = requires(const A& a, DualVector& out) { a.assign_to(out); };

class DualVector : public DualExpression {
 public:
  DualVector() = default;
  DualVector(const Team& team, Local rows) : team_(&team), x_(rows, 0.0) {}
  DualVector(const DualVector&) = default;
  DualVector(DualVector&&) noexcept = default;

  /// Rows of one piece of a loop: divisible by 3 (whole contacts) and by the lanes of a reduction.
  static constexpr Local piece = 3 * Team::piece_size;

  Local size() const { return static_cast<Local>(x_.size()); }  ///< rows of this process: for loops, not formulas
  Global dim() const {                                           ///< rows of all processes: the size in formulas
    Global n = size();
    if (team_) team_->comm().sum(std::span<Global>(&n, 1));
    return n;
  }
  const Team& team() const { return *team_; }

  Real operator[](Local i) const { return x_[i]; }
  Real& operator[](Local i) { return x_[i]; }
  std::span<const Real> values() const { return x_; }
  std::span<Real> values() { return x_; }
  const Real* data() const { return x_.data(); }
  Real* data() { return x_.data(); }

  DualVector& operator=(const DualVector& other) {
    if (this == &other) return *this;
    if (size() != other.size()) {
      team_ = other.team_;
      x_ = other.x_;
      return *this;
    }
    return assign(other);
  }
  DualVector& operator=(DualVector&&) noexcept = default;

  template <DualExpr E>
  DualVector& operator=(const E& e) {
    return assign(e);
  }
  template <DualAssigner A>
  DualVector& operator=(const A& a) {
    a.assign_to(*this);
    return *this;
  }
  DualVector& operator=(Real value) {
    for_rows([&](Local begin, Local end) { std::fill(x_.begin() + begin, x_.begin() + end, value); });
    return *this;
  }
  template <DualExpr E>
  DualVector& operator+=(const E& e);

  friend void swap(DualVector& a, DualVector& b) noexcept {
    std::swap(a.team_, b.team_);
    a.x_.swap(b.x_);
  }

  /// f(begin, end) over the pieces of rows.
  template <class F>
  void for_rows(F&& f) const {
    if (size() == 0) return;
    team_->for_pieces(pieces(), [&](int p) {
      const Local begin = p * piece;
      f(begin, std::min<Local>(size(), begin + piece));
    });
  }
  int pieces() const { return (size() + piece - 1) / piece; }

 private:
  template <class E>
  DualVector& assign(const E& e) {
    Real* out = x_.data();
    for_rows([&](Local begin, Local end) {
#pragma GCC ivdep
      for (Local i = begin; i < end; ++i) out[i] = e[i];
    });
    return *this;
  }

  const Team* team_ = nullptr;
  Array<Real> x_;
};

// ---- expressions ------------------------------------------------------------------------------------------

namespace detail {
/// How a node keeps an operand: vectors by reference, nodes by value.
template <class E>
using Operand = std::conditional_t<std::is_same_v<E, DualVector>, const DualVector&, const E>;

struct Plus {
  static Real of(Real a, Real b) { return a + b; }
};
struct Minus {
  static Real of(Real a, Real b) { return a - b; }
};

template <class Op, class A, class B>
struct Binary : DualExpression {
  Binary(const A& a_, const B& b_) : a(a_), b(b_) {}
  Real operator[](Local i) const { return Op::of(a[i], b[i]); }
  const Team& team() const { return a.team(); }
  Local size() const { return a.size(); }
  Operand<A> a;
  Operand<B> b;
};

struct Times {
  static Real of(Real a, Real b) { return a * b; }
};

template <class A>
struct Scaled : DualExpression {
  Scaled(Real s_, const A& a_) : s(s_), a(a_) {}
  Real operator[](Local i) const { return s * a[i]; }
  const Team& team() const { return a.team(); }
  Local size() const { return a.size(); }
  Real s;
  Operand<A> a;
};
}  // namespace detail

template <DualExpr A, DualExpr B>
auto operator+(const A& a, const B& b) {
  return detail::Binary<detail::Plus, A, B>(a, b);
}
template <DualExpr A, DualExpr B>
auto operator-(const A& a, const B& b) {
  return detail::Binary<detail::Minus, A, B>(a, b);
}
/// Row by row product.
template <DualExpr A, DualExpr B>
auto times(const A& a, const B& b) {
  return detail::Binary<detail::Times, A, B>(a, b);
}
template <DualExpr A>
auto operator*(Real s, const A& a) {
  return detail::Scaled<A>(s, a);
}
template <DualExpr A>
auto operator-(const A& a) {
  return detail::Scaled<A>(-1.0, a);
}
template <DualExpr E>
DualVector& DualVector::operator+=(const E& e) {
  return *this = *this + e;
}

// ---- reductions -------------------------------------------------------------------------------------------

/// Sums over rows keep this many partial sums whatever the instruction set, so that bits do not depend on it.
inline constexpr Local reduction_lanes = 8;

/// Σ f(i) over [begin, end) in fixed lanes.
template <class F>
Real lane_sum(Local begin, Local end, F&& f) {
  Real lane[reduction_lanes] = {};
  Local i = begin;
  for (; i + reduction_lanes <= end; i += reduction_lanes)
    for (Local k = 0; k < reduction_lanes; ++k) lane[k] += f(i + k);
  for (Local k = 0; i < end; ++i, ++k) lane[k] += f(i);
  Real total = 0;
  for (Real l : lane) total += l;
  return total;
}

/// A term of dots(): aᵀb.
template <class A, class B>
struct Inner {
  Inner(const A& a_, const B& b_) : a(a_), b(b_) {}
  const Team& team() const { return a.team(); }
  Local size() const { return a.size(); }
  Real rows(Local begin, Local end) const {
    return lane_sum(begin, end, [&](Local i) { return a[i] * b[i]; });
  }
  detail::Operand<A> a;
  detail::Operand<B> b;
};
template <DualExpr A, DualExpr B>
Inner<A, B> inner(const A& a, const B& b) {
  return {a, b};
}

/// All terms in one pass over memory and one all-reduce. A term has team(), size() and rows(begin, end); ranges
/// begin and end at multiples of 3.
template <class First, class... Terms>
std::array<Real, 1 + sizeof...(Terms)> dots(const First& first, const Terms&... terms) {
  constexpr std::size_t K = 1 + sizeof...(Terms);
  constexpr Local tile = DualVector::piece / 8;  // small enough that all terms of one tile meet in the cache
  static_assert(tile % 3 == 0 && tile % reduction_lanes == 0);
  std::array<Real, K> total{};
  const Local n = first.size();
  const int pieces = (n + DualVector::piece - 1) / DualVector::piece;
  std::vector<std::array<Real, K>> partial(pieces);
  if (pieces > 0)
    first.team().for_pieces(pieces, [&](int p) {
      std::array<Real, K> mine{};
      const Local end = std::min<Local>(n, (p + 1) * DualVector::piece);
      for (Local i = p * DualVector::piece; i < end; i += tile) {
        const Local stop = std::min<Local>(end, i + tile);
        std::size_t k = 0;
        mine[k++] += first.rows(i, stop);
        ((mine[k++] += terms.rows(i, stop)), ...);
      }
      partial[p] = mine;
    });
  for (const auto& p : partial)
    for (std::size_t k = 0; k < K; ++k) total[k] += p[k];
  first.team().comm().sum(std::span<Real>(total));
  return total;
}

template <DualExpr A, DualExpr B>
Real dot(const A& a, const B& b) {
  return dots(inner(a, b))[0];
}
template <DualExpr A>
Real norm(const A& a) {
  return std::sqrt(dot(a, a));
}

}  // namespace talus
