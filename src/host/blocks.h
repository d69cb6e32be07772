// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/job.h"
#include "wire/cursor.h"
#include "wire/element.h"

namespace tributary::host {

// The arguments of one collective. `in` and `out` are the same or do not overlap; unaligned is
// fine.
struct Buffers {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::size_t count = 0;  // elements
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;

  std::size_t bytes() const { return count * wire::element_bytes(type); }
};

// How one collective is cut into blocks, one packet each (3.1.3), and who leads which.
class Blocks {
 public:
  Blocks() = default;
  Blocks(const Buffers& buffers, const Job& job, std::uint32_t first_id)
      : buffers_(buffers),
        block_bytes_(job.payload_bytes),
        world_size_(job.world_size()),
        first_id_(first_id),
        count_(count_of(buffers.bytes(), job.payload_bytes)) {}

  static std::uint32_t count_of(std::size_t bytes, std::uint32_t block_bytes) {
    return static_cast<std::uint32_t>((bytes + block_bytes - 1) / block_bytes);
  }

  std::uint32_t count() const { return count_; }
  std::uint32_t leader(std::uint32_t block) const { return block % world_size_; }
  std::uint32_t first_id() const { return first_id_; }
  // Ids wrap; an id before the first block yields a number beyond the last.
  std::uint32_t id(std::uint32_t block) const { return first_id_ + block; }
  std::uint32_t block_of(std::uint32_t id) const { return id - first_id_; }

  wire::ElementType type() const { return buffers_.type; }
  wire::Operator op() const { return buffers_.op; }
  std::size_t bytes(std::uint32_t block) const {
    return std::min<std::size_t>(block_bytes_, buffers_.bytes() - offset(block));
  }
  std::uint16_t elements(std::uint32_t block) const {
    return static_cast<std::uint16_t>(bytes(block) / wire::element_bytes(buffers_.type));
  }
  wire::Bytes in(std::uint32_t block) const { return {buffers_.in + offset(block), bytes(block)}; }
  wire::MutableBytes out(std::uint32_t block) const {
    return {buffers_.out + offset(block), bytes(block)};
  }

 private:
  std::size_t offset(std::uint32_t block) const { return std::size_t{block} * block_bytes_; }

  Buffers buffers_;
  std::uint32_t block_bytes_ = 1;
  std::uint32_t world_size_ = 1;
  std::uint32_t first_id_ = 0;
  std::uint32_t count_ = 0;
};

// Which blocks are done on this rank: a window that slides over the lowest unfinished block.
//
// A peer's window can be at most window + 1 blocks ahead of this one, for its blocks do not get
// done without this rank's contribution. So contributions concern blocks below base + span().
class Progress {
 public:
  explicit Progress(std::uint32_t window) : window_(window), done_(span()) {}

  void begin(std::uint32_t blocks) {
    blocks_ = blocks;
    base_ = 0;
    std::fill(done_.begin(), done_.end(), false);
  }
  std::uint32_t window() const { return window_; }
  std::uint32_t span() const { return 2 * window_ + 2; }
  std::uint32_t base() const { return base_; }
  std::uint32_t blocks() const { return blocks_; }
  // Blocks below this one may be in flight.
  std::uint32_t limit() const { return std::min(blocks_, base_ + window_); }
  bool finished() const { return base_ == blocks_; }
  bool done(std::uint32_t block) const {
    return block < base_ || (block < base_ + span() && done_[block % span()]);
  }
  // Precondition: base() <= block < base() + span().
  void complete(std::uint32_t block) {
    done_[block % span()] = true;
    while (base_ < blocks_ && done_[base_ % span()]) {
      done_[base_ % span()] = false;
      ++base_;
    }
  }

 private:
  std::uint32_t window_;
  std::uint32_t blocks_ = 0;
  std::uint32_t base_ = 0;
  std::vector<bool> done_;
};

}  // namespace tributary::host
