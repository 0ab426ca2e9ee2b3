// FCLib files: everything in the shared collection is read, what we write comes back, damage is named.
#include "talus/io/fclib.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "io/temporary.hpp"
#include "talus/base/error.hpp"
#include "talus/base/random.hpp"
#include "talus/io/hdf5_file.hpp"

namespace talus {
namespace {

namespace fs = std::filesystem;

const fs::path collection = fs::path(TALUS_SOURCE_DIR) / ".." / "shared" / "fclib";

class Fclib : public testing::Test {
 protected:
  fs::path file(const std::string& name = "problem.hdf5") const { return directory_.path() / name; }

 private:
  TemporaryDirectory directory_;
};

SparseMatrix random_matrix(Random& random, int rows, int columns, double density) {
  std::vector<Eigen::Triplet<Real>> entries;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (random.uniform() < density) entries.emplace_back(i, j, random.uniform(-1, 1));
  SparseMatrix A(rows, columns);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

Vector random_vector(Random& random, Eigen::Index n) {
  Vector x(n);
  for (Real& e : x) e = random.uniform(-1, 1);
  return x;
}

SparseMatrix regular_matrix(Random& random, int n, double density) {
  SparseMatrix A = random_matrix(random, n, n, density);
  for (int i = 0; i < n; ++i) A.coeffRef(i, i) += n;
  return A;
}

FclibProblem random_global(int block, int contacts, int dofs, int equalities) {
  Random random(7 + static_cast<std::uint64_t>(block));
  FclibProblem p;
  p.name = "problem";
  p.title = "a test";
  p.description = "random numbers";
  p.form = FclibProblem::Form::global;
  p.block = block;
  p.friction = random_vector(random, contacts).cwiseAbs();
  if (block == 5) p.rolling = random_vector(random, contacts).cwiseAbs();
  p.M = regular_matrix(random, dofs, 0.1);
  p.H = random_matrix(random, dofs, block * contacts, 0.3);
  p.f = random_vector(random, dofs);
  p.w = random_vector(random, p.H.cols());
  if (equalities) {
    p.G = random_matrix(random, dofs, equalities, 0.6);
    p.b = random_vector(random, equalities);
  }
  p.guess = {random_vector(random, dofs), random_vector(random, p.H.cols()),
             random_vector(random, p.H.cols())};
  p.solution = {random_vector(random, dofs), random_vector(random, p.H.cols()),
                random_vector(random, p.H.cols())};
  return p;
}

FclibProblem random_local(int block, int contacts, int equalities) {
  Random random(70 + static_cast<std::uint64_t>(block));
  FclibProblem p;
  p.name = "problem";
  p.block = block;
  p.friction = random_vector(random, contacts).cwiseAbs();
  if (block == 5) p.rolling = random_vector(random, contacts).cwiseAbs();
  p.W = regular_matrix(random, block * contacts, 0.2);
  p.q = random_vector(random, p.W.rows());
  if (equalities) {
    p.V = random_matrix(random, block * contacts, equalities, 0.4);
    p.R = regular_matrix(random, equalities, 0.4);
    p.s = random_vector(random, equalities);
  }
  return p;
}

void expect_same(const SparseMatrix& a, const SparseMatrix& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  EXPECT_EQ(Eigen::MatrixXd(a), Eigen::MatrixXd(b));
}

void expect_same(const FclibProblem& a, const FclibProblem& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.description, b.description);
  EXPECT_EQ(a.form, b.form);
  EXPECT_EQ(a.block, b.block);
  EXPECT_EQ(a.friction, b.friction);
  EXPECT_EQ(a.rolling, b.rolling);
  expect_same(a.W, b.W), expect_same(a.V, b.V), expect_same(a.R, b.R);
  expect_same(a.M, b.M), expect_same(a.H, b.H), expect_same(a.G, b.G);
  for (const auto member :
       {&FclibProblem::q, &FclibProblem::s, &FclibProblem::f, &FclibProblem::w, &FclibProblem::b})
    EXPECT_EQ(a.*member, b.*member);
  for (const auto member : {&FclibProblem::State::v, &FclibProblem::State::u, &FclibProblem::State::r}) {
    EXPECT_EQ(a.guess.*member, b.guess.*member);
    EXPECT_EQ(a.solution.*member, b.solution.*member);
  }
}

TEST_F(Fclib, WhatIsWrittenComesBack) {
  for (const int block : {2, 3, 5})
    for (const int equalities : {0, 2}) {
      for (const FclibProblem& p :
           {random_global(block, 4, 18, equalities), random_local(block, 5, equalities)}) {
        write_fclib(p, file());
        expect_same(p, read_fclib(file()));
      }
    }
}

TEST_F(Fclib, AProblemWithoutContactsComesBack) {
  const FclibProblem p = random_global(3, 0, 6, 0);
  write_fclib(p, file());
  EXPECT_EQ(read_fclib(file()).contacts(), 0);
  EXPECT_EQ(reduce(p).W.rows(), 0);
}

TEST_F(Fclib, ReducingSolvesTheWholeSystem) {
  for (const int equalities : {0, 3}) {
    const FclibProblem p = random_global(3, 4, 20, equalities);
    const ReducedProblem reduced = reduce(p);
    Random random(3);
    const Vector r = random_vector(random, p.H.cols());
    // the whole system, dense: M v − G λ = H r + f, Gᵀ v = −b
    const int n = 20, e = equalities;
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n + e, n + e);
    A.topLeftCorner(n, n) = Eigen::MatrixXd(p.M);
    if (e) {
      A.topRightCorner(n, e) = -Eigen::MatrixXd(p.G);
      A.bottomLeftCorner(e, n) = Eigen::MatrixXd(p.G).transpose();
    }
    Vector c = Vector::Zero(n + e);
    c.head(n) = p.H * r + p.f;
    if (e) c.tail(e) = -p.b;
    const Vector v = A.fullPivLu().solve(c).head(n);
    const Vector u = p.H.transpose() * v + p.w;
    EXPECT_LT((reduced.W * r + reduced.q - u).norm(), 1e-12 * u.norm());
  }
  const FclibProblem p = random_local(3, 5, 2);
  const ReducedProblem reduced = reduce(p);
  Random random(4);
  const Vector r = random_vector(random, p.W.rows());
  const Vector lambda = Eigen::MatrixXd(p.R).fullPivLu().solve(-(p.V.transpose() * r + p.s));
  const Vector u = p.W * r + p.V * lambda + p.q;
  EXPECT_LT((reduced.W * r + reduced.q - u).norm(), 1e-12 * u.norm());
}

TEST_F(Fclib, ReducingLargeConnectedPartsIsTheSameAsSmallOnes) {
  // one chain of 1500 unknowns (factorised sparse) against the dense solution
  const int n = 1500;
  FclibProblem p = random_global(3, 3, n, 0);
  std::vector<Eigen::Triplet<Real>> chain;
  for (int i = 0; i < n; ++i) {
    chain.emplace_back(i, i, 4);
    if (i) chain.emplace_back(i, i - 1, -1), chain.emplace_back(i - 1, i, -1.5);
  }
  p.M.setZero();
  p.M.setFromTriplets(chain.begin(), chain.end());
  const ReducedProblem reduced = reduce(p);
  const Eigen::MatrixXd W = p.H.transpose() * Eigen::MatrixXd(p.M).partialPivLu().solve(Eigen::MatrixXd(p.H));
  EXPECT_LT((Eigen::MatrixXd(reduced.W) - W).norm(), 1e-12 * W.norm());
}

TEST_F(Fclib, SingularMassIsNamed) {
  FclibProblem p = random_global(3, 2, 6, 0);
  p.M = p.M * 0.0;
  try {
    reduce(p);
    FAIL() << "a singular M was accepted";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("M is singular"), std::string::npos) << e.what();
  }
}

