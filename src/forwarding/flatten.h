// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tributary::forwarding {

// A block of addresses has a value behind it.
template <typename Key>
struct Block {
  Key first;
  Key last;
  std::uint32_t value = 0;
};

// Flattens a longest-prefix match into ranges that do not overlap. Each goes from its first address
// to the next one's, and has the value of the innermost of the `blocks` around it, or 0 in none.
// The blocks are sorted, outer ones before those inside them, and overlap no other way. `next(key)`
// is the address behind it; it has no value behind the highest.
template <typename Key, typename Next>
std::vector<std::pair<Key, std::uint32_t>> flatten(const std::vector<Block<Key>>& blocks,
                                                   Next next) {
  std::vector<std::pair<Key, std::uint32_t>> ranges{{Key{}, 0}};
  const auto start_range = [&](const Key& first, std::uint32_t value) {
    if (ranges.back().first != first) {
      ranges.emplace_back(first, value);
    }
    ranges.back().second = value;
  };
  std::vector<const Block<Key>*> enclosing;
  const auto leave = [&] {
    const auto behind = next(enclosing.back()->last);
    enclosing.pop_back();
    if (behind) {
      start_range(*behind, enclosing.empty() ? 0 : enclosing.back()->value);
    }
  };
  for (const auto& block : blocks) {
    while (!enclosing.empty() && enclosing.back()->last < block.first) {
      leave();
    }
    start_range(block.first, block.value);
    enclosing.push_back(&block);
  }
  while (!enclosing.empty()) {
    leave();
  }
  return ranges;
}

}  // namespace tributary::forwarding
