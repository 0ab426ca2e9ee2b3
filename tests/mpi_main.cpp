// GoogleTest under mpirun: every rank runs every test. Rank 0 reports; the others speak only of failures. A
// fatal failure on one rank ends all, since the others would wait for it for ever.
#include "mpi_main.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "talus/domain/mpi_comm.hpp"

namespace {

const talus::MpiSession* session = nullptr;

class RankListener : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", session->comm().rank(),
                 result.file_name() ? result.file_name() : "?", result.line_number(), result.message());
    if (result.fatally_failed()) session->abort_all(1);
  }
};

}  // namespace

const talus::Comm& world_comm() {
  return session->comm();
}

int main(int argc, char** argv) {
  const talus::MpiSession mpi;
  session = &mpi;
  testing::InitGoogleTest(&argc, argv);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (mpi.comm().rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new RankListener);
  return RUN_ALL_TESTS();
}
