// Preclik15 §5 solves the one-contact problem by cases; so do we, with a root search over the slip direction:
//   opening   x = 0            when q is admissible as a velocity
//   sticking  x = −W⁻¹q        when that lies in the cone
//   sliding   x = z (n + μ d), d a unit tangent, z ≥ 0:
//     exact    u_n = 0 gives z = −q_n/(W_nn + μ n·W d); what remains is u_T ∥ −d: the root of u_T × d with u_T·d ≤ 0
//     relaxed  z minimises along the edge, z = −(q·s)/(sᵀWs), s = n + μ d; what remains is the angle that minimises
//              −½(q·s)²/(sᵀWs): a root of its derivative with z > 0
// Both are scalar functions of an angle; a sign change is bracketed on a ring of angles and bisected to the last bit.
#include "talus/math/one_contact.hpp"

#include <array>
#include <limits>

#include "talus/math/cone.hpp"

namespace talus {
namespace {

struct Frame {
  Real nn, nt[2], tn[2], tt[2][2];  // W in (n, t1, t2)
  Real qn, qt[2];
  Real mu;
  bool exact;

  /// Height z of the edge in direction d; ≤ 0 or NaN when that edge carries nothing.
  Real height(Real c, Real s) const {
    if (exact) {
      const Real stiffness = nn + mu * (nt[0] * c + nt[1] * s);
      return stiffness > 0 ? -qn / stiffness : -1.0;
    }
    return -along(c, s) / curvature(c, s);
  }
  Real along(Real c, Real s) const { return qn + mu * (qt[0] * c + qt[1] * s); }  // q·(n + μd)
  Real curvature(Real c, Real s) const {                                            // (n + μd)ᵀW(n + μd)
    return nn + mu * ((nt[0] + tn[0]) * c + (nt[1] + tn[1]) * s) +
           mu * mu * (tt[0][0] * c * c + (tt[0][1] + tt[1][0]) * c * s + tt[1][1] * s * s);
  }
  /// The function whose root is sought.
  Real value(Real c, Real s) const {
    if (exact) {
      const Real z = height(c, s);
      const Real u0 = qt[0] + z * (tn[0] + mu * (tt[0][0] * c + tt[0][1] * s));
      const Real u1 = qt[1] + z * (tn[1] + mu * (tt[1][0] * c + tt[1][1] * s));
      return u0 * s - u1 * c;
    }
    // derivative of (q·s)²/(sᵀWs) over the angle, up to positive factors: (2 a' b − a b') a, and a < 0 where z > 0
    const Real a = along(c, s), b = curvature(c, s);
    const Real da = mu * (-qt[0] * s + qt[1] * c);
    const Real db = mu * (-(nt[0] + tn[0]) * s + (nt[1] + tn[1]) * c) +
                    mu * mu * (2 * (tt[1][1] - tt[0][0]) * c * s + (tt[0][1] + tt[1][0]) * (c * c - s * s));
    return 2 * da * b - a * db;
  }
  /// Is the root at this angle a solution: pushing, and slipping against friction (or a minimum)?
  bool valid(Real c, Real s) const {
    const Real z = height(c, s);
    if (!(z > 0) || !std::isfinite(z)) return false;
    if (!exact) return true;
    const Real u0 = qt[0] + z * (tn[0] + mu * (tt[0][0] * c + tt[0][1] * s));
    const Real u1 = qt[1] + z * (tn[1] + mu * (tt[1][0] * c + tt[1][1] * s));
    return u0 * c + u1 * s <= 0;
  }
};

}  // namespace

Vec3 solve_one_contact(const Mat33& W, const Vec3& q, const Vec3& n, Real mu, bool exact, const Vec3& guess) {
  const Real qn = n.dot(q);
  const Vec3 qt = q - qn * n;
  const Real slip = std::sqrt(qt.squaredNorm());

  // opening
  if (exact ? qn >= 0 : qn >= mu * slip) return Vec3::Zero();

  const Real trace = W.trace(), nn = n.dot(W * n);
  if (!(trace > 0)) return Vec3::Zero();  // nothing here moves whatever is pushed
  if (mu == 0) return nn > 0 ? Vec3(std::max(-qn / nn, 0.0) * n) : Vec3(Vec3::Zero());

  // sticking; a singular W (planar files, redundant rows) leaves a direction free, which the small shift settles
  Mat33 A = W;
  const Real determinant = W.determinant();
  if (!(std::abs(determinant) > 1e-12 * trace * trace * trace)) A.diagonal().array() += 1e-10 * trace;
  const Vec3 stick = -(A.partialPivLu().solve(q));
  if (stick.allFinite()) {
    const Real sn = n.dot(stick);
    const Real st2 = (stick - sn * n).squaredNorm();
    if (sn >= 0 && st2 <= mu * mu * sn * sn) return stick;
  }

  // sliding
  Vec3 t1, t2;
  tangents(n, t1, t2);
  Frame f;
  f.nn = nn;
  f.nt[0] = n.dot(W * t1), f.nt[1] = n.dot(W * t2);
  f.tn[0] = t1.dot(W * n), f.tn[1] = t2.dot(W * n);
  f.tt[0][0] = t1.dot(W * t1), f.tt[0][1] = t1.dot(W * t2), f.tt[1][0] = t2.dot(W * t1), f.tt[1][1] = t2.dot(W * t2);
  f.qn = qn;
  f.qt[0] = t1.dot(q), f.qt[1] = t2.dot(q);
  f.mu = mu;
  f.exact = exact;

  // turn from where the impulse points now (or against the free slip), both ways, until a sign change is met
  const Vec3 guess_t = guess - n.dot(guess) * n;
  const Vec3 from = guess_t.squaredNorm() > 0 ? guess_t : slip > 0 ? Vec3(-qt) : t1;
  const Real start = std::atan2(t2.dot(from), t1.dot(from));
  constexpr Real pi = 3.14159265358979323846;
  auto value = [&](Real angle) { return f.value(std::cos(angle), std::sin(angle)); };

  Vec3 best = Vec3::Zero();
  Real best_error = std::numeric_limits<Real>::infinity();
  auto consider = [&](const Vec3& x) {  // judged by the natural map in the scale of W
    if (!x.allFinite()) return;
    const Vec3 u = W * x + q;
    const Real P = 3 / trace;
    const Vec3 moved = x - P * u;
    const Real error = (x - (exact ? coulomb_step(moved, n, mu) : project_cone(moved, n, mu))).squaredNorm();
    if (error < best_error) best_error = error, best = x;
  };
  auto edge = [&](Real angle) {
    const Real c = std::cos(angle), s = std::sin(angle);
    const Real z = f.height(c, s);
    if (z > 0 && std::isfinite(z)) consider(z * (n + mu * (c * t1 + s * t2)));
  };

  // a coarse ring finds nearly every root; a fine one those that lie close together
  for (int pass = 0; pass < 4; ++pass) {
    const int ring = pass < 2 ? 24 : 360;
    const Real step = (pass % 2 == 0 ? 2.0 : -2.0) * pi / ring;
    Real left = start, f_left = value(left);
    for (int k = 1; k <= ring / 2; ++k) {
      Real right = start + k * step, f_right = value(right);
      const Real next_left = right, next_value = f_right;
      if (f_left == 0) {
        edge(left);
      } else if ((f_left < 0) != (f_right < 0)) {
        Real a = left, b = right, fa = f_left;
        for (int it = 0; it < 60; ++it) {
          const Real middle = 0.5 * (a + b), fm = value(middle);
          if ((fm < 0) == (fa < 0))
            a = middle;
          else
            b = middle;
        }
        const Real root = 0.5 * (a + b);
        if (f.valid(std::cos(root), std::sin(root))) edge(root);
      }
      left = next_left, f_left = next_value;
    }
    const Real scale = 3 / trace * std::sqrt(q.squaredNorm());
    if (best_error <= 1e-20 * scale * scale) return best;
  }
  // no clean root (a singular or indefinite block): the best of what was met and of the diagonal law
  const Real tt = 0.5 * (trace - nn);
  const NormalTangent P{1 / (nn > 1e-12 * trace ? nn : trace), 1 / (tt > 1e-12 * trace ? tt : trace)};
  Vec3 x = project_cone(guess, n, mu);
  consider(x);
  for (int it = 0; it < 50; ++it) {
    const Vec3 u = W * x + q;
    const Real un = n.dot(u);
    const Vec3 moved = x - (P.t * (u - un * n) + P.n * un * n);
    x = exact ? coulomb_step(moved, n, mu) : project_cone(moved, n, mu, P);
    consider(x);
  }
  return best;
}

}  // namespace talus
