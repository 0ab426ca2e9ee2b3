// Contact problems for tests: made by hand, at random, or from the settled beds of ../shared/states.
#pragma once
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "talus/base/hash.hpp"
#include "talus/base/random.hpp"
#include "talus/bodies/bodies.hpp"
#include "talus/collision/contacts.hpp"
#include "talus/math/morton.hpp"
#include "talus/problem/cone_problem.hpp"

namespace talus::test {

/// A contact problem with everything it refers to.
struct Sample {
  Bodies bodies;
  Contacts contacts;
  BodyVector free_velocity;
  GapRule rule;
  ProblemScales scales;

  Local add_ball(const Vec3& x, Real radius, Real mass) {
    const Local i = bodies.size();
    bodies.resize(i + 1);
    bodies.owned = i + 1;
    bodies.id[i] = i;
    bodies.mobility[i] = Mobility::dynamic;
    bodies.position[i] = x;
    bodies.orientation[i] = Quat::Identity();
    bodies.radius[i] = radius;
    bodies.mass[i] = mass;
    bodies.inertia[i] = Vec3::Constant(0.4 * mass * radius * radius);
    bodies.velocity[i] = Twist{};
    free_velocity.resize(i + 1);
    free_velocity[i] = Twist{};
    return i;
  }
  Local add_wall() {
    const Local i = add_ball(Vec3::Zero(), std::numeric_limits<Real>::infinity(), 1);
    bodies.mobility[i] = Mobility::fixed;
    bodies.inertia[i] = Vec3::Ones();
    return i;
  }
  void add_contact(Local a, Local b, const Vec3& n, const Vec3& point, Real gap, Real mu) {
    const Local i = contacts.size();
    contacts.resize(i + 1);
    contacts.a[i] = a;
    contacts.b[i] = b;
    contacts.feature[i] = 0;
    contacts.normal[i] = n;
    contacts.arm_a[i] = point - bodies.position[a];
    contacts.arm_b[i] = point - bodies.position[b];
    contacts.gap[i] = gap;
    contacts.friction[i] = mu;
  }
  ConeProblem problem(const Team& team) const {
    return ConeProblem::from_contacts(contacts, bodies, free_velocity, rule, scales, team);
  }
};

/// One ball of unit radius and mass on the plane z = 0, moving with v; gravity over one step in the free velocity.
inline Sample ball_on_plane(Real mu, const Vec3& v, Real h, Real gravity = 9.81, bool may_turn = true) {
  Sample s;
  s.add_wall();
  s.add_ball(Vec3(0, 0, 1), 1, 1);
  if (!may_turn) s.bodies.inertia[1] = Vec3::Constant(1e300);
  s.free_velocity[1].linear = v - Vec3(0, 0, gravity * h);
  s.rule = {h, -1, gravity};
  s.scales = {1, gravity * h};
  s.add_contact(0, 1, Vec3::UnitZ(), Vec3::Zero(), 0, mu);
  return s;
}

inline Vec3 random_unit(Random& rng) {
  for (;;) {
    const Vec3 v(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1));
    if (v.squaredNorm() <= 1 && v.squaredNorm() > 1e-3) return v.normalized();
  }
}

/// Random bodies with non-spherical inertia and random contacts between them and to a wall. Not a possible place in
/// space, but a possible problem, which is all a solver may ask for.
inline Sample random_sample(std::uint64_t seed, Local bodies, Local contacts, Real mu_max = 1.0, Real mass_ratio = 10) {
  Random rng(seed);
  Sample s;
  s.add_wall();
  for (Local i = 0; i < bodies; ++i) {
    const Local b = s.add_ball(Vec3(rng.uniform(), rng.uniform(), rng.uniform()), 0.5,
                               std::pow(mass_ratio, rng.uniform(0, 1)));
    const Real m = s.bodies.mass[b];
    s.bodies.inertia[b] = m * Vec3(rng.uniform(0.1, 0.3), rng.uniform(0.2, 0.3), rng.uniform(0.1, 0.3));
    s.bodies.orientation[b] = rotation_exp(3 * random_unit(rng));
    s.free_velocity[b] = {random_unit(rng), random_unit(rng)};
  }
  s.rule = {0.01, -1, 9.81};
  s.scales = {1, 0.0981};
  for (Local k = 0; k < contacts; ++k) {
    Local a = static_cast<Local>(rng.uniform() * (bodies + 1)), b = static_cast<Local>(rng.uniform() * (bodies + 1));
    if (a == b) b = a == 0 ? 1 : 0;
    if (a > b) std::swap(a, b);
    const Vec3 n = random_unit(rng);
    s.add_contact(a, b, n, s.bodies.position[b] - 0.5 * random_unit(rng), rng.uniform(-0.001, 0.001),
                  rng.uniform(0, mu_max));
    s.contacts.arm_a.back() = a == 0 ? Vec3::Zero() : Vec3(0.5 * random_unit(rng));
  }
  return s;
}

