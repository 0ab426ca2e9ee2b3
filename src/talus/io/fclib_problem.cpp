#include "talus/io/fclib_problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "talus/base/error.hpp"

namespace talus {

ConeProblem cone_problem(const FclibProblem& file, const Team& team) {
  ReducedProblem reduced = reduce(file);
  const Local contacts = file.contacts();
  std::vector<ConeBlock> blocks(static_cast<std::size_t>(contacts));
  Real normal_sum = 0;
  for (Local i = 0; i < contacts; ++i) {
    ConeBlock& block = blocks[static_cast<std::size_t>(i)];
    block.kind = file.block == 2 ? ConeKind::planar : file.block == 3 ? ConeKind::coulomb : ConeKind::rolling;
    block.mu = file.friction[i];
    block.mu_r = file.is_rolling() ? file.rolling[i] : 0;
    block.normal = Vec3::UnitX();  // the file's rows are (N, T1, T2): its frame is our world
    normal_sum += reduced.W.coeff(file.block * i, file.block * i);
  }
  ProblemScales scales;
  const Real speed = contacts ? reduced.q.norm() / std::sqrt(static_cast<Real>(contacts)) : 0;
  if (normal_sum > 0) scales.mass = static_cast<Real>(contacts) / normal_sum;
  if (speed > 0) scales.speed = speed;
  return ConeProblem::from_matrix(
      std::move(reduced.W),
      std::span<const Real>(reduced.q.data(), static_cast<std::size_t>(reduced.q.size())),
      Cones::from_blocks(std::move(blocks)), scales, team);
}

FclibProblem::State fclib_state(const ConeProblem& problem, const DualVector& gamma) {
  DualVector u = problem.zero();
  problem.velocity(gamma, u);
  FclibProblem::State state;
  state.u = Eigen::Map<const Vector>(u.data(), u.size());
  state.r = Eigen::Map<const Vector>(gamma.data(), gamma.size());
  return state;
}

namespace {

/// Rows of M and H: six per freely moving body, −1 where a body has none.
std::vector<Local> rows_of_bodies(const Bodies& bodies, Local& rows) {
  std::vector<Local> first(static_cast<std::size_t>(bodies.size()), -1);
  rows = 0;
  for (Local i = 0; i < bodies.size(); ++i)
    if (bodies.moves_freely(i)) {
      first[static_cast<std::size_t>(i)] = rows;
      rows += 6;
    }
  return first;
}

using Triplets = std::vector<Eigen::Triplet<Real>>;

void put(Triplets& entries, Local row, Local column, const Vec3& v) {
  for (int k = 0; k < 3; ++k)
    if (v[k] != 0) entries.emplace_back(row + k, column, v[k]);
}

Mat33 world_inertia(const Bodies& bodies, Local i) {
  const Vec3& J = bodies.inertia[i];
  if (J[0] == J[1] && J[1] == J[2]) return J[0] * Mat33::Identity();  // exactly, whatever the orientation
  const Mat33 R = bodies.orientation[i].toRotationMatrix();
  return R * J.asDiagonal() * R.transpose();
}

}  // namespace

FclibProblem fclib_of_step(const ConeProblem& problem, const Bodies& bodies, const DualVector* gamma) {
  const ContactOperator* N = problem.contact_operator();
  if (!N || !problem.free_velocity())
    throw RunError("only problems built from contacts have bodies to write");
  const Contacts& contacts = N->contacts();
  const BodyVector& free = *problem.free_velocity();
  const Local nc = contacts.size();

  FclibProblem p;
  p.form = FclibProblem::Form::global;
  p.block = 3;
  p.title = "Talus";
  p.description =
      "One time step: v = (linear, angular) velocity of every moving body, world axes, SI units; r impulses; "
      "w holds gap/h (overlap at the bounded recovery speed) and the velocities of driven bodies.";
  Local dofs = 0;
  const std::vector<Local> first = rows_of_bodies(bodies, dofs);
  Triplets m, h;
  p.f.resize(dofs);
  for (Local i = 0; i < bodies.size(); ++i) {
    const Local row = first[static_cast<std::size_t>(i)];
    if (row < 0) continue;
    const Mat33 J = world_inertia(bodies, i);
    for (int k = 0; k < 3; ++k) m.emplace_back(row + k, row + k, bodies.mass[i]);
    for (int k = 0; k < 3; ++k) put(m, row + 3, row + 3 + k, J.col(k));
    p.f.segment<3>(row) = bodies.mass[i] * free[i].linear;
    p.f.segment<3>(row + 3) = J * free[i].angular;
  }
  p.M.resize(dofs, dofs);
  p.M.setFromTriplets(m.begin(), m.end());

  p.friction = Eigen::Map<const Vector>(contacts.friction.data(), nc);
  p.w.resize(3 * nc);
  if (gamma) p.solution = fclib_state(problem, *gamma);
  for (Local i = 0; i < nc; ++i) {
    Mat33 E;  // columns n, t1, t2
    Vec3 t1, t2;
    tangents(contacts.normal[i], t1, t2);
    E << contacts.normal[i], t1, t2;
    // what is left of r once the free velocity of moving bodies, which M and f carry, is taken out
    Vec3 left(problem.r()[3 * i], problem.r()[3 * i + 1], problem.r()[3 * i + 2]);
    const auto body = [&](Local j, const Vec3& arm, Real sign) {
      const Local row = first[static_cast<std::size_t>(j)];
      if (row < 0) return;
      left -= sign * velocity_at(free[j], arm);
      for (int k = 0; k < 3; ++k) {
        put(h, row, 3 * i + k, sign * E.col(k));
        put(h, row + 3, 3 * i + k, sign * arm.cross(E.col(k)));
      }
    };
    body(contacts.a[i], contacts.arm_a[i], -1);
    body(contacts.b[i], contacts.arm_b[i], 1);
    p.w.segment<3>(3 * i) = E.transpose() * left;
    if (gamma) {
      p.solution.u.segment<3>(3 * i) = (E.transpose() * p.solution.u.segment<3>(3 * i)).eval();
      p.solution.r.segment<3>(3 * i) = (E.transpose() * p.solution.r.segment<3>(3 * i)).eval();
    }
  }
  p.H.resize(dofs, 3 * nc);
  p.H.setFromTriplets(h.begin(), h.end());
  if (gamma) {
    BodyVector v;
    problem.body_velocities(*gamma, v);
    p.solution.v.resize(dofs);
    for (Local i = 0; i < bodies.size(); ++i)
      if (const Local row = first[static_cast<std::size_t>(i)]; row >= 0) {
        p.solution.v.segment<3>(row) = v[i].linear;
        p.solution.v.segment<3>(row + 3) = v[i].angular;
      }
  }
  return p;
}

std::filesystem::path write_step_problem(const std::filesystem::path& directory, Global step, Real time,
                                         Real h, const ConeProblem& problem, const Bodies& bodies,
                                         const DualVector& gamma) {
  if (problem.team().comm().size() > 1)
    throw InputError("output.problems: contact problems are written by runs on one process only");
  FclibProblem file = fclib_of_step(problem, bodies, &gamma);
  file.title = fmt::format("Talus step {}", step);
  file.description += fmt::format(" Step {} from t = {:.9g} s, h = {:.9g} s.", step, time, h);
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) throw RunError(fmt::format("{}: cannot be made: {}", directory.string(), failed.message()));
  const std::filesystem::path path = directory / fmt::format("problem_{:07}.hdf5", step);
  write_fclib(file, path);
  return path;
}

}  // namespace talus
