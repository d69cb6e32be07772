// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/controller/trees.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/join.h"
#include "control/tree_ports.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {
namespace {

using control::TreePart;

constexpr std::string_view window_setting = "window";
constexpr std::string_view reproducible_setting = "reproducible";
constexpr std::string_view sparse_window_setting = "sparse_window";
constexpr std::string_view settings[] = {window_setting, reproducible_setting,
                                         sparse_window_setting};

static_assert(control::tree_children_max == children_max);

tl::expected<void, std::string> read_settings(const control::TreeSettings& given,
                                              TreeConfig& tree) {
  for (const auto& [name, value] : given) {
    if (name == window_setting) {
      tree.window = value;  // find_fault() knows its limits, and those of the other one
    } else if (name == sparse_window_setting) {
      tree.sparse_window = value;
    } else if (name != reproducible_setting) {
      return tl::unexpected("a tree of Flare has no setting `" + name.substr(0, 64) +
                            "`; there are window, reproducible and sparse_window");
    } else if (value > 1) {
      return tl::unexpected(std::string("`reproducible` is to be 0 or 1"));
    } else {
      tree.reproducible = value == 1;
    }
  }
  return {};
}

tl::expected<TreeConfig, std::string> tree_of(const TreePart& part,
                                              const switching::SwitchConfig& config) {
  if (part.tree != 0) {
    return tl::unexpected(std::string("a job of Flare has one tree, number 0"));
  }
  if (part.quorum != part.workers) {
    return tl::unexpected(std::string("a result of Flare lacks no worker: `quorum` is `workers`"));
  }
  auto place = control::place_of(part, config);
  if (!place) {
    return tl::unexpected(place.error());
  }
  TreeConfig tree{std::move(*place)};
  return read_settings(part.settings, tree).map([&] { return std::move(tree); });
}

tl::expected<void, std::string> add(switching::SwitchConfig& config, const TreePart& part) {
  auto tree = tree_of(part, config);
  if (!tree) {
    return tl::unexpected(tree.error());
  }
  auto& flare = config.protocols.get<FlareConfig>();
  flare.trees.push_back(std::move(*tree));
  if (const auto fault = find_fault(flare, flare.trees.size() - 1)) {
    return tl::unexpected(fault->message + (fault->hint.empty() ? "" : " (" + fault->hint + ")"));
  }
  return {};
}

TreePart named(const TreeConfig& tree, const switching::SwitchConfig& config) {
  auto part = control::part_of(tree, config);
  part.engine = "flare";
  part.settings.emplace(window_setting, tree.window);
  part.settings.emplace(reproducible_setting, tree.reproducible ? 1u : 0u);
  part.settings.emplace(sparse_window_setting, tree.sparse_window);
  return part;
}

std::vector<TreePart> list(const switching::SwitchConfig& config) {
  std::vector<TreePart> parts;
  for (const auto& tree : config.protocols.get<FlareConfig>().trees) {
    parts.push_back(named(tree, config));
  }
  return parts;
}

// How many trees fit depends on their windows and children, so this tells how many of the smallest
// do. A switch says whether there is room when it is asked to take one.
nlohmann::json room(const switching::SwitchConfig& config) {
  const auto packets = config.protocols.get<FlareConfig>().working_memory;
  TreeConfig smallest;
  smallest.window = 1;
  return {{"working_memory_packets", packets}, {"trees_max", packets / buffers_of(smallest)}};
}

// Switches drop what has another window than theirs, so the workers are always told; without a
// window of sparse blocks, which is nobody's default, they have none either.
control::Environment environment(const control::JobTrees& job) {
  const auto setting = [&job](std::string_view name, std::uint32_t usual) {
    const auto found = job.settings.find(std::string(name));
    return found == job.settings.end() ? usual : found->second;
  };
  control::Environment told{
      {"TRIBUTARY_FLARE_TREE", control::join(job.groups, control::as_text)},
      {"TRIBUTARY_FLARE_WINDOW", std::to_string(setting(window_setting, window_default))}};
  if (const auto window = setting(sparse_window_setting, 0); window != 0) {
    told.emplace_back("TRIBUTARY_FLARE_SPARSE_WINDOW", std::to_string(window));
  }
  return told;
}

}  // namespace

constexpr control::TreeSupport tree_support{.limits = {.trees_max = 1,
                                                       .groups = true,
                                                       .members = false,
                                                       .quorums = false,
                                                       .memory = "working_memory"},
                                            .settings = settings,
                                            .add = add,
                                            .list = list,
                                            .room = room,
                                            .environment = environment};

}  // namespace tributary::flare
