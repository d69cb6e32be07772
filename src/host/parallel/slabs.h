// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "host/call.h"
#include "host/parallel/machine_group.h"
#include "host/share.h"
#include "wire/element.h"

namespace tributary::host {

// A rank has so much in shared memory at a time: a longer vector goes in pieces of this.
inline constexpr std::size_t slab_bytes = std::size_t{4} << 20;

// Calls `use` for each piece of the call that fits into a slab: one at least. An element of a type
// that there is not has a byte.
template <typename Use>
void for_pieces(const Call& call, Use use) {
  const bool is_known = static_cast<std::size_t>(call.buffers.type) < wire::element_type_count;
  const auto element_bytes = is_known ? wire::element_bytes(call.buffers.type) : std::size_t{1};
  const auto most = slab_bytes / element_bytes;
  const auto count = call.buffers.count;
  std::size_t first = 0;
  do {
    auto piece = call;
    const auto at = first * element_bytes;
    piece.buffers.in = call.buffers.in == nullptr ? nullptr : call.buffers.in + at;
    piece.buffers.out = call.buffers.out == nullptr ? nullptr : call.buffers.out + at;
    piece.buffers.count = std::min(most, count - first);
    use(piece);
    first += piece.buffers.count;
  } while (first < count);
}

// Puts a piece of a call into one number: a piece has fewer than 2^23 elements.
inline std::uint64_t piece_number(const Call& call) {
  const auto& buffers = call.buffers;
  return std::uint64_t{buffers.count} << 40 | std::uint64_t{call.root} << 24 |
         static_cast<std::uint64_t>(call.collective) << 16 |
         static_cast<std::uint64_t>(buffers.type) << 8 | static_cast<std::uint64_t>(buffers.op);
}

// Adds up the same range of all slabs, in the order of the ranks, into that of the results.
void reduce_slabs(MachineGroup& group, Range range, wire::ElementType type, wire::Operator op);

}  // namespace tributary::host
