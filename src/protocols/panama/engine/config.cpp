// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/config.h"

#include <algorithm>
#include <string>

namespace tributary::panama {
namespace {

using Fault = std::optional<TreeFault>;

// 224.0.0.0/24 belongs to the protocols of routers (RFC 5771).
bool is_for_jobs(wire::Ipv4Address group) {
  constexpr std::uint32_t local_control_blocks = 0xe00000;
  return group.is_multicast() && (group.value() >> 8) != local_control_blocks;
}

bool contains(const std::vector<PortIndex>& ports, PortIndex port) {
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

Fault find_port_fault(const TreeConfig& tree) {
  if (tree.children.empty() || tree.children.size() > children_max) {
    return TreeFault{"children", "a tree has 1 to " + std::to_string(children_max) + " `children`",
                     "it has " + std::to_string(tree.children.size())};
  }
  auto sorted = tree.children;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return TreeFault{"children", "`children` names a port twice", ""};
  }
  if (!tree.child_addresses.empty() && tree.child_addresses.size() != tree.children.size()) {
    return TreeFault{"child_addresses", "`child_addresses` and `children` differ in number",
                     "one address for each child in turn, or leave them out"};
  }
  if (tree.parent && contains(tree.children, *tree.parent)) {
    return TreeFault{"parent", "`parent` is one of the `children`",
                     "a tree leads to the root by one port"};
  }
  return std::nullopt;
}

Fault find_count_fault(const TreeConfig& tree) {
  if (tree.workers_below > tree.workers) {
    return TreeFault{"workers_below", "more `workers_below` than `workers`",
                     "at most " + std::to_string(tree.workers)};
  }
  if (tree.workers_below < tree.children.size()) {
    return TreeFault{
        "workers_below", "fewer `workers_below` than `children`",
        "behind each child is a worker: at least " + std::to_string(tree.children.size())};
  }
  if (!tree.parent && tree.workers_below != tree.workers) {
    return TreeFault{"workers_below", "the root has all workers below it",
                     "workers_below = " + std::to_string(tree.workers) + ", or name a `parent`"};
  }
  if (tree.quorum < 1 || tree.quorum > tree.workers) {
    return TreeFault{"quorum", "`quorum` is out of range",
                     "from 1 to " + std::to_string(tree.workers)};
  }
  return std::nullopt;
}

Fault find_clash(const TreeConfig& tree, const TreeConfig& other) {
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
  if (tree.job == 0) {
    return TreeFault{"job", "`job` is 0, which workers take for none",
                     "number jobs from 1, as in TRIBUTARY_JOB"};
  }
  if (!is_for_jobs(tree.group)) {
    return TreeFault{"group", "`group` is no multicast address that routers forward",
                     "for example 239.192.0.1"};
  }
  if (auto fault = find_port_fault(tree)) {
    return fault;
  }
  if (auto fault = find_count_fault(tree)) {
    return fault;
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
