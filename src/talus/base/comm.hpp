// Comm: what a group of processes can do together. The plain one is a single process; the MPI one lives in
// `domain`. Code above never asks which it has, and no #ifdef decides it.
#pragma once
#include <span>

#include "talus/base/types.hpp"

namespace talus {

class Comm {
 public:
  virtual ~Comm() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  /// In place, over all ranks, partials added in rank order so that the result is reproducible.
  virtual void sum(std::span<Real>) const {}
  virtual void max(std::span<Real>) const {}
  virtual void sum(std::span<Global>) const {}
  virtual void barrier() const {}
};

/// The one-process communicator.
const Comm& plain_comm();

}  // namespace talus
