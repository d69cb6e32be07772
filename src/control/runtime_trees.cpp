// SPDX-License-Identifier: BSD-3-Clause
#include "control/runtime_trees.h"

#include <algorithm>
#include <set>
#include <utility>

#include "control/protocol_section.h"

namespace tributary::control {
namespace {

using Added = tl::expected<void, std::string>;

std::string label(const std::string& switch_name, const TreePart& part) {
  return "switch " + switch_name + ", tree " + std::to_string(part.tree) + " of job " +
         std::to_string(part.job) + ": ";
}

// A job is the file's or the controller's: one that was half of each could not be taken away.
std::set<std::uint32_t> jobs_of_file(const switching::SwitchConfig& config) {
  std::set<std::uint32_t> jobs;
  for_each_with_trees(config, [&](const ProtocolSection& section) {
    for (const TreePart& part : section.trees->list(config)) {
      jobs.insert(part.job);
    }
  });
  return jobs;
}

Added add_tree(switching::SwitchConfig& config, const std::set<std::uint32_t>& of_file,
               const TreePart& part) {
  if (of_file.contains(part.job)) {
    return tl::unexpected(std::string("the job is in the configuration file; take it out there"));
  }
  if (tree_section(part.engine) == nullptr) {
    return tl::unexpected("no engine `" + part.engine.substr(0, 64) + "` takes trees");
  }
  Added added = tl::unexpected(part.engine + " is off; add [switch." + part.engine +
                               "] to its configuration");
  for_each_with_trees(config, [&](const ProtocolSection& section) {
    if (section.name == part.engine) {
      added = section.trees->add(config, part);
    }
  });
  return added;
}

// This is checked before any trees are added: a controller cannot change those of the file, and it
// changes the others switch by switch.
Added check_others(const DaemonConfig& config, const RuntimeTrees& trees) {
  for (const auto& [switch_name, parts] : trees) {
    for (const auto& other : config.switches) {
      if (other.config.name == switch_name) {
        continue;
      }
      for (const TreePart& part : parts) {
        const auto* const section = tree_section(part.engine);
        if (section == nullptr || section->trees->conflict == nullptr) {
          continue;
        }
        if (auto why = section->trees->conflict(other.config, part); !why.empty()) {
          return tl::unexpected(label(switch_name, part) + why);
        }
      }
    }
  }
  return {};
}

Added add_to_switch(switching::SwitchConfig& config, const std::vector<TreePart>& parts) {
  const auto of_file = jobs_of_file(config);
  for (const TreePart& part : parts) {
    if (const auto added = add_tree(config, of_file, part); !added) {
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
  if (auto ok = check_others(config, trees); !ok) {
    return ok;
  }
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
    current.switches[s].config.protocols = given.switches[s].config.protocols;
  }
  return add_trees(current, trees).map([&] { return std::move(current); });
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

}  // namespace tributary::control
