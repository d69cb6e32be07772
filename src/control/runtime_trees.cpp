// SPDX-License-Identifier: BSD-3-Clause
#include "control/runtime_trees.h"

#include <algorithm>
#include <utility>

#include "protocols/panama/engine/config.h"

namespace tributary::control {
namespace {

using Added = tl::expected<void, std::string>;

std::string label(const std::string& switch_name, const TreePart& part) {
  return "switch " + switch_name + ", tree " + std::to_string(part.tree) + " of job " +
         std::to_string(part.job) + ": ";
}

tl::expected<PortIndex, std::string> find_port(const switching::SwitchConfig& config,
                                               const std::string& name) {
  const auto at = std::find_if(config.ports.begin(), config.ports.end(),
                               [&](const auto& port) { return port.name == name; });
  if (at == config.ports.end()) {
    return tl::unexpected("there is no port `" + name + "`");
  }
  return static_cast<PortIndex>(at - config.ports.begin());
}

tl::expected<panama::TreeConfig, std::string> resolved(const TreePart& part,
                                                       const switching::SwitchConfig& config) {
  panama::TreeConfig tree;
  tree.job = part.job;
  tree.tree = part.tree;
  tree.group = part.group;
  tree.workers = part.workers;
  tree.workers_below = part.workers_below;
  tree.quorum = part.quorum;
  tree.child_addresses = part.child_addresses;
  tree.parent_address = part.parent_address;
  for (const std::string& name : part.children) {
    const auto port = find_port(config, name);
    if (!port) {
      return tl::unexpected(port.error());
    }
    tree.children.push_back(*port);
  }
  if (part.parent) {
    const auto port = find_port(config, *part.parent);
    if (!port) {
      return tl::unexpected(port.error());
    }
    tree.parent = *port;
  }
  return tree;
}

// A job is the file's or the controller's: one that was half of each could not be taken away.
bool is_of_file(std::uint32_t job, const std::vector<panama::TreeConfig>& file) {
  return std::any_of(file.begin(), file.end(), [&](const auto& tree) { return tree.job == job; });
}

Added add_tree(panama::PanamaConfig& panama, const std::vector<panama::TreeConfig>& file,
               const TreePart& part, const switching::SwitchConfig& config) {
  if (is_of_file(part.job, file)) {
    return tl::unexpected(std::string("the job is in the configuration file; take it out there"));
  }
  auto tree = resolved(part, config);
  if (!tree) {
    return tl::unexpected(tree.error());
  }
  panama.trees.push_back(std::move(*tree));
  if (const auto fault = panama::find_fault(panama, panama.trees.size() - 1)) {
    return tl::unexpected(fault->message + (fault->hint.empty() ? "" : " (" + fault->hint + ")"));
  }
  return {};
}

Added add_to_switch(switching::SwitchConfig& config, const std::vector<TreePart>& parts) {
  auto* panama = config.protocols.find<panama::PanamaConfig>();
  if (panama == nullptr && !parts.empty()) {
    return tl::unexpected(label(config.name, parts.front()) +
                          "PANAMA is off; add [switch.panama] to its configuration");
  }
  const auto file = panama != nullptr ? panama->trees : std::vector<panama::TreeConfig>{};
  for (const TreePart& part : parts) {
    if (const auto added = add_tree(*panama, file, part, config); !added) {
      return tl::unexpected(label(config.name, part) + added.error());
    }
  }
  return {};
}

}  // namespace

RuntimeTrees with_change(RuntimeTrees trees, const std::string& switch_name,
                         const std::vector<std::uint32_t>& jobs,
                         const std::vector<TreePart>& added) {
  auto& parts = trees[switch_name];
  std::erase_if(parts, [&](const TreePart& part) {
    return std::find(jobs.begin(), jobs.end(), part.job) != jobs.end();
  });
  parts.insert(parts.end(), added.begin(), added.end());
  std::stable_sort(parts.begin(), parts.end(), [](const TreePart& a, const TreePart& b) {
    return std::pair(a.job, a.tree) < std::pair(b.job, b.tree);
  });
  if (parts.empty()) {
    trees.erase(switch_name);
  }
  return trees;
}

Added add_trees(DaemonConfig& config, const RuntimeTrees& trees) {
  for (const auto& entry : trees) {
    const auto at = std::find_if(
        config.switches.begin(), config.switches.end(),
        [&](const SwitchSection& section) { return section.config.name == entry.first; });
    if (at == config.switches.end()) {
      return tl::unexpected("there is no switch `" + entry.first + "`");
    }
    if (auto added = add_to_switch(at->config, entry.second); !added) {
      return added;
    }
  }
  return {};
}

tl::expected<DaemonConfig, std::string> with_trees(DaemonConfig current, const DaemonConfig& given,
                                                   const RuntimeTrees& trees) {
  for (std::size_t s = 0; s < current.switches.size(); ++s) {
    if (const auto* panama = given.switches[s].config.protocols.find<panama::PanamaConfig>()) {
      current.switches[s].config.protocols.emplace(*panama);
    }
  }
  return add_trees(current, trees).map([&] { return std::move(current); });
}

TreePart named_tree(const panama::TreeConfig& tree, const switching::SwitchConfig& config) {
  TreePart part{tree.job, tree.tree,    tree.group,         {},
                {},       tree.workers, tree.workers_below, tree.quorum};
  part.child_addresses = tree.child_addresses;
  part.parent_address = tree.parent_address;
  for (const PortIndex port : tree.children) {
    part.children.push_back(config.ports[port].name);
  }
  if (tree.parent) {
    part.parent = config.ports[*tree.parent].name;
  }
  return part;
}

std::size_t trees_max(const panama::PanamaConfig& config) {
  return config.packet_memory / panama::initial_window;
}

}  // namespace tributary::control
