#include "talus/domain/mpi_comm.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "talus/base/error.hpp"

namespace talus {
namespace {

// Messages of different purposes never meet: each has its own tag. Consecutive sparse exchanges take turns
// between two, because a rank that has left one exchange may send for the next while another is still
// listening for the first.
constexpr int tag_sum = 1;
constexpr int tag_exchange = 2;  // and 3
constexpr int tag_links = 16;    // and upwards

int to_count(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw RunError(fmt::format(
        "a message of {} bytes between ranks is larger than MPI can carry: use more ranks", bytes));
  return static_cast<int>(bytes);
}

class MpiLinks : public Links {
 public:
  MpiLinks(MPI_Comm comm, std::span<const Link> links, int tag) {
    std::size_t send = 0, receive = 0;
    for (const Link& link : links) {
      send_begin_.push_back(send);
      receive_begin_.push_back(receive);
      send += link.send_bytes;
      receive += link.receive_bytes;
    }
    send_begin_.push_back(send);
    receive_begin_.push_back(receive);
    send_.resize(send);
    receive_.resize(receive);
    for (std::size_t k = 0; k < links.size(); ++k) {
      MPI_Request request;
      if (links[k].receive_bytes) {
        MPI_Recv_init(receive_.data() + receive_begin_[k], to_count(links[k].receive_bytes), MPI_BYTE,
                      links[k].partner, tag, comm, &request);
        requests_.push_back(request);
      }
      if (links[k].send_bytes) {
        MPI_Send_init(send_.data() + send_begin_[k], to_count(links[k].send_bytes), MPI_BYTE,
                      links[k].partner, tag, comm, &request);
        requests_.push_back(request);
      }
    }
  }
  ~MpiLinks() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  std::span<std::byte> send_buffer(int k) override {
    return {send_.data() + send_begin_[k], send_begin_[k + 1] - send_begin_[k]};
  }
  std::span<const std::byte> receive_buffer(int k) override {
    return {receive_.data() + receive_begin_[k], receive_begin_[k + 1] - receive_begin_[k]};
  }
  void start() override {
    if (requests_.empty()) return;
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
  }
  void finish() override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<std::byte> send_, receive_;
  std::vector<std::size_t> send_begin_, receive_begin_;
  std::vector<MPI_Request> requests_;
};

class MpiComm : public Comm {
 public:
  MpiComm() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);  // our messages cannot meet those of a library that uses MPI too
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiComm() override { MPI_Comm_free(&comm_); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  /// Recursive doubling: the tree of additions depends on the number of ranks alone, and since a + b = b + a
  /// to the last bit all ranks end with the same bits. MPI_Allreduce leaves the order open. Ranks beyond a
  /// power of two hand their part to the rank before them first and are told the result afterwards.
  void sum(std::span<Real> values) const override {
    int pairs = 1;
    while (2 * pairs <= size_) pairs *= 2;
    const int extra = size_ - pairs;  // the first 2·extra ranks fold in neighbouring pairs
    const int count = static_cast<int>(values.size());
    other_.resize(values.size());
    auto add = [&] {
      for (int k = 0; k < count; ++k) values[k] += other_[k];
    };
    const bool folded = rank_ < 2 * extra;
    if (folded && rank_ % 2 == 1) {
      MPI_Send(values.data(), count, MPI_DOUBLE, rank_ - 1, tag_sum, comm_);
      MPI_Recv(values.data(), count, MPI_DOUBLE, rank_ - 1, tag_sum, comm_, MPI_STATUS_IGNORE);
      return;
    }
    if (folded) {
      MPI_Recv(other_.data(), count, MPI_DOUBLE, rank_ + 1, tag_sum, comm_, MPI_STATUS_IGNORE);
      add();
    }
    const int place = folded ? rank_ / 2 : rank_ - extra;
    for (int bit = 1; bit < pairs; bit *= 2) {
      const int partner_place = place ^ bit;
      const int partner = partner_place < extra ? 2 * partner_place : partner_place + extra;
      MPI_Sendrecv(values.data(), count, MPI_DOUBLE, partner, tag_sum, other_.data(), count, MPI_DOUBLE,
                   partner, tag_sum, comm_, MPI_STATUS_IGNORE);
      add();
    }
    if (folded) MPI_Send(values.data(), count, MPI_DOUBLE, rank_ + 1, tag_sum, comm_);
  }
  void sum(std::span<Global> values) const override { reduce(values, MPI_INT64_T, MPI_SUM); }
  void max(std::span<Real> values) const override { reduce(values, MPI_DOUBLE, MPI_MAX); }
  void max(std::span<Global> values) const override { reduce(values, MPI_INT64_T, MPI_MAX); }
  void barrier() const override { MPI_Barrier(comm_); }

  void broadcast(std::vector<std::byte>& data, int root) const override {
    std::uint64_t size = data.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, root, comm_);
    data.resize(size);
    if (size) MPI_Bcast(data.data(), to_count(size), MPI_BYTE, root, comm_);
  }

