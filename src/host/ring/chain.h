// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/call.h"
#include "reduce/kernel.h"
#include "wire/cursor.h"

namespace tributary::host {

// One rank's part in a reduce or broadcast along the ring, without I/O. The ring is opened before
// (reduce) or behind (broadcast) the rank next to the root, and the vector streams along the chain:
// each byte goes on as soon as it came in (and was added), so that the links are busy all at once.
// Floats of 16 and 8 bits are added in f32 and rounded at every hop.
class RingChain {
 public:
  enum class Direction : std::uint8_t { to_root, from_root };

  // `distance`: how many ranks behind the root this one is in the ring; 0 for the root itself.
  // `grain`: the same as in RingSchedule.
  RingChain(Direction direction, const Buffers& buffers, std::uint32_t distance,
            std::uint32_t world_size, std::size_t grain = 1);

  // These are the same as in RingSchedule.
  wire::Bytes sendable() const;
  void sent(std::size_t bytes);
  wire::MutableBytes receivable();
  void received(std::size_t bytes);
  std::size_t worthwhile();
  bool all_sent() const { return sent_ == to_send_; }
  bool finished() const { return all_sent() && received_ == to_receive_; }
  std::uint64_t bytes_sent() const { return sent_; }
  std::uint64_t bytes_received() const { return received_; }
  std::uint64_t bytes_expected() const { return to_receive_; }

 private:
  bool adds() const { return direction_ == Direction::to_root && to_receive_ != 0; }
  void add();
  void accumulate(std::size_t elements);

  Direction direction_;
  Buffers buffers_;
  const reduce::Kernel& kernel_;
  std::size_t element_bytes_;
  std::size_t grain_;  // elements
  std::size_t to_send_;
  std::size_t to_receive_;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
  // The buffer of a rank that adds. Its bytes [sendable_, added_) are sums that are still to be
  // sent; those up to staged_ are not added yet.
  std::vector<std::byte> staging_;
  std::size_t sendable_ = 0;
  std::size_t added_ = 0;
  std::size_t staged_ = 0;
  std::vector<std::byte> widened_;  // accumulators
};

}  // namespace tributary::host
