// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/config.h"

#include <string>

#include "protocols/panama/wire.h"

namespace tributary::panama {
namespace {

std::optional<TreeFault> find_clash(const TreeConfig& tree, const TreeConfig& other) {
  if (tree.job == other.job && tree.tree == other.tree) {
    return TreeFault{"tree",
                     "tree " + std::to_string(tree.tree) + " of job " + std::to_string(tree.job) +
                         " was given before",
                     "a job's trees have different numbers"};
  }
  if (tree.group == other.group) {
    return TreeFault{"group", "another tree has this `group`", "each tree needs its own"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TreeFault> find_fault(const PanamaConfig& config, std::size_t index) {
  const auto& tree = config.trees[index];
  if (auto fault = engine::find_fault(tree)) {
    return fault;
  }
  if (tree.quorum < 1 || tree.quorum > tree.workers) {
    return TreeFault{"quorum", "`quorum` is out of range",
                     "from 1 to " + std::to_string(tree.workers)};
  }
  if (tree.is_partial() && tree.workers > wire::panama_masked_ranks_max) {
    return TreeFault{"quorum", "`quorum` is below `workers`, of which there are too many",
                     "packets name the workers in a sum, up to " +
                         std::to_string(wire::panama_masked_ranks_max) + ": give the quorum " +
                         std::to_string(tree.workers)};
  }
  if ((index + 1) * initial_window > config.packet_memory) {
    return TreeFault{"tree", "`packet_memory` has no room for another tree",
                     "each has " + std::to_string(initial_window) + " of its " +
                         std::to_string(config.packet_memory) + " packets"};
  }
  for (std::size_t i = 0; i < index; ++i) {
    if (auto fault = find_clash(tree, config.trees[i])) {
      return fault;
    }
  }
  return std::nullopt;
}

}  // namespace tributary::panama
