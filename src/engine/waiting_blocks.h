// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/status.h"
#include "engine/tree_place.h"
#include "engine/tree_table.h"
#include "packet/clock.h"

// Engines whose trees are set up beforehand tell by this of the blocks that wait. It is not on the
// packet path and allocates freely.
namespace tributary::engine {

// A WaitingBlock is one that some children of a tree have contributed to, and others have not.
struct WaitingBlock {
  std::uint32_t block = 0;
  std::uint32_t contributions = 0;
  std::uint64_t arrived = 0;  // children, by index
  Time since{};
  std::uint32_t attempt = 0;
  bool sparse = false;
};

// A block that waits so long is worth a look.
inline constexpr Duration tree_stall_min = std::chrono::milliseconds(500);

// Returns the blocks of a tree that wait.
template <typename Tree>
using WaitingIn = std::vector<WaitingBlock> (*)(const Tree& tree);

DescriptorStatus descriptor_of(const TreePlace& place, const WaitingBlock& waiting, Time now);
StallStatus stall_of(const TreePlace& place, const WaitingBlock& waiting, Time now);

// Keeps those that have waited longest, in this order.
inline void keep_longest(std::vector<StallStatus>& rows, std::size_t limit) {
  std::stable_sort(rows.begin(), rows.end(), [](const StallStatus& a, const StallStatus& b) {
    return a.waiting > b.waiting;
  });
  rows.resize(std::min(rows.size(), limit));
}

template <typename Tree>
std::vector<DescriptorStatus> descriptors_of(const TreeTable<Tree>& trees,
                                             WaitingIn<Tree> waiting_in, Time now,
                                             std::size_t limit) {
  std::vector<DescriptorStatus> rows;
  for (const auto& tree : trees.all()) {
    for (const auto& waiting : waiting_in(*tree)) {
      if (rows.size() < limit) {
        rows.push_back(descriptor_of(tree->config(), waiting, now));
      }
    }
  }
  return rows;
}

template <typename Tree>
std::vector<StallStatus> stalls_of(const TreeTable<Tree>& trees, WaitingIn<Tree> waiting_in,
                                   Time now, std::size_t limit) {
  std::vector<StallStatus> rows;
  for (const auto& tree : trees.all()) {
    for (const auto& waiting : waiting_in(*tree)) {
      if (now - waiting.since >= tree_stall_min) {
        rows.push_back(stall_of(tree->config(), waiting, now));
      }
    }
  }
  keep_longest(rows, limit);
  return rows;
}

}  // namespace tributary::engine
