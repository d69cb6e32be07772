// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/job.h"
#include "protocols/canary/host/blocks.h"
#include "wire/cursor.h"

namespace tributary::host {

// Keeps what this rank led in the last collective, for ranks that did not get a result (3.3): they
// may ask when the caller's buffers are gone. Of a small collective it is a copy, kept until a
// block of the next one is done, which proves that all ranks have begun that and so were done with
// this. Of a large one it is only the block of completion, without data: when that was done, so was
// the rest.
class Retention {
 public:
  // This can be found about a block.
  struct Result {
    std::uint32_t id = 0;
    wire::Bytes payload;
  };

  explicit Retention(std::size_t implicit_release_max) : capacity_(implicit_release_max) {}

  // Keeps the results after the collective's end. `attempts` are those by which the blocks that
  // this rank led were reduced, in order.
  void keep(const Job& job, const Blocks& blocks, const std::vector<std::uint8_t>& attempts);
  void release() { active_ = false; }

  bool active() const { return active_; }
  const Blocks& blocks() const { return blocks_; }
  // Returns the result of the block with this sequence number, if it is kept. A payload stays where
  // it is, though not what it is, until the end of this object.
  std::optional<Result> find(std::uint32_t sequence) const;

 private:
  std::size_t capacity_;
  bool active_ = false;
  std::uint32_t rank_ = 0;
  Blocks blocks_;
  std::vector<std::uint8_t> attempts_;
  // The copy is never given back or moved while the object lives: packets that are still on their
  // way to the socket may lie in here. What is overwritten under them has a wrong CRC.
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace tributary::host
