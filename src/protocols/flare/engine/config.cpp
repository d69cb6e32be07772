// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/config.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace tributary::flare {
namespace {

using Fault = std::optional<TreeFault>;

// The memory is divided beforehand (4): what does not fit is not admitted.
Fault find_memory_fault(const FlareConfig& config, std::size_t index) {
  const auto before = std::accumulate(
      config.trees.begin(), config.trees.begin() + static_cast<std::ptrdiff_t>(index),
      std::uint64_t{0}, [](std::uint64_t sum, const auto& tree) { return sum + buffers_of(tree); });
  const auto wanted = buffers_of(config.trees[index]);
  const auto left = config.working_memory - std::min<std::uint64_t>(config.working_memory, before);
  if (wanted <= left) {
    return std::nullopt;
  }
  return TreeFault{"window", "`working_memory` has no room for this tree",
                   "it needs " + std::to_string(wanted) + " of the " +
                       std::to_string(config.working_memory) + " buffers, and " +
                       std::to_string(left) + " are left: narrow its windows, or give more memory"};
}

// Sparse blocks are added up in the order in which they come, so a reproducible tree has none.
Fault find_window_fault(const TreeConfig& tree) {
  if (tree.window < 1 || tree.window > wire::flare_window_max) {
    return TreeFault{"window", "`window` is out of range",
                     "from 1 to " + std::to_string(wire::flare_window_max)};
  }
  if (tree.sparse_window > wire::flare_window_max) {
    return TreeFault{"sparse_window", "`sparse_window` is out of range",
                     "from 0, for none, to " + std::to_string(wire::flare_window_max)};
  }
  if (tree.sparse_window != 0 && tree.reproducible) {
    return TreeFault{"sparse_window", "a `reproducible` tree has no sparse blocks",
                     "leave out `sparse_window`, or `reproducible`"};
  }
  return std::nullopt;
}

Fault find_clash(const TreeConfig& tree, const TreeConfig& other) {
  if (tree.job == other.job) {
    return TreeFault{"job", "job " + std::to_string(tree.job) + " has a tree already",
                     "a job has one tree"};
  }
  if (tree.group == other.group) {
    return TreeFault{"group", "another tree has this `group`", "each tree needs its own"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TreeFault> find_fault(const FlareConfig& config, std::size_t index) {
  const auto& tree = config.trees[index];
  if (auto fault = engine::find_fault(tree)) {
    return fault;
  }
  if (auto fault = find_window_fault(tree)) {
    return fault;
  }
  for (std::size_t i = 0; i < index; ++i) {
    if (auto fault = find_clash(tree, config.trees[i])) {
      return fault;
    }
  }
  return find_memory_fault(config, index);
}

}  // namespace tributary::flare