  /// Non-blocking consensus (Hoefler et al. 2010): synchronous sends, then a barrier entered once they have
  /// all been received; when it completes nothing is on its way any more. Neither memory nor messages grow
  /// with the ranks.
  std::vector<Message> exchange(std::vector<Message> outgoing) const override {
    const int tag = tag_exchange + exchanges_++ % 2;
    std::vector<Message> arrived;
    std::vector<MPI_Request> sends;
    for (Message& message : outgoing) {
      if (message.rank == rank_) {
        arrived.push_back(std::move(message));
        continue;
      }
      MPI_Issend(message.data.data(), to_count(message.data.size()), MPI_BYTE, message.rank, tag, comm_,
                 &sends.emplace_back());
    }
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool in_barrier = false;
    for (int done = 0; !done;) {
      int found = 0;
      MPI_Message handle;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &found, &handle, &status);
      if (found) {
        int bytes = 0;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        Message message{status.MPI_SOURCE, std::vector<std::byte>(bytes)};
        MPI_Mrecv(message.data.data(), bytes, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
        arrived.push_back(std::move(message));
      } else if (in_barrier) {
        MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
      } else {
        int sent = 0;
        MPI_Testall(static_cast<int>(sends.size()), sends.data(), &sent, MPI_STATUSES_IGNORE);
        if (sent) {
          MPI_Ibarrier(comm_, &barrier);
          in_barrier = true;
        }
      }
    }
    std::sort(arrived.begin(), arrived.end(),
              [](const Message& a, const Message& b) { return a.rank < b.rank; });
    return arrived;
  }

  std::unique_ptr<Links> open(std::span<const Link> links, int tag) const override {
    return std::make_unique<MpiLinks>(comm_, links, tag_links + tag);
  }

 private:
  template <class T>
  void reduce(std::span<T> values, MPI_Datatype type, MPI_Op op) const {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, op, comm_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  mutable std::vector<Real> other_;  ///< the partner's part in a sum
  mutable unsigned exchanges_ = 0;
};

}  // namespace

bool started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"})
    if (std::getenv(name)) return true;
  // srun sets a step for each of its tasks; a shell inside an allocation has none.
  const char* tasks = std::getenv("SLURM_NTASKS");
  return std::getenv("SLURM_STEP_ID") && std::getenv("SLURM_PROCID") && tasks && std::atoi(tasks) > 1;
}

MpiSession::MpiSession() : comm_(&plain_comm()) {
  if (!started_by_mpi()) return;
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED)
    throw RunError("MPI did not start with support for threads (MPI_THREAD_FUNNELED)");
  mpi_ = std::make_unique<MpiComm>();
  comm_ = mpi_.get();
}

MpiSession::~MpiSession() {
  if (!mpi_) return;
  mpi_.reset();
  MPI_Finalize();
}

void MpiSession::abort_all(int exit_code) const {
  if (mpi_ && comm_->size() > 1) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

}  // namespace talus
