// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/config_draft.h"
#include "control/option_kinds.h"
#include "control/text.h"
#include "control/tree_ports.h"
#include "switch/config.h"

// The configuration's sections of protocols that add up along trees have this in common.
namespace tributary::control {

inline constexpr std::uint32_t tree_job_max = std::numeric_limits<std::uint32_t>::max();
// A tree has at most so many ranks, and so many of what else its packets number in 16 bits.
inline constexpr std::uint16_t tree_count_max = std::numeric_limits<std::uint16_t>::max() - 1;

// Every table of trees has these rows. `Tree` is derived from engine::TreePlace. What is unlisted
// is in the path of a tree's setting, or in tree_text().
template <class Tree>
struct TreeRows {
  static constexpr Option<Tree> job(std::string_view help) {
    return option::integer<&Tree::job, Tree>("job", Apply::reload, {1, tree_job_max}, help)
        .required()
        .unlisted();
  }
  static constexpr Option<Tree> group(std::string_view help) {
    return option::parsed<&Tree::group, parse_group, Tree>(
               "group", Apply::reload, "a multicast address outside 224.0.0.0/24", help)
        .required()
        .unlisted();
  }
  static constexpr Option<Tree> children() {
    return option::by_hand<Tree>("children", Apply::reload, "1 to 64 ports",
                                 "names of the ports that are waited for: one worker of the job, "
                                 "or one switch of the tree, behind each")
        .required();
  }
  static constexpr Option<Tree> parent() {
    return option::by_hand<Tree>("parent", Apply::reload, "not a child",
                                 "name of the port towards the root")
        .default_is("none: this switch is the root");
  }
  static constexpr Option<Tree> workers() {
    return option::integer<&Tree::workers, Tree>("workers", Apply::reload, {1, tree_count_max},
                                                 "of the job")
        .required();
  }
  static constexpr Option<Tree> workers_below() {
    return option::integer<&Tree::workers_below, Tree>("workers_below", Apply::reload,
                                                       {1, tree_count_max},
                                                       "of those, how many are below this switch")
        .required()
        .values_are("one per child, to `workers`; at the root all");
  }
  static constexpr Option<Tree> child_addresses(std::string_view help) {
    return option::list<&Tree::child_addresses, parse_ipv4, Tree>("child_addresses", Apply::reload,
                                                                  "IPv4 addresses", help)
        .default_is("any");
  }
  static constexpr Option<Tree> parent_address() {
    return option::parsed<&Tree::parent_address, parse_ipv4, Tree>(
               "parent_address", Apply::reload, "an IPv4 address",
               "the source of what comes from the parent: its `address`")
        .default_is("any");
  }
};

// A protocol with the settings `Config` remembers this of its trees for check_trees(), in their
// order.
template <class Config>
struct TreeDrafts {
  static constexpr auto row = Config::row;
  std::vector<TreePortNames> trees;
};

// Looks up the ports of a protocol's trees, and finds what is wrong with them: each by itself, and
// beside those before it. The protocol has to be on, and to remember its trees.
template <class Config>
void check_trees(SwitchDraft& draft, Diagnostics& diagnostics) {
  auto& config = draft.config.protocols.get<Config>();
  const auto& names = draft.drafts.get<TreeDrafts<Config>>().trees;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!find_tree_ports(draft.config, names[i], diagnostics, config.trees[i])) {
      continue;
    }
    if (auto fault = find_fault(config, i)) {
      diagnostics.error(position_of(*names[i].source, fault->setting), std::move(fault->message),
                        std::move(fault->hint));
    }
  }
}

// Returns one tree's setting, with its listed options.
template <class Tree>
std::string tree_text(const Tree& tree, std::type_identity_t<Options<Tree>> options,
                      const switching::SwitchConfig& config) {
  return place_text(tree, config) + " " + options_line(options, tree);
}

}  // namespace tributary::control
