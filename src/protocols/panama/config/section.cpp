// SPDX-License-Identifier: BSD-3-Clause
// [switch.panama] and its trees.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "control/protocol_section.h"
#include "protocols/panama/controller/trees.h"
#include "protocols/panama/engine/config.h"

namespace tributary::panama {
namespace {

using control::Diagnostics;
using control::Range;
using control::Reader;
using control::SettingTexts;
using control::SwitchDraft;

constexpr std::uint32_t job_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint16_t count_max = std::numeric_limits<std::uint16_t>::max() - 1;
constexpr Range<std::uint32_t> packet_memory_range{initial_window, 16384};

using Names = std::vector<std::pair<std::string, control::Position>>;

// [[switch.panama.tree]]: the ports that it names, before they are looked up.
struct TreeDraft {
  const toml::table* source = nullptr;
  Names children;
  Names parent;  // none or one
};
struct Draft {
  static constexpr auto row = PanamaConfig::row;
  std::vector<TreeDraft> trees;  // in the order of the configuration's
};

void read_tree(Reader& reader, PanamaConfig& panama, Draft& drafts) {
  auto& tree = panama.trees.emplace_back();
  auto& draft = drafts.trees.emplace_back();
  draft.source = &reader.source();
  reader.require({"job", "tree", "group", "children", "workers", "workers_below"});
  reader.integer("job", tree.job, {0u, job_max});
  reader.integer<std::uint16_t>("tree", tree.tree, {0, count_max});
  reader.parsed("group", tree.group, control::parse_group);
  draft.children = reader.names("children");
  draft.parent = reader.names("parent");
  if (draft.parent.size() != 1 && reader.has("parent")) {
    reader.error("parent", "`parent` is to name one port", "leave it out at the root");
  }
  reader.integer<std::uint16_t>("workers", tree.workers, {1, count_max});
  reader.integer<std::uint16_t>("workers_below", tree.workers_below, {1, count_max});
  tree.quorum = tree.workers;
  reader.integer<std::uint16_t>("quorum", tree.quorum, {1, count_max});
  reader.list("child_addresses", tree.child_addresses, control::parse_ipv4);
  reader.parsed("parent_address", tree.parent_address, control::parse_ipv4);
}

void read(Reader& reader, SwitchDraft& out) {
  auto& panama = out.config.protocols.emplace<PanamaConfig>();
  auto& draft = out.drafts.emplace<Draft>();
  reader.integer("packet_memory", panama.packet_memory, packet_memory_range);
  reader.tables("tree", [&](Reader& child) { read_tree(child, panama, draft); });
}

// False, and complaints, if one of them is not there.
bool resolve_ports(const TreeDraft& draft, const switching::SwitchConfig& config, TreeConfig& tree,
                   Diagnostics& diagnostics) {
  bool found = true;
  for (const auto& [name, where] : draft.children) {
    const auto port = control::find_port(config, name, where, diagnostics);
    found = found && port;
    tree.children.push_back(port.value_or(no_port));
  }
  for (const auto& [name, where] : draft.parent) {
    tree.parent = control::find_port(config, name, where, diagnostics);
    found = found && tree.parent;
  }
  return found;
}

void check(SwitchDraft& draft, Diagnostics& diagnostics) {
  auto& panama = draft.config.protocols.get<PanamaConfig>();
  const auto& trees = draft.drafts.get<Draft>().trees;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!resolve_ports(trees[i], draft.config, panama.trees[i], diagnostics)) {
      continue;
    }
    if (auto fault = find_fault(panama, i)) {
      diagnostics.error(control::position_of(*trees[i].source, fault->setting),
                        std::move(fault->message), std::move(fault->hint));
    }
  }
}

// Where what is added up has to come from; nothing if it may come from anywhere.
std::string sources_text(const TreeConfig& tree) {
  std::string text;
  for (const auto address : tree.child_addresses) {
    text += (text.empty() ? " child_addresses " : ",") + control::to_string(address);
  }
  return text + (tree.parent_address.is_unspecified()
                     ? ""
                     : " parent_address " + control::to_string(tree.parent_address));
}

void list(SettingTexts& out, const std::string& path, const switching::SwitchConfig& config) {
  const auto& panama = config.protocols.get<PanamaConfig>();
  out[path + " packet_memory"] = {std::to_string(panama.packet_memory), true};
  for (const auto& tree : panama.trees) {
    out[path + " tree " + std::to_string(tree.job) + "/" + std::to_string(tree.tree)] = {
        "group " + control::to_string(tree.group) + " children " +
        control::ports_text(tree.children, config) + " parent " +
        (tree.parent ? config.ports[*tree.parent].name : "none") + " workers " +
        std::to_string(tree.workers) + " workers_below " + std::to_string(tree.workers_below) +
        " quorum " + std::to_string(tree.quorum) + sources_text(tree)};
  }
}

}  // namespace

extern const control::ProtocolSection config_section;
constexpr control::ProtocolSection config_section{.name = "panama",
                                                  .needs_address = true,
                                                  .read = read,
                                                  .check = check,
                                                  .list = list,
                                                  .trees = &tree_support};

}  // namespace tributary::panama
