#include "talus/io/fclib.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "talus/base/error.hpp"
#include "talus/io/hdf5_file.hpp"

namespace talus {
namespace {

/// Rows, columns and contacts beyond this cannot be meant: it keeps sums of sizes inside 32 bits and an
/// absurd header from asking for all memory.
constexpr int largest_size = 500'000'000;

/// Reading one problem: `root` is the group the problem is in, errors name file and object.
class Reader {
 public:
  Reader(const Hdf5File& file, std::string root) : file_(file), root_(std::move(root)) {}

  [[noreturn]] void fail(const std::string& object, const std::string& what) const {
    throw InputError(fmt::format("{}: {}: {}", file_.path(), object, what));
  }
  std::string object(const std::string& name) const { return root_ + "/" + name; }
  bool has(const std::string& name) const { return file_.exists(object(name)); }

  int integer(const std::string& name, int low, int high) const {
    const int value = file_.read_scalar<int>(object(name));
    if (value < low || value > high)
      fail(object(name), fmt::format("{} is out of range, should be {} to {}", value, low, high));
    return value;
  }

  /// `size` numbers, all finite; size < 0: as many as there are.
  Vector vector(const std::string& name, Eigen::Index size, const std::string& why) const {
    if (!has(name)) fail(object(name), "is missing");
    const std::vector<double> x = file_.read<double>(object(name));
    if (size >= 0 && static_cast<Eigen::Index>(x.size()) != size)
      fail(object(name), fmt::format("has {} numbers, should have {} ({})", x.size(), size, why));
    for (std::size_t k = 0; k < x.size(); ++k)
      if (!std::isfinite(x[k]))
        fail(object(name), fmt::format("entry {} is {}, should be a finite number", k, x[k]));
    return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
  }

  Vector coefficients(const std::string& name, Eigen::Index size, const std::string& why) const {
    Vector mu = vector(name, size, why);
    for (Eigen::Index k = 0; k < mu.size(); ++k)
      if (mu[k] < 0)
        fail(object(name),
             fmt::format("entry {} is {}, a friction coefficient cannot be negative", k, mu[k]));
    return mu;
  }

  SparseMatrix matrix(const std::string& name) const;

