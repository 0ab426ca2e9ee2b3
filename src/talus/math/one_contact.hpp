// The one-contact problem solved exactly: given u = W x + q with a 3 × 3 matrix W (positive semi-definite up to a
// small unsymmetric part, possibly singular), find x in the cone of axis n and friction μ with
//     relaxed:  u ∈ K*, x ⟂ u                  exact:  u_n ≥ 0, x_n ≥ 0, x_n u_n = 0, friction against the slip.
#pragma once
#include "talus/math/vec.hpp"

namespace talus {

/// Where several solutions exist the choice is deterministic: opening, then sticking, then the first slip direction
/// met by turning from the present impulse's. Whatever happens the result is finite and inside the cone.
Vec3 solve_one_contact(const Mat33& W, const Vec3& q, const Vec3& n, Real mu, bool exact, const Vec3& guess);

}  // namespace talus
