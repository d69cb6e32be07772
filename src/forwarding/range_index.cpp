// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/range_index.h"

#include <algorithm>
#include <utility>

namespace tributary::forwarding {

RangeIndex::RangeIndex(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
  const auto alike = [](const Range& a, const Range& b) { return a.value == b.value; };
  ranges_.erase(std::unique(ranges_.begin(), ranges_.end(), alike), ranges_.end());
  add_node(0, 32 - step_bits, 0);
}

// Adds a node whose entries stand for 2^shift numbers each, from `first` on, which is in `range`.
std::uint32_t RangeIndex::add_node(std::uint32_t first, unsigned shift, std::size_t range) {
  const auto start = entries_.size();
  entries_.resize(start + node_entries);
  for (std::uint32_t i = 0; i < node_entries; ++i) {
    const auto entry = entry_of(first + (i << shift), shift, range);
    entries_[start + i] = entry;
  }
  return node_tag | static_cast<std::uint32_t>(start / node_entries);
}

// `range` is at or before that of `first`; afterwards it is that of the last number of the entry.
std::uint32_t RangeIndex::entry_of(std::uint32_t first, unsigned shift, std::size_t& range) {
  const auto advance_to = [&](std::uint32_t key) {
    while (range + 1 < ranges_.size() && ranges_[range + 1].first <= key) {
      ++range;
    }
    return range;
  };
  const auto from = advance_to(first);
  const auto more = advance_to(first + ((1u << shift) - 1)) - from;
  if (more == 0) {
    return ranges_[from].value;
  }
  if (more > search_max) {
    return add_node(first, shift - step_bits, from);
  }
  return static_cast<std::uint32_t>(more << number_bits | from);
}

}  // namespace tributary::forwarding
