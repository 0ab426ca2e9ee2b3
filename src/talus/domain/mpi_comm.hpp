// The MPI communicator, and the decision whether there is one.
#pragma once
#include <memory>

#include "talus/base/comm.hpp"

namespace talus {

/// True when an MPI launcher (mpirun, srun) started this program, by what it left in the environment.
bool started_by_mpi();

/// Initialises MPI when a launcher started the program and ends it at the end of its life; otherwise `comm()`
/// is the plain communicator and MPI is never touched. One per program, made first in main.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  const Comm& comm() const { return *comm_; }

  /// Ends all ranks with `exit_code`, from any of them, also when the others wait in the middle of a step.
  /// Returns on one rank only. What went wrong must have been said before.
  void abort_all(int exit_code) const;

 private:
  std::unique_ptr<Comm> mpi_;
  const Comm* comm_;
};

}  // namespace talus