/// N of a problem as a dense matrix: column by column through apply, and by its definition DᵀM⁻¹D.
inline Eigen::MatrixXd dense_by_apply(const ConeProblem& problem) {
  const Local n = problem.cones().rows();
  Eigen::MatrixXd N(n, n);
  DualVector e = problem.zero(), Ne = problem.zero();
  for (Local j = 0; j < n; ++j) {
    e = 0.0;
    e[j] = 1;
    problem.apply(e, Ne);
    for (Local i = 0; i < n; ++i) N(i, j) = Ne[i];
  }
  return N;
}
inline Eigen::MatrixXd dense_by_definition(const Sample& s) {
  const Local nc = s.contacts.size(), nb = s.bodies.size();
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(6 * nb, 3 * nc), Minv = Eigen::MatrixXd::Zero(6 * nb, 6 * nb);
  auto cross = [](const Vec3& r) {
    Mat33 m;
    m << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
    return m;
  };
  for (Local i = 0; i < nc; ++i) {
    D.block<3, 3>(6 * s.contacts.b[i], 3 * i) = Mat33::Identity();
    D.block<3, 3>(6 * s.contacts.b[i] + 3, 3 * i) = cross(s.contacts.arm_b[i]);
    D.block<3, 3>(6 * s.contacts.a[i], 3 * i) -= Mat33::Identity();
    D.block<3, 3>(6 * s.contacts.a[i] + 3, 3 * i) -= cross(s.contacts.arm_a[i]);
  }
  for (Local j = 0; j < nb; ++j) {
    if (!s.bodies.moves_freely(j)) continue;
    Minv.block<3, 3>(6 * j, 6 * j) = Mat33::Identity() / s.bodies.mass[j];
    const Mat33 R = s.bodies.orientation[j].toRotationMatrix();
    Minv.block<3, 3>(6 * j + 3, 6 * j + 3) = R * s.bodies.inertia[j].cwiseInverse().asDiagonal() * R.transpose();
  }
  return D.transpose() * Minv * D;
}

/// The explicit twin of a problem built from contacts.
inline ConeProblem explicit_twin(const Sample& s, const ConeProblem& problem, const Team& team) {
  std::vector<ConeBlock> blocks(s.contacts.size());
  for (Local i = 0; i < s.contacts.size(); ++i) {
    blocks[i].mu = s.contacts.friction[i];
    blocks[i].normal = s.contacts.normal[i];
  }
  return ConeProblem::from_matrix(dense_by_definition(s).sparseView(), problem.r().values(),
                                  Cones::from_blocks(std::move(blocks)), s.scales, team);
}