TEST_F(Fclib, MatricesInAllThreeLayoutsAreTheSame) {
  // 2 x 2 blocks of one planar contact; on disk triplets have i = row and p = column, nzmax larger than
  // stored
  const auto write = [&](int nz, std::vector<int> p, std::vector<int> i, std::vector<double> x, int nzmax) {
    Hdf5File out = Hdf5File::create(file().string());
    out.write_scalar<int>("fclib_local/spacedim", 2);
    out.write_scalar<int>("fclib_local/W/m", 2);
    out.write_scalar<int>("fclib_local/W/n", 2);
    out.write_scalar<int>("fclib_local/W/nz", nz);
    out.write_scalar<int>("fclib_local/W/nzmax", nzmax);
    out.write("fclib_local/W/p", p);
    out.write("fclib_local/W/i", i);
    out.write("fclib_local/W/x", x);
    out.write("fclib_local/vectors/mu", std::vector<double>{0.5});
    out.write("fclib_local/vectors/q", std::vector<double>{1, 2});
    out.close();
    return Eigen::MatrixXd(read_fclib(file()).W);
  };
  Eigen::MatrixXd expected(2, 2);
  expected << 1, 2, 0, 3;
  EXPECT_EQ(write(-2, {0, 2, 3}, {0, 1, 1}, {1, 2, 3}, 3), expected);  // compressed rows
  EXPECT_EQ(write(-1, {0, 1, 3}, {0, 0, 1}, {1, 2, 3}, 3), expected);  // compressed columns
  EXPECT_EQ(write(3, {0, 1, 1}, {0, 0, 1}, {1, 2, 3}, 24), expected);  // triplets
}

