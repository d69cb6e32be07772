// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "host/call.h"
#include "host/job.h"
#include "host/share.h"
#include "protocols/canary/wire.h"
#include "reduce/handlers/mark.h"
#include "wire/cursor.h"
#include "wire/element.h"

namespace tributary::host {

// Tells how one collective is cut into blocks, one packet each (3.1.3), and who leads which. Large
// ones end with a block of no elements, the explicit notification of completion (3.3): nobody
// contributes to it before all its other blocks are done.
class Blocks {
 public:
  // With more blocks, what lies ahead could not be told from what lies behind: sequence numbers
  // wrap.
  static constexpr std::uint32_t count_max = 1u << (wire::canary_sequence_bits - 1);

  Blocks() = default;
  // `key` is that of this call.
  Blocks(const Call& call, const Job& job, const JobKey& key, std::uint32_t first_sequence,
         std::size_t implicit_release_max)
      : call_(call),
        key_(key),
        data_bytes_(call.collective == Collective::barrier ? 0 : call.buffers.bytes()),
        block_bytes_(job.payload_bytes),
        world_size_(job.world_size()),
        first_(first_sequence & wire::canary_sequence_mask),
        completion_(data_bytes_ > implicit_release_max),
        count_(data_blocks() + (completion_ ? 1 : 0)) {}

  std::uint32_t count() const { return count_; }
  std::uint32_t block_bytes() const { return block_bytes_; }  // of all but the last with data
  bool has_completion() const { return completion_; }
  bool is_completion(std::uint32_t block) const { return completion_ && block + 1 == count_; }

  // The root leads all blocks of a reduce or broadcast (6).
  bool rooted() const {
    return call_.collective == Collective::reduce || call_.collective == Collective::broadcast;
  }
  std::uint32_t leader(std::uint32_t block) const {
    return rooted() ? call_.root : block % world_size_;
  }
  // Returns the number of a block among those of its leader.
  std::uint32_t led_index(std::uint32_t block) const {
    return rooted() ? block : block / world_size_;
  }
  // Returns how many blocks `rank` leads.
  std::uint32_t led_count(std::uint32_t rank) const {
    if (rooted()) {
      return rank == call_.root ? count_ : 0;
    }
    return count_ / world_size_ + (rank < count_ % world_size_ ? 1 : 0);
  }
  std::uint32_t led_block(std::uint32_t rank, std::uint32_t index) const {
    return rooted() ? index : index * world_size_ + rank;
  }

  std::uint32_t sequence(std::uint32_t block) const {
    return (first_ + block) & wire::canary_sequence_mask;
  }
  std::uint32_t next_first() const { return sequence(count_); }
  std::uint32_t id(std::uint32_t block, std::uint32_t attempt) const {
    return wire::canary_id(sequence(block), attempt);
  }
  // Returns count() or more for a block of another collective, which is_past() or not.
  std::uint32_t block_of_sequence(std::uint32_t sequence) const {
    return (sequence - first_) & wire::canary_sequence_mask;
  }
  std::uint32_t block_of(std::uint32_t id) const {
    return block_of_sequence(wire::canary_sequence(id));
  }
  static bool is_past(std::uint32_t block) { return block >= count_max; }

  const Call& call() const { return call_; }
  const JobKey& key() const { return key_; }
  wire::ElementType type() const { return call_.buffers.type; }
  wire::Operator op() const { return call_.buffers.op; }

  // These are the caller's data of a block.
  wire::Bytes in(std::uint32_t block) const {
    const auto at = place(block);
    return {call_.buffers.in + at.begin, at.size()};
  }
  wire::MutableBytes out(std::uint32_t block) const {
    const auto at = place(block);
    return {call_.buffers.out + at.begin, at.size()};
  }
  // These tell what contributions and results carry of it.
  bool data_goes_up() const {
    return call_.collective == Collective::allreduce || call_.collective == Collective::reduce ||
           call_.collective == Collective::reduce_scatter;
  }
  bool data_goes_down() const {
    return call_.collective == Collective::allreduce || call_.collective == Collective::broadcast ||
           call_.collective == Collective::allgather;
  }
  std::size_t bytes_up(std::uint32_t block) const { return data_goes_up() ? bytes(block) : 0; }
  std::size_t bytes_down(std::uint32_t block) const { return data_goes_down() ? bytes(block) : 0; }
  // Returns what the fingerprint of a block gains each time that two sums of it are combined.
  std::uint64_t mark(std::uint32_t block) const {
    return bytes_up(block) == 0 ? 0 : reduce::mark_of(op());
  }
  wire::Bytes up(std::uint32_t block) const { return data_goes_up() ? in(block) : wire::Bytes{}; }
  wire::MutableBytes down(std::uint32_t block) const {
    return data_goes_down() ? out(block) : wire::MutableBytes{};
  }
  std::uint16_t elements(std::size_t of_bytes) const {
    return static_cast<std::uint16_t>(of_bytes / wire::element_bytes(type()));
  }

 private:
  std::uint32_t data_blocks() const {
    if (call_.collective == Collective::barrier) {
      return 1;
    }
    if (in_shares()) {  // the last share is the longest
      return blocks_in(share(world_size_ - 1).size()) * world_size_;
    }
    return blocks_in(data_bytes_);
  }
  std::uint32_t blocks_in(std::size_t bytes) const {
    return static_cast<std::uint32_t>((bytes + block_bytes_ - 1) / block_bytes_);
  }
  // All blocks of a share have the same leader.
  bool in_shares() const {
    return call_.collective == Collective::reduce_scatter ||
           call_.collective == Collective::allgather;
  }
  // Returns a rank's share in bytes.
  Range share(std::uint32_t rank) const {
    const auto elements = share_of(call_.buffers.count, rank, world_size_);
    const auto element_bytes = wire::element_bytes(type());
    return {elements.begin * element_bytes, elements.end * element_bytes};
  }
  // Returns where the caller has the data of a block, in bytes.
  Range place(std::uint32_t block) const {
    const auto all = in_shares() ? share(leader(block)) : Range{0, data_bytes_};
    const auto index = in_shares() ? led_index(block) : block;
    const auto begin = std::min(all.begin + std::size_t{index} * block_bytes_, all.end);
    return {begin, std::min(begin + block_bytes_, all.end)};
  }
  std::size_t bytes(std::uint32_t block) const { return place(block).size(); }

  Call call_;
  JobKey key_{};
  std::size_t data_bytes_ = 0;
  std::uint32_t block_bytes_ = 1;
  std::uint32_t world_size_ = 1;
  std::uint32_t first_ = 0;
  bool completion_ = false;
  std::uint32_t count_ = 0;
};

}  // namespace tributary::host