 private:
  const Hdf5File& file_;
  std::string root_;
};

/// nz = −2: compressed rows, −1: compressed columns, ≥ 0: that many triplets. On disk triplets have i = row
/// and p = column, whatever the comment in fclib.h says; nzmax may exceed what is stored.
SparseMatrix Reader::matrix(const std::string& name) const {
  const std::string at = object(name);
  if (!file_.is_group(at)) fail(at, file_.exists(at) ? "should be a group holding a matrix" : "is missing");
  const int m = integer(name + "/m", 0, largest_size), n = integer(name + "/n", 0, largest_size);
  const int nzmax = integer(name + "/nzmax", 0, std::numeric_limits<int>::max());
  const int nz = integer(name + "/nz", -2, nzmax);
  const std::vector<int> p = file_.read<int>(at + "/p"), i = file_.read<int>(at + "/i");
  const Vector x = vector(name + "/x", -1, "");
  const auto stored = static_cast<std::size_t>(x.size());

  std::vector<Eigen::Triplet<Real>> entries;
  const auto add = [&](int row, int column, std::size_t k) {
    if (row < 0 || row >= m || column < 0 || column >= n)
      fail(at, fmt::format("entry {} is at row {}, column {} of a {} x {} matrix", k, row, column, m, n));
    entries.emplace_back(row, column, x[static_cast<Eigen::Index>(k)]);
  };
  if (nz >= 0) {
    const auto count = static_cast<std::size_t>(nz);
    if (stored < count || i.size() < count || p.size() < count)
      fail(at, fmt::format("says it has {} triplets, but {} rows, {} columns and {} values are stored", nz,
                           i.size(), p.size(), stored));
    entries.reserve(count);
    for (std::size_t k = 0; k < count; ++k) add(i[k], p[k], k);
  } else {
    const bool by_rows = nz == -2;
    const int lines = by_rows ? m : n;
    if (p.size() != static_cast<std::size_t>(lines) + 1)
      fail(at + "/p", fmt::format("has {} numbers, should have {} (one more than {})", p.size(), lines + 1,
                                  by_rows ? "rows" : "columns"));
    if (p.front() != 0) fail(at + "/p", fmt::format("begins with {}, should begin with 0", p.front()));
    const auto count = static_cast<std::size_t>(std::max(0, p.back()));
    if (i.size() < count)
      fail(at + "/i", fmt::format("has {} indices, should have {} (the end of p)", i.size(), p.back()));
    if (stored < count)
      fail(at + "/x", fmt::format("has {} values, should have {} (the end of p)", stored, p.back()));
    entries.reserve(count);
    for (int line = 0; line < lines; ++line)
      if (p[line + 1] < p[line])
        fail(at + "/p", fmt::format("falls from {} to {} at {}", p[line], p[line + 1], line + 1));
    for (int line = 0; line < lines; ++line)
      for (int k = p[line]; k < p[line + 1]; ++k)
        add(by_rows ? line : i[k], by_rows ? i[k] : line, static_cast<std::size_t>(k));
  }
  SparseMatrix A(m, n);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

void expect_size(const Reader& in, const std::string& name, const SparseMatrix& A, Eigen::Index rows,
                 Eigen::Index columns, const std::string& why) {
  if (A.rows() != rows || A.cols() != columns)
    in.fail(in.object(name),
            fmt::format("is {} x {}, should be {} x {} ({})", A.rows(), A.cols(), rows, columns, why));
}

/// The states FCLib stores beside a problem; Siconos writes zeros for r there, which callers have to judge.
FclibProblem::State read_state(const Hdf5File& file, const std::string& group, Eigen::Index rows,
                               Eigen::Index dofs) {
  FclibProblem::State state;
  if (!file.is_group(group)) return state;
  const Reader in(file, group);
  if (in.has("u")) state.u = in.vector("u", rows, "rows of the problem");
  if (in.has("r")) state.r = in.vector("r", rows, "rows of the problem");
  if (in.has("v") && dofs > 0) state.v = in.vector("v", dofs, "rows of M");
  return state;
}

void write_matrix(Hdf5File& file, const std::string& group, const SparseMatrix& matrix) {
  SparseMatrix A = matrix;
  A.makeCompressed();
  const auto count = static_cast<std::size_t>(A.nonZeros());
  file.write_scalar<int>(group + "/nzmax", static_cast<int>(count));
  file.write_scalar<int>(group + "/m", static_cast<int>(A.rows()));
  file.write_scalar<int>(group + "/n", static_cast<int>(A.cols()));
  file.write_scalar<int>(group + "/nz", -2);
  file.write(group + "/p", std::span<const int>(A.outerIndexPtr(), static_cast<std::size_t>(A.rows()) + 1));
  file.write(group + "/i", std::span<const int>(A.innerIndexPtr(), count));
  file.write(group + "/x", std::span<const double>(A.valuePtr(), count));
}

void write_vector(Hdf5File& file, const std::string& dataset, const Vector& x) {
  file.write(dataset, std::span<const double>(x.data(), static_cast<std::size_t>(x.size())));
}

void write_state(Hdf5File& file, const std::string& group, const FclibProblem::State& state) {
  if (state.v.size()) write_vector(file, group + "/v", state.v);
  if (state.u.size()) write_vector(file, group + "/u", state.u);
  if (state.r.size()) write_vector(file, group + "/r", state.r);
}

}  // namespace

FclibProblem read_fclib(const std::filesystem::path& path) {
  const Hdf5File file = Hdf5File::open(path.string());
  std::string root;
  for (const char* name : {"fclib_local", "fclib_global", "fclib_local_rolling", "fclib_global_rolling"})
    if (file.is_group(name)) {
      if (!root.empty())
        throw InputError(
            fmt::format("{}: holds both /{} and /{}, should hold one problem", path.string(), root, name));
      root = name;
    }
  if (root.empty())
    throw InputError(
        fmt::format("{}: holds no contact problem: none of /fclib_local, /fclib_global, "
                    "/fclib_local_rolling, /fclib_global_rolling is there",
                    path.string()));
  const Reader in(file, root);
  const bool rolling = root.ends_with("_rolling");

  FclibProblem p;
  p.name = path.stem().string();
  p.form = root.starts_with("fclib_global") ? FclibProblem::Form::global : FclibProblem::Form::local;
  if (in.has("info/title")) p.title = file.read_text(in.object("info/title"));
  if (in.has("info/description")) p.description = file.read_text(in.object("info/description"));
  p.block = in.integer("spacedim", 2, 5);
  if (rolling ? p.block != 5 : p.block > 3)
    in.fail(in.object("spacedim"), fmt::format("is {}, should be {}", p.block, rolling ? "5" : "2 or 3"));

  p.friction = in.coefficients("vectors/mu", -1, "");
  if (p.friction.size() > largest_size / p.block) in.fail(in.object("vectors/mu"), "has too many contacts");
  const Eigen::Index rows = p.friction.size() * p.block;
  if (rolling) p.rolling = in.coefficients("vectors/mu_r", p.friction.size(), "one per contact");

  if (p.form == FclibProblem::Form::local) {
    p.W = in.matrix("W");
    expect_size(in, "W", p.W, rows, rows, fmt::format("{} contacts of {} rows", p.contacts(), p.block));
    p.q = in.vector("vectors/q", rows, "rows of W");
    if (in.has("V")) {
      p.V = in.matrix("V");
      p.R = in.matrix("R");
      expect_size(in, "V", p.V, rows, p.R.rows(), "rows of W by rows of R");
      expect_size(in, "R", p.R, p.R.rows(), p.R.rows(), "a square matrix");
      p.s = in.vector("vectors/s", p.R.rows(), "rows of R");
    }
  } else {
    p.M = in.matrix("M");
    expect_size(in, "M", p.M, p.M.rows(), p.M.rows(), "a square matrix");
    p.H = in.matrix("H");
    expect_size(in, "H", p.H, p.M.rows(), rows,
                fmt::format("rows of M by {} contacts of {} rows", p.contacts(), p.block));
    p.f = in.vector("vectors/f", p.M.rows(), "rows of M");
    p.w = in.vector("vectors/w", rows, "columns of H");
    if (in.has("G")) {
      p.G = in.matrix("G");
      expect_size(in, "G", p.G, p.M.rows(), p.G.cols(), "as many rows as M");
      p.b = in.vector("vectors/b", p.G.cols(), "columns of G");
    }
  }
  p.guess = read_state(file, "guesses/1", rows, p.M.rows());
  p.solution = read_state(file, "solution", rows, p.M.rows());
  return p;
}

void write_fclib(const FclibProblem& p, const std::filesystem::path& path) {
  std::filesystem::path beside = path;
  beside += ".part";
  Hdf5File file = Hdf5File::create(beside.string());
  const bool global = p.form == FclibProblem::Form::global;
  const std::string root =
      fmt::format("fclib_{}{}", global ? "global" : "local", p.is_rolling() ? "_rolling" : "");
  file.write_scalar<int>(root + "/spacedim", p.block);
  file.write_text(root + "/info/title", p.title);
  file.write_text(root + "/info/description", p.description);
  file.write_text(root + "/info/math_info", "");
  write_vector(file, root + "/vectors/mu", p.friction);
  if (p.is_rolling()) write_vector(file, root + "/vectors/mu_r", p.rolling);
  if (global) {
    write_matrix(file, root + "/M", p.M);
    write_matrix(file, root + "/H", p.H);
    write_vector(file, root + "/vectors/f", p.f);
    write_vector(file, root + "/vectors/w", p.w);
    if (p.G.cols()) {
      write_matrix(file, root + "/G", p.G);
      write_vector(file, root + "/vectors/b", p.b);
    }
  } else {
    write_matrix(file, root + "/W", p.W);
    write_vector(file, root + "/vectors/q", p.q);
    if (p.V.cols()) {
      write_matrix(file, root + "/V", p.V);
      write_matrix(file, root + "/R", p.R);
      write_vector(file, root + "/vectors/s", p.s);
    }
  }
  if (p.guess.r.size()) {
    file.write_scalar<int>("guesses/number_of_guesses", 1);
    write_state(file, "guesses/1", p.guess);
  }
  if (p.solution.r.size()) write_state(file, "solution", p.solution);
  file.close();
  std::error_code failed;
  std::filesystem::rename(beside, path, failed);
  if (failed) throw RunError(fmt::format("{}: cannot be written: {}", path.string(), failed.message()));
}

}  // namespace talus
