// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "packet/packet.h"
#include "protocols/flare/engine/accumulator.h"

// These decide how the contributions to a block are added up (section 6): each makes one of them
// part of a sum. Both return false where there is no buffer for it; then nothing has changed.
namespace tributary::flare {

// Adds in a single buffer (6.1), in the order in which contributions come.
class SingleBuffer {
 public:
  SingleBuffer(Accumulator& buffer, const Shape& shape, WorkingMemory& memory)
      : buffer_(buffer), shape_(shape), memory_(memory) {}

  bool add(PacketPtr& packet);

 private:
  Accumulator& buffer_;
  const Shape& shape_;
  WorkingMemory& memory_;
};

// This is tree aggregation (6.3): child i comes to buffer i, and two buffers are combined only when
// all that belongs in them is there, the lower one first. So the same contributions are added in
// the same order, however they come, and nobody waits for another one. In the end the sum is in the
// first buffer.
class TreeAggregation {
 public:
  // There is a buffer for each child.
  TreeAggregation(std::span<Accumulator> buffers, const Shape& shape, WorkingMemory& memory)
      : buffers_(buffers), shape_(shape), memory_(memory) {}

  // `arrived` has the children that were added before, by index.
  bool add(std::size_t child, std::uint64_t arrived, PacketPtr& packet);

 private:
  void combine(std::size_t node, std::uint64_t arrived);
  bool is_complete(std::size_t node, std::size_t span, std::uint64_t arrived) const;

  std::span<Accumulator> buffers_;
  const Shape& shape_;
  WorkingMemory& memory_;
};

}  // namespace tributary::flare
