// SPDX-License-Identifier: BSD-3-Clause
// [switch.panama] and its trees.
#include <limits>

#include "control/config_draft.h"

namespace tributary::control {
namespace {

constexpr std::uint32_t job_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint16_t count_max = std::numeric_limits<std::uint16_t>::max() - 1;
constexpr Range<std::uint32_t> packet_memory_range{panama::initial_window, 16384};

void read_tree(Reader& reader, SwitchDraft& out) {
  auto& tree = out.config.panama->trees.emplace_back();
  auto& draft = out.panama_trees.emplace_back();
  draft.source = &reader.source();
  reader.require({"job", "tree", "group", "children", "workers", "workers_below"});
  reader.integer("job", tree.job, {0u, job_max});
  reader.integer<std::uint16_t>("tree", tree.tree, {0, count_max});
  reader.parsed("group", tree.group, parse_group);
  draft.children = reader.names("children");
  draft.parent = reader.names("parent");
  if (draft.parent.size() != 1 && reader.has("parent")) {
    reader.error("parent", "`parent` is to name one port", "leave it out at the root");
  }
  reader.integer<std::uint16_t>("workers", tree.workers, {1, count_max});
  reader.integer<std::uint16_t>("workers_below", tree.workers_below, {1, count_max});
  tree.quorum = tree.workers;
  reader.integer<std::uint16_t>("quorum", tree.quorum, {1, count_max});
  reader.list("child_addresses", tree.child_addresses, parse_ipv4);
  reader.parsed("parent_address", tree.parent_address, parse_ipv4);
}

// False, and complaints, if one of them is not there.
bool resolve_ports(const PanamaTreeDraft& draft, const switching::SwitchConfig& config,
                   panama::TreeConfig& tree, Diagnostics& diagnostics) {
  bool found = true;
  for (const auto& [name, where] : draft.children) {
    const auto port = find_port(config, name, where, diagnostics);
    found = found && port;
    tree.children.push_back(port.value_or(no_port));
  }
  for (const auto& [name, where] : draft.parent) {
    tree.parent = find_port(config, name, where, diagnostics);
    found = found && tree.parent;
  }
  return found;
}

}  // namespace

void read_panama(Reader& reader, SwitchDraft& out) {
  auto& panama = out.config.panama.emplace();
  reader.integer("packet_memory", panama.packet_memory, packet_memory_range);
  reader.tables("tree", [&](Reader& child) { read_tree(child, out); });
}

void resolve_panama_trees(SwitchDraft& draft, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < draft.panama_trees.size(); ++i) {
    auto& panama = *draft.config.panama;
    const auto& tree = draft.panama_trees[i];
    if (!resolve_ports(tree, draft.config, panama.trees[i], diagnostics)) {
      continue;
    }
    if (auto fault = panama::find_fault(panama, i)) {
      diagnostics.error(position_of(*tree.source, fault->setting), std::move(fault->message),
                        std::move(fault->hint));
    }
  }
}

}  // namespace tributary::control
