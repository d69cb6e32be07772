// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tree_place.h"

#include <algorithm>

namespace tributary::engine {
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

Fault find_port_fault(const TreePlace& place) {
  const auto& children = place.children;
  if (children.empty() || children.size() > tree_children_max) {
    return TreeFault{"children",
                     "a tree has 1 to " + std::to_string(tree_children_max) + " `children`",
                     "it has " + std::to_string(children.size())};
  }
  auto sorted = children;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return TreeFault{"children", "`children` names a port twice", ""};
  }
  if (!place.child_addresses.empty() && place.child_addresses.size() != children.size()) {
    return TreeFault{"child_addresses", "`child_addresses` and `children` differ in number",
                     "one address for each child in turn, or leave them out"};
  }
  if (place.parent && contains(children, *place.parent)) {
    return TreeFault{"parent", "`parent` is one of the `children`",
                     "a tree leads to the root by one port"};
  }
  return std::nullopt;
}

Fault find_count_fault(const TreePlace& place) {
  if (place.workers_below > place.workers) {
    return TreeFault{"workers_below", "more `workers_below` than `workers`",
                     "at most " + std::to_string(place.workers)};
  }
  if (place.workers_below < place.children.size()) {
    return TreeFault{
        "workers_below", "fewer `workers_below` than `children`",
        "behind each child is a worker: at least " + std::to_string(place.children.size())};
  }
  if (!place.parent && place.workers_below != place.workers) {
    return TreeFault{"workers_below", "the root has all workers below it",
                     "workers_below = " + std::to_string(place.workers) + ", or name a `parent`"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TreeFault> find_fault(const TreePlace& place) {
  if (place.job == 0) {
    return TreeFault{"job", "`job` is 0, which workers take for none",
                     "number jobs from 1, as in TRIBUTARY_JOB"};
  }
  if (!is_for_jobs(place.group)) {
    return TreeFault{"group", "`group` is no multicast address that routers forward",
                     "for example 239.192.0.1"};
  }
  if (auto fault = find_port_fault(place)) {
    return fault;
  }
  return find_count_fault(place);
}

TreePorts::TreePorts(const TreePlace& place, PortIndex ports)
    : children_(static_cast<std::uint8_t>(place.children.size())),
      parent_(place.parent),
      child_of_port_(ports, no_child),
      source_of_port_(ports) {
  for (std::size_t i = 0; i < place.children.size(); ++i) {
    child_of_port_[place.children[i]] = static_cast<std::uint8_t>(i);
  }
  for (std::size_t i = 0; i < place.child_addresses.size(); ++i) {
    source_of_port_[place.children[i]] = place.child_addresses[i];
  }
  if (place.parent) {
    source_of_port_[*place.parent] = place.parent_address;
  }
}

}  // namespace tributary::engine
