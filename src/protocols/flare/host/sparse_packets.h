// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "host/job.h"
#include "host/sparse_part.h"
#include "protocols/flare/host/plan.h"
#include "protocols/flare/sparse_wire.h"
#include "wire/element.h"

namespace tributary::host {

// Returns what is left of the payload of a packet behind a sparse header, which is longer than the
// dense one, in whole elements of every type. Where that is too little, it is 0: there are no
// sparse blocks.
constexpr std::size_t flare_sparse_full(std::uint32_t payload_bytes) {
  constexpr std::uint32_t longer_header = 32;
  return payload_bytes < longer_header + wire::flare_full_min ? 0 : payload_bytes - longer_header;
}

// These are the blocks of one sparse allreduce of a vector of `count` elements: `first` and those
// behind it, each of which stands for `span` elements, and the last one for the rest (7).
struct FlareSparseBlocks {
  std::uint32_t run = 0;
  std::uint64_t first = 0;
  JobKey key{};  // of the opening
  wire::ElementType type = wire::ElementType::f32;
  std::size_t count = 0;
  std::size_t full = 0;  // bytes of the payload of a shard
  std::size_t span = 1;

  wire::FlareSparseShape shape() const { return {wire::element_bytes(type), full}; }
  std::uint32_t number() const { return static_cast<std::uint32_t>((count + span - 1) / span); }
  // Returns the block past the last one.
  std::uint64_t end() const { return first + number(); }
  bool has(std::uint64_t block) const { return block >= first && block < end(); }
  // Returns the index by which the collective knows a block. Precondition: has(block).
  std::uint32_t index_of(std::uint64_t block) const {
    return static_cast<std::uint32_t>(block - first);
  }
  SparseRange range(std::uint32_t index) const {
    const auto from = index * span;
    return {from, std::min(span, count - from)};
  }
};

// Returns the tag of all that a rank contributes to a block, under the key of the opening.
std::uint64_t flare_sparse_tag(const JobKey& key, std::uint64_t block, std::uint32_t rank);
// Returns the share of that tag which goes with one of so many shards: together they are the whole,
// and nothing less is, so that a sum that lacks a shard, or has one twice, is seen.
std::uint64_t flare_shard_tag(const JobKey& key, std::uint64_t block, std::uint32_t rank,
                              std::uint32_t shard, std::uint32_t shards);
// Returns the tag of a block that has all shards of all ranks once.
std::uint64_t flare_sparse_total_tag(const JobKey& key, std::uint64_t block,
                                     std::uint32_t world_size);

// Returns what the headers of all shards that this rank contributes to a block have in common.
wire::FlareSparseHeader sparse_contribution_header(const Job& job, const FlarePlan& plan,
                                                   const FlareSparseBlocks& blocks,
                                                   std::uint32_t index);

}  // namespace tributary::host