/// A settled bed of ../shared/states, `tiles` × `tiles` times side by side (the box grows with them), bodies in Morton
/// order; nothing when the file is not there.
inline std::optional<Sample> settled_bed(const std::string& name, int tiles = 1) {
  std::ifstream in(std::string(TALUS_SOURCE_DIR) + "/../shared/states/" + name);
  if (!in) return {};
  Sample s;
  std::string line, word;
  Vec3 box, slab_size = Vec3::Zero(), slab_at = Vec3::Zero();
  Real mass = 0, mu = 0, h = 0, env = 0, slab_mass = 0;
  struct Ball {
    Vec3 x;
    Real r;
    std::uint64_t key;
  };
  std::vector<Ball> balls;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    if (line.rfind("# box", 0) == 0) {
      words >> word >> word >> box[0] >> box[1] >> box[2] >> word >> mass >> word >> mu >> word >> h >> word >> env;
    } else if (line.rfind("# slab", 0) == 0) {
      words >> word >> word >> word >> slab_size[0] >> slab_size[1] >> slab_size[2] >> word >> slab_mass >> word >>
          slab_at[0] >> slab_at[1] >> slab_at[2];
    } else if (!line.empty() && (std::isdigit(line[0]) || line[0] == '-')) {
      for (char& c : line)
        if (c == ',') c = ' ';
      std::istringstream numbers(line);
      Ball b;
      numbers >> b.x[0] >> b.x[1] >> b.x[2] >> b.r;
      for (int i = 0; i < tiles; ++i)
        for (int j = 0; j < tiles; ++j) balls.push_back({b.x + Vec3(i * box[0], j * box[1], 0), b.r, 0});
    }
  }
  box[0] *= tiles, box[1] *= tiles;
  const Real cell = 2.5 * balls[0].r;
  for (Ball& b : balls) {
    const Vec3 c = (b.x + Vec3::Constant(cell)) / cell;
    b.key = morton_code(static_cast<std::uint64_t>(c[0]), static_cast<std::uint64_t>(c[1]), static_cast<std::uint64_t>(c[2]));
  }
  std::stable_sort(balls.begin(), balls.end(), [](const Ball& a, const Ball& b) { return a.key < b.key; });
  const Local wall = s.add_wall();
  const Local n = static_cast<Local>(balls.size());
  for (const Ball& b : balls) s.add_ball(b.x, b.r, mass);
  Local slab = -1;
  if (slab_mass > 0) {
    slab = s.add_ball(slab_at, 0.5 * slab_size.norm(), slab_mass);
    const Vec3 q = slab_size.cwiseProduct(slab_size);
    s.bodies.inertia[slab] = slab_mass / 12 * Vec3(q[1] + q[2], q[0] + q[2], q[0] + q[1]);
  }
  for (Local i = 1; i < s.bodies.size(); ++i) s.free_velocity[i].linear = Vec3(0, 0, -9.81 * h);
  s.rule = {h, slab >= 0 ? 0.0 : 1e300, 9.81};
  s.scales = {(mass * n + slab_mass) / (n + (slab >= 0)), 9.81 * h};

  std::multimap<std::uint64_t, Local> grid;
  struct Pair {
    Local a, b;
    Vec3 n, point;
    Real gap;
  };
  std::vector<Pair> pairs;
  for (Local i = 1; i <= n; ++i) {
    const Vec3 c = (s.bodies.position[i] + Vec3::Constant(cell)) / cell;
    for (int dx = -1; dx <= 1; ++dx)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dz = -1; dz <= 1; ++dz) {
          const auto range = grid.equal_range(morton_code(static_cast<std::uint64_t>(c[0] + dx), static_cast<std::uint64_t>(c[1] + dy),
                                                          static_cast<std::uint64_t>(c[2] + dz)));
          for (auto it = range.first; it != range.second; ++it) {
            const Local j = it->second;
            const Vec3 d = s.bodies.position[i] - s.bodies.position[j];
            const Real gap = d.norm() - s.bodies.radius[i] - s.bodies.radius[j];
            if (gap >= 2 * env) continue;
            const Vec3 normal = d.normalized();
            pairs.push_back({j, i, normal, s.bodies.position[j] + (s.bodies.radius[j] + 0.5 * gap) * normal, gap});
          }
        }
    grid.emplace(morton_code(static_cast<std::uint64_t>(c[0]), static_cast<std::uint64_t>(c[1]), static_cast<std::uint64_t>(c[2])), i);
    for (int k = 0; k < 3; ++k)
      for (int side = 0; side < (k == 2 ? 1 : 2); ++side) {
        Vec3 normal = Vec3::Zero();
        normal[k] = side == 0 ? 1 : -1;
        const Real gap = (side == 0 ? s.bodies.position[i][k] : box[k] - s.bodies.position[i][k]) - s.bodies.radius[i];
        if (gap < 2 * env) pairs.push_back({wall, i, normal, s.bodies.position[i] - s.bodies.radius[i] * normal, gap});
      }
    if (slab >= 0) {
      // sphere under the flat bottom of the slab
      const Vec3 d = s.bodies.position[i] - s.bodies.position[slab];
      const Real gap = -0.5 * slab_size[2] - d[2] - s.bodies.radius[i];
      if (gap < 2 * env && d[2] < 0)
        pairs.push_back({i, slab, Vec3::UnitZ(), s.bodies.position[i] + s.bodies.radius[i] * Vec3::UnitZ(), gap});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& p, const Pair& q) {
    return std::pair(p.a, p.b) < std::pair(q.a, q.b);
  });
  for (const Pair& p : pairs) s.add_contact(p.a, p.b, p.n, p.point, p.gap, mu);
  return s;
}

}  // namespace talus::test
