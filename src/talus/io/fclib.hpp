// Contact problems in the FCLib layout (HDF5): what solver people exchange, and what `output.problems`
// writes.
//
// Per contact the rows are (N, T1, T2[, R1, R2]), planar (N, T); u_N > 0 opens, r_N ≥ 0 pushes, r is an
// impulse.
//   local :  u = W r + V λ + q,   Vᵀ r + R λ + s = 0
//   global:  M v = H r + G λ + f,   u = Hᵀ v + w,   Gᵀ v + b = 0
//   law   :  K* ∋ û ⟂ r ∈ K,  û = u (CCP) or u + (μ‖u_T‖ + μ_r‖ω_R‖) e_N (exact Coulomb)
#pragma once
#include <filesystem>
#include <string>

#include "talus/base/types.hpp"
#include "talus/problem/delassus.hpp"

namespace talus {

using Vector = Eigen::VectorXd;

/// A problem as the file states it. Vectors and matrices the file does not have are empty.
struct FclibProblem {
  enum class Form { local, global };

  std::string name;                ///< the file's name without directory and ending
  std::string title, description;  ///< free text
  Form form = Form::local;
  int block = 3;    ///< rows per contact: 2 planar, 3 spatial, 5 with rolling resistance
  Vector friction;  ///< μ, one per contact
  Vector rolling;   ///< μ_r, one per contact when block = 5

  SparseMatrix W, V, R;  ///< local; V, R, s: equality rows not yet eliminated
  Vector q, s;
  SparseMatrix M, H, G;  ///< global; G, b: equality rows
  Vector f, w, b;

  /// A start or a solution stored with it; v only in the global form.
  struct State {
    Vector v, u, r;
  };
  State guess, solution;

  Local contacts() const { return static_cast<Local>(friction.size()); }
  bool is_rolling() const { return block == 5; }
};

/// Reads any of /fclib_local, /fclib_global, /fclib_local_rolling, /fclib_global_rolling. Every size, index
/// and value is checked; a file that is damaged, truncated or inconsistent throws InputError naming file and
/// object.
FclibProblem read_fclib(const std::filesystem::path& path);

/// Writes the problem (and guess and solution where it has them) beside `path` and renames: the file is there
/// whole or not at all. Matrices in compressed rows, which FCLib's own reader and Siconos take.
void write_fclib(const FclibProblem& problem, const std::filesystem::path& path);

/// The local form with all equality rows eliminated: u = W r + q.
struct ReducedProblem {
  SparseMatrix W;
  Vector q;
};

/// W = Hᵀ A⁻¹ H and q likewise, A = M or, with equality rows, [M −G; Gᵀ 0]. A is cut into its connected
/// parts, each factorised by pivoted LU (M need not be symmetric). Throws InputError where a part is
/// singular.
ReducedProblem reduce(const FclibProblem& problem);

}  // namespace talus
