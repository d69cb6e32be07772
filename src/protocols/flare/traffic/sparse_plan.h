// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "protocols/flare/sparse_wire.h"
#include "wire/element.h"

namespace tributary::flare {

// Tells what sparse blocks are like (section 7).
struct SparsePlan {
  std::uint32_t spacing = 1;                // of so many elements each worker brings one
  std::uint32_t shards = 1;                 // packets of each contribution, where they are pairs
  std::uint32_t pairs = 1;                  // in each of them
  std::size_t full = wire::flare_full_min;  // bytes of a payload at most

  std::uint32_t present() const { return shards * pairs; }
  // Returns the elements of the vector that a block stands for.
  std::uint64_t span() const { return std::uint64_t{spacing} * present(); }
  wire::FlareSparseShape shape(wire::ElementType type) const {
    return {wire::element_bytes(type), full};
  }
  // Returns the pairs in a packet at most, so that they fit, and a block is none too long.
  std::uint32_t pairs_max(wire::ElementType type) const {
    const auto of = shape(type);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(
        of.pairs_per_shard(), of.span_max() / (std::uint64_t{spacing} * shards)));
  }
};

}  // namespace tributary::flare