TEST_F(Fclib, EveryInconsistencyNamesFileAndObject) {
  const FclibProblem global = random_global(3, 2, 6, 0), local = random_local(5, 2, 0);
  // Objects are rewritten by copying the good file but for one object.
  const auto damaged = [&](const FclibProblem& base, const std::string& skip,
                           const std::function<void(Hdf5File&)>& put) {
    write_fclib(base, file("good.hdf5"));
    Hdf5File in = Hdf5File::open(file("good.hdf5").string()),
             out = Hdf5File::create(file("bad.hdf5").string());
    std::function<void(const std::string&)> copy = [&](const std::string& at) {
      for (const std::string& child : in.children(at.empty() ? "/" : at)) {
        const std::string name = at.empty() ? child : at + "/" + child;
        if (name == skip) continue;
        if (in.is_group(name))
          copy(name);
        else if (in.type_name(name) == "text")
          out.write_text(name, in.read_text(name));
        else if (in.type_name(name) == "int32")
          out.write(name, in.read<int>(name));
        else
          out.write(name, in.read<double>(name));
      }
    };
    copy("");
    put(out);
    out.close();
  };
  const auto complaint = [&](const FclibProblem& base, const std::string& object,
                             const std::function<void(Hdf5File&)>& put) {
    damaged(base, object, put);
    try {
      read_fclib(file("bad.hdf5"));
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("bad.hdf5"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(object), std::string::npos)
          << "expected " << object << " in: " << e.what();
      return std::string(e.what());
    }
    ADD_FAILURE() << "accepted with a damaged " << object;
    return std::string();
  };
  const auto nothing = [](Hdf5File&) {};
  const Real nan = std::nan("");
  for (const char* object : {"spacedim", "vectors/mu", "vectors/f", "vectors/w", "M/p", "M/i", "M/x", "M/m",
                             "M/nz", "H/n", "M", "H"})
    complaint(global, std::string("fclib_global/") + object, nothing);  // missing
  for (const char* object : {"vectors/mu_r", "vectors/q", "W"})
    complaint(local, std::string("fclib_local_rolling/") + object, nothing);
  const auto numbers = [](const std::string& at, std::vector<double> x) {
    return [=](Hdf5File& out) { out.write(at, x); };
  };
  const auto integers = [](const std::string& at, std::vector<int> x) {
    return [=](Hdf5File& out) { out.write(at, x); };
  };
  complaint(global, "fclib_global/vectors/mu", numbers("fclib_global/vectors/mu", {0.5, -0.1}));  // negative
  complaint(global, "fclib_global/vectors/mu",
            numbers("fclib_global/vectors/mu", {0.5, nan}));                                  // not a number
  complaint(global, "fclib_global/vectors/f", numbers("fclib_global/vectors/f", {1, 2, 3}));  // too short
  complaint(global, "fclib_global/vectors/w", numbers("fclib_global/vectors/w", {1, 2, 3, 4, 5, INFINITY}));
  complaint(global, "fclib_global/spacedim", integers("fclib_global/spacedim", {4}));
  complaint(global, "fclib_global/spacedim", integers("fclib_global/spacedim", {3, 3}));
  complaint(local, "fclib_local_rolling/spacedim", integers("fclib_local_rolling/spacedim", {3}));
  complaint(global, "fclib_global/M/m", integers("fclib_global/M/m", {-6}));
  complaint(global, "fclib_global/M/m", integers("fclib_global/M/m", {2000000000}));
  complaint(global, "fclib_global/M/nz", integers("fclib_global/M/nz", {-3}));
  complaint(global, "fclib_global/M/p", integers("fclib_global/M/p", {0, 1, 2}));              // too short
  complaint(global, "fclib_global/M/p", integers("fclib_global/M/p", {0, 2, 1, 3, 4, 5, 6}));  // falls
  complaint(global, "fclib_global/M/p",
            integers("fclib_global/M/p", {1, 2, 3, 4, 5, 6, 6}));  // begins with 1
  complaint(global, "fclib_global/M/p",
            integers("fclib_global/M/p", {0, 1, 2, 3, 4, 5, -6}));  // ends below zero
  complaint(global, "fclib_global/M/x", numbers("fclib_global/M/x", {1}));
  // several contacts more or fewer: H and W no longer fit
  const auto two = complaint(global, "fclib_global/vectors/mu", nothing);
  EXPECT_NE(two.find("missing"), std::string::npos) << two;
  damaged(global, "fclib_global/vectors/mu", numbers("fclib_global/vectors/mu", {0.5, 0.5, 0.5}));
  EXPECT_THROW(read_fclib(file("bad.hdf5")), InputError);
  // an index outside the matrix
  std::vector<int> index(static_cast<std::size_t>(global.M.nonZeros()), 0);
  index.back() = 6;
  damaged(global, "fclib_global/M/i", integers("fclib_global/M/i", index));
  try {
    read_fclib(file("bad.hdf5"));
    FAIL() << "an index outside the matrix was accepted";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("column 6 of a 6 x 6"), std::string::npos) << e.what();
  }
}

