// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/call.h"
#include "host/sparse_part.h"
#include "protocols/flare/host/sparse_packets.h"
#include "protocols/flare/sparse_wire.h"
#include "wire/cursor.h"

namespace tributary::host {

// Makes what one rank contributes to the blocks of a sparse allreduce, in shards: pairs in the
// order of their indices, or runs of all elements where these take less. The shards of a block are
// made once, so that they are the same bytes whenever they are sent, and stay until those of the
// block that is a window behind are made.
class SparseContributions {
 public:
  SparseContributions(std::uint32_t window, std::size_t full);

  // The buffers stay as they are until the last block is made.
  void begin(const SparseBuffers& buffers, const FlareSparseBlocks& blocks);
  void make(std::uint32_t index);

  struct Shard {
    wire::FlareForm form = wire::FlareForm::pairs;
    std::uint16_t elements = 0;
    std::uint16_t first = 0;
    wire::Bytes payload;
  };
  // Precondition for both: the block is made, and is one of the latest `window`.
  std::uint32_t shards(std::uint32_t index) const;
  Shard shard(std::uint32_t index, std::uint32_t number) const;

 private:
  struct Slot {
    wire::FlareForm form = wire::FlareForm::pairs;
    std::size_t elements = 0;  // in all shards
  };

  std::size_t slot_of(std::uint32_t index) const { return index % slots_.size(); }
  std::byte* shards_of(std::uint32_t index) const {
    return bytes_.get() + slot_of(index) * wire::flare_runs_max * full_;
  }
  std::size_t elements_per_shard(wire::FlareForm form) const;
  void write_pairs(std::uint32_t index, std::size_t begin, std::size_t end);
  void write_runs(std::uint32_t index, std::size_t begin, std::size_t end);

  std::size_t full_;
  std::vector<Slot> slots_;  // by index
  // These are all shards that there can be, each at a place of its own, as packets that are still
  // on their way to the socket may lie in here. What is never written takes no memory.
  std::unique_ptr<std::byte[]> bytes_;
  SparseBuffers buffers_;
  FlareSparseBlocks blocks_;
};

}  // namespace tributary::host
