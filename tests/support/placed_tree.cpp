// SPDX-License-Identifier: BSD-3-Clause
#include "support/placed_tree.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tributary::test {
namespace {

std::size_t switch_named(const FabricSpec& fabric, std::string_view name) {
  const auto& all = fabric.switches;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& each) { return each.config.name == name; });
  return static_cast<std::size_t>(found - all.begin());
}

PortIndex port_named(const switching::SwitchConfig& config, std::string_view name) {
  const auto found = std::find_if(config.ports.begin(), config.ports.end(),
                                  [&](const auto& port) { return port.name == name; });
  return static_cast<PortIndex>(found - config.ports.begin());
}

// A Step is a switch on the way to the root.
struct Step {
  bool reached = false;
  std::size_t parent = 0;
  PortIndex up = 0;         // own port towards the parent
  PortIndex down = 0;       // the parent's port towards this one
  std::uint16_t below = 0;  // ranks
  std::vector<PortIndex> children;
  std::vector<wire::Ipv4Address> child_addresses;
};

// Returns the switches in the order of their distance from the root.
std::vector<std::size_t> walk(const FabricSpec& fabric, std::size_t root,
                              std::vector<Step>& steps) {
  std::vector<std::size_t> order{root};
  steps[root].reached = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& section = fabric.switches[order[i]];
    for (std::size_t port = 0; port < section.devices.size(); ++port) {
      const auto* link = std::get_if<control::InternalLink>(&section.devices[port]);
      if (link == nullptr) {
        continue;
      }
      const auto peer = switch_named(fabric, link->peer_switch);
      auto& step = steps[peer];
      if (!step.reached) {
        step.reached = true;
        step.parent = order[i];
        step.up = port_named(fabric.switches[peer].config, link->peer_port);
        step.down = static_cast<PortIndex>(port);
        order.push_back(peer);
      }
    }
  }
  return order;
}

void seat(const FabricSpec& fabric, std::size_t host, std::vector<Step>& steps) {
  const auto& spec = fabric.hosts[host];
  const auto index = switch_named(fabric, spec.switch_name);
  auto& step = steps[index];
  step.children.push_back(port_named(fabric.switches[index].config, spec.port_name));
  step.child_addresses.push_back(spec.address);
  ++step.below;
}

}  // namespace

std::vector<TreePart> place_tree(const FabricSpec& fabric, std::size_t root,
                                 const std::vector<std::size_t>& hosts) {
  std::vector<Step> steps(fabric.switches.size());
  auto order = walk(fabric, root, steps);
  for (const auto host : hosts) {
    seat(fabric, host, steps);
  }
  std::reverse(order.begin(), order.end());  // so that a switch comes after those below it
  std::vector<TreePart> parts;
  for (const auto index : order) {
    const auto& step = steps[index];
    if (step.below == 0) {
      continue;
    }
    TreePart part;
    part.switch_index = index;
    part.children = step.children;
    part.child_addresses = step.child_addresses;
    part.workers = static_cast<std::uint16_t>(hosts.size());
    part.workers_below = step.below;
    if (index != root) {
      auto& parent = steps[step.parent];
      part.parent = step.up;
      part.parent_address = fabric.switches[step.parent].config.address;
      parent.child_addresses.push_back(fabric.switches[index].config.address);
      parent.children.push_back(step.down);
      parent.below = static_cast<std::uint16_t>(parent.below + step.below);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace tributary::test
