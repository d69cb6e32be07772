// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "forwarding/policy.h"

namespace tributary::forwarding {

// This is "In-network, N static trees" of the Canary paper, section 5.2: the blocks take N fixed
// trees in turn. A tree is known by its root, and the root by its place in the group, so that
// switches which list the same spines in the same order agree. Where the way to a root is down, the
// next tree serves, and at last the roots that no tree has.
std::size_t choose_static_tree(const Choosing& choosing) {
  const auto& group = choosing.group;
  const std::size_t roots = group.tree_order.size();
  const std::size_t trees = std::min<std::size_t>(choosing.config.trees, roots);
  const auto first = choosing.flow.block % choosing.config.trees % roots;
  for (std::size_t step = 0; step < trees; ++step) {
    if (const auto hop = group.tree_order[(first + step) % trees]; group.up[hop]) {
      return hop;
    }
  }
  return *std::find_if(group.tree_order.begin(), group.tree_order.end(),
                       [&](std::uint16_t hop) { return group.up[hop]; });
}

}  // namespace tributary::forwarding
