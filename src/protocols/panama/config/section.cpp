// SPDX-License-Identifier: BSD-3-Clause
// [switch.panama] and its trees.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "control/option_kinds.h"
#include "control/protocol_section.h"
#include "control/tree_ports.h"
#include "protocols/panama/controller/trees.h"
#include "protocols/panama/engine/config.h"

namespace tributary::panama {
namespace {

namespace option = control::option;
using control::Apply;
using control::Diagnostics;
using control::Form;
using control::Option;
using control::Reader;
using control::SettingTexts;
using control::SwitchDraft;

constexpr std::uint32_t job_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint16_t count_max = std::numeric_limits<std::uint16_t>::max() - 1;

struct Draft {
  static constexpr auto row = PanamaConfig::row;
  std::vector<control::TreePortNames> trees;  // in the order of the configuration's
};

constexpr Option<PanamaConfig> options[] = {
    option::integer<&PanamaConfig::packet_memory>(
        "packet_memory", Apply::restart, {initial_window, 16384},
        "packets that may wait for others at one port, per core: the accelerator's buffer of the "
        "paper. Each tree owns 2 of them, active trees share the rest"),
    option::by_hand<PanamaConfig>("tree", Apply::reload, "as many as there are pairs of packets",
                                  "the switch's place in one tree")
        .as(Form::tables)
        .default_is("none"),
};

// What is unlisted is in the path of a tree's setting, or beside the ports, which their switch
// names.
constexpr Option<TreeConfig> tree_options[] = {
    option::integer<&TreeConfig::job>("job", Apply::reload, {1, job_max},
                                      "the job (`TRIBUTARY_JOB`)")
        .required()
        .unlisted(),
    option::integer<&TreeConfig::tree>("tree", Apply::reload, {0, count_max},
                                       "number of the tree in its job")
        .required()
        .unlisted(),
    option::parsed<&TreeConfig::group, control::parse_group>(
        "group", Apply::reload, "a multicast address outside 224.0.0.0/24",
        "the tree's multicast group, one for each tree")
        .required()
        .unlisted(),
    option::by_hand<TreeConfig>("children", Apply::reload, "1 to 64 ports",
                                "names of the ports that are waited for: one worker of the job, or "
                                "one switch of the tree, behind each")
        .required(),
    option::by_hand<TreeConfig>("parent", Apply::reload, "not a child",
                                "name of the port towards the root")
        .default_is("none: this switch is the root"),
    option::integer<&TreeConfig::workers>("workers", Apply::reload, {1, count_max}, "of the job")
        .required(),
    option::integer<&TreeConfig::workers_below>("workers_below", Apply::reload, {1, count_max},
                                                "of those, how many are below this switch")
        .required()
        .values_are("one per child, to `workers`; at the root all"),
    option::integer<&TreeConfig::quorum>(
        "quorum", Apply::reload, {1, count_max},
        "partial aggregation: workers that a result needs; who comes later is counted and not "
        "added, unless the sum is still on its way up")
        .default_is("`workers`")
        .values_are("1 to `workers`"),
    option::list<&TreeConfig::child_addresses, control::parse_ipv4>(
        "child_addresses", Apply::reload, "IPv4 addresses",
        "the IPv4 sources of what the children send, one for each in turn: a worker's, or the "
        "`address` of the switch below. Packets from others are dropped (`panama_wrong_port`)")
        .default_is("any"),
    option::parsed<&TreeConfig::parent_address, control::parse_ipv4>(
        "parent_address", Apply::reload, "an IPv4 address",
        "the source of what comes from the parent: its `address`")
        .default_is("any"),
};

void read_tree(Reader& reader, PanamaConfig& panama, Draft& drafts) {
  auto& tree = panama.trees.emplace_back();
  control::read_options(reader, tree_options, tree);
  drafts.trees.push_back(control::read_tree_ports(reader));
  if (!reader.has("quorum")) {
    tree.quorum = tree.workers;
  }
}

void read(Reader& reader, SwitchDraft& out) {
  auto& panama = out.config.protocols.emplace<PanamaConfig>();
  auto& draft = out.drafts.emplace<Draft>();
  control::read_options(reader, options, panama);
  reader.tables("tree", [&](Reader& child) { read_tree(child, panama, draft); });
}

void check(SwitchDraft& draft, Diagnostics& diagnostics) {
  auto& panama = draft.config.protocols.get<PanamaConfig>();
  const auto& trees = draft.drafts.get<Draft>().trees;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    auto ports = control::find_tree_ports(draft.config, trees[i], diagnostics);
    if (!ports) {
      continue;
    }
    panama.trees[i].children = std::move(ports->children);
    panama.trees[i].parent = ports->parent;
    if (auto fault = find_fault(panama, i)) {
      diagnostics.error(control::position_of(*trees[i].source, fault->setting),
                        std::move(fault->message), std::move(fault->hint));
    }
  }
}

void list(SettingTexts& out, const std::string& path, const switching::SwitchConfig& config) {
  const auto& panama = config.protocols.get<PanamaConfig>();
  control::list_options(out, path, options, panama);
  for (const auto& tree : panama.trees) {
    out[path + " tree " + std::to_string(tree.job) + "/" + std::to_string(tree.tree)] = {
        "group " + control::to_string(tree.group) + " " +
        control::tree_ports_text({tree.children, tree.parent}, config) + " " +
        control::options_line(tree_options, tree)};
  }
}

void describe(control::OptionTables& out) {
  control::describe_options<PanamaConfig>(options, add_table(out, "[switch.panama]"));
  control::describe_options<TreeConfig>(tree_options, add_table(out, "[[switch.panama.tree]]"));
}

}  // namespace

extern const control::ProtocolSection config_section;
constexpr control::ProtocolSection config_section{
    .name = "panama",
    .help = "the PANAMA engine; without it PANAMA packets are ordinary UDP",
    .needs_address = true,
    .read = read,
    .check = check,
    .list = list,
    .describe = describe,
    .trees = &tree_support};

}  // namespace tributary::panama
