// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tributary::forwarding {

// A RangeIndex maps 32-bit numbers to values, range by range: it is a trie that looks at eight bits
// per step, until few ranges are left to choose from. So a lookup is at most four loads and a short
// search, however many ranges there are, and the memory grows with their number. It is built once.
class RangeIndex {
 public:
  struct Range {
    std::uint32_t first;
    std::uint32_t value;  // below 2^28
  };
  RangeIndex() : RangeIndex({{0, 0}}) {}
  // The ranges are sorted; the first one starts at 0, each ends where the next one starts.
  explicit RangeIndex(std::vector<Range> ranges);

  std::uint32_t find(std::uint32_t key) const {
    auto entry = entries_[key >> 24];
    for (unsigned shift = 16; is_node(entry); shift -= step_bits) {
      entry = entries_[first_of_node(entry) + (key >> shift & (node_entries - 1))];
    }
    const auto more = entry >> number_bits;
    return more == 0 ? entry : search(entry & number_mask, more, key);
  }

 private:
  // An entry is a number of 28 bits. The upper four bits say what it numbers: a value (0), a node
  // (8), or the first of several ranges, as many as they say and one more.
  static constexpr unsigned step_bits = 8;
  static constexpr std::uint32_t node_entries = 1u << step_bits;
  static constexpr unsigned number_bits = 28;
  static constexpr std::uint32_t number_mask = (1u << number_bits) - 1;
  static constexpr std::uint32_t node_tag = 8u << number_bits;
  static constexpr std::size_t search_max = 7;  // ranges that are as near as a cache line

  static constexpr bool is_node(std::uint32_t entry) { return entry >= node_tag; }
  static constexpr std::size_t first_of_node(std::uint32_t entry) {
    return std::size_t{entry & number_mask} * node_entries;
  }

  std::uint32_t search(std::uint32_t at, std::uint32_t more, std::uint32_t key) const {
    const auto* range = &ranges_[at];
    for (; more > 0 && range[1].first <= key; --more) {
      ++range;
    }
    return range->value;
  }
  std::uint32_t add_node(std::uint32_t first, unsigned shift, std::size_t range);
  std::uint32_t entry_of(std::uint32_t first, unsigned shift, std::size_t& range);

  std::vector<Range> ranges_;
  std::vector<std::uint32_t> entries_;  // node by node; the first one is the root
};

}  // namespace tributary::forwarding
