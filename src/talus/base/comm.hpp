// Comm: what a group of processes can do together. The plain one is a single process; the MPI one lives in
// `domain`. Code above never asks which it has, and no #ifdef decides it.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "talus/base/types.hpp"

namespace talus {

/// Bytes to or from a rank.
struct Message {
  int rank = 0;
  std::vector<std::byte> data;
};

/// A standing message in each direction between this rank and a partner (0 bytes: none in that direction).
struct Link {
  int partner = 0;
  std::size_t send_bytes = 0;
  std::size_t receive_bytes = 0;
};

/// Standing messages: fixed partners, sizes and buffers, sent many times. What lies in the send buffers when
/// `start` is called has arrived in the partners' receive buffers when their `finish` returns.
class Links {
 public:
  virtual ~Links() = default;
  virtual std::span<std::byte> send_buffer(int link);
  virtual std::span<const std::byte> receive_buffer(int link);
  virtual void start() {}
  virtual void finish() {}
};

class Comm {
 public:
  virtual ~Comm() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  /// In place, over all ranks, partials added in rank order so that the result is reproducible.
  virtual void sum(std::span<Real>) const {}
  virtual void max(std::span<Real>) const {}
  virtual void sum(std::span<Global>) const {}
  virtual void max(std::span<Global>) const {}
  virtual void barrier() const {}
  /// The root's bytes, on every rank; the other ranks' argument is resized.
  virtual void broadcast(std::vector<std::byte>&, int /*root*/ = 0) const {}
  /// Delivers messages whose receivers do not know of them beforehand, oneself included; every rank must call it.
  /// At most one message per receiver. Returns what arrived, in ascending order of the sender.
  virtual std::vector<Message> exchange(std::vector<Message> outgoing) const { return outgoing; }
  /// Sets up standing messages with other ranks; both partners must agree on sizes and use the same `tag`.
  virtual std::unique_ptr<Links> open(std::span<const Link>, int /*tag*/) const { return std::make_unique<Links>(); }
};

/// The one-process communicator.
const Comm& plain_comm();

}  // namespace talus
