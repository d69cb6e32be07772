// SPDX-License-Identifier: BSD-3-Clause
// This file reads, checks and describes [switch.panama] and its trees.
#include <string>

#include "control/option_kinds.h"
#include "control/protocol_section.h"
#include "control/tree_ports.h"
#include "control/tree_section.h"
#include "protocols/panama/controller/trees.h"
#include "protocols/panama/engine/config.h"

namespace tributary::panama {
namespace {

namespace option = control::option;
using control::Apply;
using control::Form;
using control::Option;
using control::Reader;
using control::SettingTexts;
using control::SwitchDraft;

using Draft = control::TreeDrafts<PanamaConfig>;
using Rows = control::TreeRows<TreeConfig>;

constexpr Option<PanamaConfig> options[] = {
    option::integer<&PanamaConfig::packet_memory>(
        "packet_memory", Apply::restart, {initial_window, 16384},
        "packets that may wait for others at one port, per core: the accelerator's buffer of the "
        "paper. Each tree owns 2 of them, active jobs share the rest, and active trees a job's "
        "part"),
    option::by_hand<PanamaConfig>("tree", Apply::reload, "as many as there are pairs of packets",
                                  "the switch's place in one tree")
        .as(Form::tables)
        .default_is("none"),
};

constexpr Option<TreeConfig> tree_options[] = {
    Rows::job("the job (`TRIBUTARY_JOB`)"),
    option::integer<&TreeConfig::tree>("tree", Apply::reload, {0, control::tree_count_max},
                                       "number of the tree in its job")
        .required()
        .unlisted(),
    Rows::group("the tree's multicast group, one for each tree"),
    Rows::children(),
    Rows::parent(),
    Rows::workers(),
    Rows::workers_below(),
    option::integer<&TreeConfig::quorum>(
        "quorum", Apply::reload, {1, control::tree_count_max},
        "partial aggregation: workers that a result needs; who comes later is counted and not "
        "added, unless the sum is still on its way up")
        .default_is("`workers`")
        .values_are("1 to `workers`; of more than 1024 workers, all"),
    Rows::child_addresses(
        "the IPv4 sources of what the children send, one for each in turn: a worker's, or the "
        "`address` of the switch below. Packets from others are dropped (`panama_wrong_port`)"),
    Rows::parent_address(),
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

void list(SettingTexts& out, const std::string& path, const switching::SwitchConfig& config) {
  const auto& panama = config.protocols.get<PanamaConfig>();
  control::list_options(out, path, options, panama);
  for (const auto& tree : panama.trees) {
    out[path + " tree " + std::to_string(tree.job) + "/" + std::to_string(tree.tree)] = {
        control::tree_text(tree, tree_options, config)};
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
    .check = control::check_trees<PanamaConfig>,
    .list = list,
    .describe = describe,
    .trees = &tree_support};

}  // namespace tributary::panama
