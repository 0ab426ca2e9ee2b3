#include "talus/problem/assemble.hpp"

#include "talus/base/error.hpp"

namespace talus {

SparseMatrix assemble_matrix(const ConeProblem& problem, Law law) {
  if (problem.team().comm().size() > 1)
    throw InputError("this solver factorises the contact matrix and runs on one process only; use nbgs, apgd or ags");
  if (const MatrixOperator* W = problem.matrix_operator()) return law == Law::exact ? W->own() : W->symmetric();

  // N_ij of contacts i, j that share a moving body: ± (1/m I + [r_i]ᵀ I⁻¹ [r_j])
  const ContactOperator& N = *problem.contact_operator();
  const Contacts& c = N.contacts();
  const InverseMass& inverse = N.inverse_mass();
  struct End {
    Local contact;
    Real sign;
    Vec3 arm;
  };
  std::vector<std::vector<End>> ends(inverse.size());
  for (Local i = 0; i < c.size(); ++i) {
    if (inverse.moves(c.a[i])) ends[c.a[i]].push_back({i, -1.0, c.arm_a[i]});
    if (inverse.moves(c.b[i])) ends[c.b[i]].push_back({i, 1.0, c.arm_b[i]});
  }
  auto cross = [](const Vec3& r) {
    Mat33 m;
    m << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
    return m;
  };
  std::vector<Eigen::Triplet<Real>> entries;
  for (Local j = 0; j < inverse.size(); ++j) {
    const Mat33 spin = inverse.inertia(j);
    for (const End& p : ends[j])
      for (const End& q : ends[j]) {
        const Mat33 block = p.sign * q.sign *
                            (inverse.mass(j) * Mat33::Identity() + cross(p.arm).transpose() * spin * cross(q.arm));
        for (int k = 0; k < 9; ++k)
          entries.emplace_back(3 * p.contact + k / 3, 3 * q.contact + k % 3, block(k / 3, k % 3));
      }
  }
  SparseMatrix W(3 * c.size(), 3 * c.size());
  W.setFromTriplets(entries.begin(), entries.end());
  return W;
}

}  // namespace talus
