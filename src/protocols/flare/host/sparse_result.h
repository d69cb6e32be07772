// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/sparse_part.h"
#include "host/verdict.h"
#include "protocols/flare/host/sparse_packets.h"
#include "protocols/flare/sparse_wire.h"
#include "wire/cursor.h"

namespace tributary::host {

// Keeps the results of sparse blocks, as they come shard by shard, and the latest `window` of those
// that are complete, which others may ask for: each takes the place of the one that is a window
// before.
class SparseResults {
 public:
  SparseResults(std::uint32_t window, std::size_t full);

  // Takes a shard to which all ranks have contributed, so that nobody lacks what is a window
  // before. Shards of two editions are no result: one of another edition puts aside those that came
  // before.
  Verdict take(const wire::FlareSparseHeader& header, wire::Bytes payload);
  bool complete(std::uint64_t block) const { return shards(block) != 0; }
  // Puts aside what came of that block, as it is no result.
  void reject(std::uint64_t block) { slot(block).shards = 0; }
  // Returns a complete result as a part of the sum; nothing if it cannot be one.
  std::optional<SparsePart> part(std::uint64_t block, const FlareSparseBlocks& blocks) const;

  // These give shards as they came. There are none of what is not complete, or not kept any more.
  std::uint32_t shards(std::uint64_t block) const;
  struct Shard {
    wire::FlareSparseHeader header;
    wire::Bytes payload;
  };
  Shard shard(std::uint64_t block, std::uint32_t number) const;

 private:
  struct Slot {
    std::uint64_t block = 0;
    std::uint64_t edition = 0;
    std::uint32_t shards = 0;  // 0: it is free
    std::uint32_t bitmap = 0;  // of those that are there
    std::array<wire::FlareSparseHeader, wire::flare_runs_max> headers;

    bool is_of(const wire::FlareSparseHeader& header) const {
      return shards == header.shards && block == header.block.value() &&
             edition == header.edition.value();
    }
    bool is_complete() const {
      return shards != 0 && static_cast<std::uint32_t>(std::popcount(bitmap)) == shards;
    }
  };

  std::size_t slot_of(std::uint64_t block) const { return block % slots_.size(); }
  Slot& slot(std::uint64_t block) { return slots_[slot_of(block)]; }
  const Slot& slot(std::uint64_t block) const { return slots_[slot_of(block)]; }
  std::byte* payload_of(std::uint64_t block, std::uint32_t number) const {
    return bytes_.get() + (slot_of(block) * wire::flare_runs_max + number) * full_;
  }
  std::optional<SparsePart> joined_runs(std::uint64_t block, const FlareSparseBlocks& blocks) const;
  std::optional<SparsePart> joined_pairs(std::uint64_t block,
                                         const FlareSparseBlocks& blocks) const;

  std::size_t full_;
  std::vector<Slot> slots_;             // by block
  std::unique_ptr<std::byte[]> bytes_;  // as in SparseContributions
};

}  // namespace tributary::host
