// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/aggregation.h"

#include <algorithm>

namespace tributary::flare {

bool SingleBuffer::add(PacketPtr& packet) {
  if (!buffer_) {
    return buffer_.begin(shape_, packet, memory_);
  }
  buffer_.add(shape_, *packet);
  return true;
}

bool TreeAggregation::add(std::size_t child, std::uint64_t arrived, PacketPtr& packet) {
  if (!buffers_[child].begin(shape_, packet, memory_)) {
    return false;
  }
  combine(child, arrived | std::uint64_t{1} << child);
  return true;
}

// A node is the sum of `span` children from `node` on, where that is its first one. Where there is
// nothing on the other side, as the number of children is no power of two, it rises alone.
void TreeAggregation::combine(std::size_t node, std::uint64_t arrived) {
  for (std::size_t span = 1; span < buffers_.size(); span *= 2) {
    const auto sibling = node ^ span;
    if (sibling >= buffers_.size()) {
      continue;
    }
    if (!is_complete(sibling, span, arrived)) {
      return;
    }
    const auto [lower, upper] = std::minmax(node, sibling);
    buffers_[lower].merge(shape_, buffers_[upper], memory_);
    node = lower;
  }
}

bool TreeAggregation::is_complete(std::size_t node, std::size_t span, std::uint64_t arrived) const {
  const auto children = std::min(span, buffers_.size() - node);
  const auto all = ~std::uint64_t{0} >> (64 - children);
  return (arrived >> node & all) == all;
}

}  // namespace tributary::flare