TEST_F(Fclib, TruncatedFilesAreRefused) {
  write_fclib(random_global(3, 5, 18, 0), file("whole.hdf5"));
  std::ifstream in(file("whole.hdf5"), std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  const std::string whole = bytes.str();
  ASSERT_GT(whole.size(), 1000u);
  for (std::size_t k = 0; k < 40; ++k) {
    const std::size_t length = whole.size() * k / 40;
    std::ofstream(file("cut.hdf5"), std::ios::binary) << whole.substr(0, length);
    EXPECT_THROW(read_fclib(file("cut.hdf5")), InputError)
        << "cut to " << length << " of " << whole.size() << " bytes";
  }
}

TEST_F(Fclib, DamagedBytesNeverCrash) {
  // Random bytes overwritten: either an InputError or a problem whose sizes still fit together.
  write_fclib(random_global(3, 5, 18, 0), file("whole.hdf5"));
  std::ifstream in(file("whole.hdf5"), std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  Random random(11);
  int refused = 0;
  for (int k = 0; k < 400; ++k) {
    std::string damaged = bytes.str();
    for (int j = 0; j < 3; ++j) damaged[random.bits() % damaged.size()] = static_cast<char>(random.bits());
    std::ofstream(file("bad.hdf5"), std::ios::binary) << damaged;
    try {
      const FclibProblem p = read_fclib(file("bad.hdf5"));
      EXPECT_EQ(p.H.cols(), p.block * p.contacts());
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 40);
}

TEST_F(Fclib, OtherFilesAreRefused) {
  EXPECT_THROW(read_fclib(file("absent.hdf5")), InputError);
  std::ofstream(file("text.hdf5")) << "not HDF5 at all";
  EXPECT_THROW(read_fclib(file("text.hdf5")), InputError);
  Hdf5File::create(file("empty.hdf5").string()).close();
  EXPECT_THROW(read_fclib(file("empty.hdf5")), InputError);
}

/// name → column → text, of a CSV without quotes that matter.
std::map<std::string, std::map<std::string, std::string>> read_table(const fs::path& path) {
  std::ifstream in(path);
  std::map<std::string, std::map<std::string, std::string>> table;
  std::vector<std::string> head;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        cells.emplace_back();
      else if (c != '\r')
        cells.back() += c;
    }
    if (head.empty())
      head = cells;
    else
      for (std::size_t k = 0; k < cells.size() && k < head.size(); ++k) table[cells[0]][head[k]] = cells[k];
  }
  return table;
}

TEST_F(Fclib, TheWholeCollectionIsReadAndReduced) {
  if (!fs::exists(collection / "index.csv"))
    GTEST_SKIP() << "the shared FCLib collection is not there: " << collection;
  int files = 0;
  for (const auto& [name, row] : read_table(collection / "index.csv")) {
    SCOPED_TRACE(name);
    const FclibProblem p = read_fclib(collection / (name + ".hdf5"));
    ++files;
    EXPECT_EQ(p.contacts(), std::stoi(row.at("contacts")));
    EXPECT_EQ(p.block, std::stoi(row.at("spacedim")));
    const std::string kind = std::string(p.form == FclibProblem::Form::global ? "global" : "local") +
                             (p.is_rolling() ? "_rolling" : "");
    EXPECT_EQ(kind, row.at("kind"));
    if (p.form == FclibProblem::Form::global) {
      EXPECT_EQ(p.M.rows(), std::stoi(row.at("dofs")));
    }
    const ReducedProblem reduced = reduce(p);
    ASSERT_EQ(reduced.W.rows(), p.block * p.contacts());
    ASSERT_EQ(reduced.q.size(), p.block * p.contacts());
    // the asymmetry of W the index states (max |W − Wᵀ| / max |W|), where it is above round-off
    const double stated = std::stod(row.at("rel_asymmetry_W"));
    const SparseMatrix transposed = reduced.W.transpose();
    const double asymmetry = SparseMatrix(reduced.W - transposed).coeffs().cwiseAbs().maxCoeff() /
                             reduced.W.coeffs().cwiseAbs().maxCoeff();
    if (stated > 1e-8)
      EXPECT_NEAR(asymmetry / stated, 1, 0.06);
    else
      EXPECT_LT(asymmetry, 1e-10);
  }
  EXPECT_EQ(files, 83);
}

}  // namespace
}  // namespace talus
