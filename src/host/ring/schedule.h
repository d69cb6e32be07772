// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/call.h"
#include "reduce/kernel.h"
#include "wire/cursor.h"

namespace tributary::host {

// One rank's part in a ring allreduce: reduce-scatter, then allgather, without I/O. The vector is
// cut into as many chunks as there are ranks; in step s this rank sends chunk rank - s and receives
// chunk rank - s - 1. What is sent in one step is what was received (and added) in the step before,
// so both directions are streams of bytes: byte p of a chunk leaves as soon as it came in, without
// waiting for the rest of the step. Floats of 16 and 8 bits are added in f32 and rounded at
// every hop.
class RingSchedule {
 public:
  // Copies `in` to `out` if they differ, and works in `out`. The vector is cut, and added, at
  // multiples of `grain` elements only: a handler may look at so many at a time. A grain is at most
  // as long as the staging buffer.
  RingSchedule(const Buffers& buffers, std::uint32_t rank, std::uint32_t world_size,
               std::size_t grain = 1);

  // Returns what may be sent to the next rank now: a piece of the stream, empty if nothing.
  wire::Bytes sendable() const;
  void sent(std::size_t bytes);

  // Returns where bytes from the previous rank are to be put; empty when all have come.
  wire::MutableBytes receivable();
  void received(std::size_t bytes);

  // Returns how many received bytes it is worth waking up for: fewer than the shortest chunk, so
  // that some rank of the ring always has enough, and small, so that the streams keep flowing.
  std::size_t worthwhile() const;

  bool all_sent() const { return sent_ == total(send_); }
  bool finished() const { return all_sent() && received_ == total(receive_); }
  std::uint64_t bytes_sent() const { return sent_; }
  std::uint64_t bytes_received() const { return received_; }
  std::uint64_t bytes_expected() const { return total(receive_); }

 private:
  // A step's part of a stream.
  struct Piece {
    std::uint64_t start = 0;  // in the stream
    std::size_t offset = 0;   // in the vector
    std::size_t bytes = 0;
  };
  static std::uint64_t total(const std::vector<Piece>& pieces) {
    return pieces.back().start + pieces.back().bytes;
  }
  std::vector<Piece> stream(std::uint32_t first_chunk, std::uint32_t world_size) const;
  bool is_reduced(std::size_t step) const { return step < receive_.size() / 2; }
  void reduce(const Piece& piece, std::uint64_t come);

  Buffers buffers_;
  const reduce::Kernel& kernel_;
  std::size_t element_bytes_;
  std::size_t grain_;  // elements
  std::vector<Piece> send_;
  std::vector<Piece> receive_;
  std::size_t send_step_ = 0;
  std::size_t receive_step_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::vector<std::byte> staging_;  // received, not yet added
  std::size_t staged_ = 0;          // bytes in it
};

}  // namespace tributary::host
