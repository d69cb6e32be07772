// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/call.h"
#include "host/sparse_part.h"
#include "host/sparse_vector.h"
#include "wire/cursor.h"

namespace tributary::host {

// One rank's part in a sparse allreduce over the ring. It has the steps and chunks of RingSchedule,
// but each chunk goes as a SparsePart, which becomes longer as more ranks are in it. How long is
// known when all of it has come and was added: so a chunk goes on as a whole.
class SparseSchedule {
 public:
  SparseSchedule(const SparseBuffers& buffers, std::uint32_t rank, std::uint32_t world_size);

  // These are the same as in RingSchedule.
  wire::Bytes sendable() const;
  void sent(std::size_t bytes);
  wire::MutableBytes receivable();
  void received(std::size_t bytes);
  std::size_t worthwhile();
  bool all_sent() const { return send_step_ == steps_; }
  bool finished() const { return all_sent() && receive_step_ == steps_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }

  // Returns false once something came that is no part of such a vector: nothing more is taken then.
  bool is_sound() const { return sound_; }
  std::uint32_t parts_received() const { return receive_step_; }
  std::uint32_t parts_expected() const { return steps_; }

  // Precondition: finished().
  SparseElements sum() const;

 private:
  std::size_t sent_chunk() const { return chunk_of(rank_, send_step_); }
  std::size_t received_chunk() const { return chunk_of(rank_ + world_size_ - 1, receive_step_); }
  std::size_t chunk_of(std::uint32_t first, std::uint32_t step) const {
    return (first + 2 * world_size_ - step) % world_size_;
  }
  bool overtakes() const { return send_step_ + (world_size_ - 1) <= receive_step_; }
  void take_header();
  void take_part();
  void expect_header();

  std::size_t count_;
  wire::ElementType type_;
  std::uint32_t rank_;
  std::uint32_t world_size_;
  std::uint32_t steps_;
  std::vector<SparsePart> parts_;  // by chunk
  std::uint32_t send_step_ = 0;
  std::size_t sent_ = 0;  // of that step's part
  std::uint64_t bytes_sent_ = 0;
  std::uint32_t receive_step_ = 0;
  std::vector<std::byte> incoming_;  // that step's part, as far as its length is known
  std::size_t arrived_ = 0;          // of it
  bool sound_ = true;
};

}  // namespace tributary::host
