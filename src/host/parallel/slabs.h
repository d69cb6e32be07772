// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/parallel/machine_group.h"
#include "wire/element.h"

namespace tributary::host {

// A rank has so much in shared memory at a time: a longer vector goes in pieces of this.
inline constexpr std::size_t slab_bytes = std::size_t{4} << 20;

// A part of a vector, in elements.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

// Returns the rank's part of `count` elements.
constexpr Range share_of(std::size_t count, std::uint32_t rank, std::uint32_t ranks) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

// Adds up the same range of all slabs, in the order of the ranks, into that of the results.
void reduce_slabs(MachineGroup& group, Range range, wire::ElementType type, wire::Operator op);

}  // namespace tributary::host
