// SPDX-License-Identifier: BSD-3-Clause
// This file reads, checks and describes [switch.flare] and its trees.
#include <any>
#include <cstdint>
#include <string>

#include "control/option_kinds.h"
#include "control/protocol_section.h"
#include "control/tree_ports.h"
#include "control/tree_section.h"
#include "protocols/flare/controller/trees.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {
namespace {

namespace option = control::option;
using control::Apply;
using control::Form;
using control::Option;
using control::Reader;
using control::SettingTexts;
using control::SwitchDraft;

using Draft = control::TreeDrafts<FlareConfig>;
using Rows = control::TreeRows<TreeConfig>;

constexpr Option<FlareConfig> options[] = {
    option::integer<&FlareConfig::working_memory>(
        "working_memory", Apply::reload_not_upwards, {1, 1u << 20},
        "packets that all trees together may hold, those that a [controller](fabric.md) sets up "
        "included; a tree needs 8 x `window`, rounded up to a power of two, with `reproducible` so "
        "many for each child, and 224 x `sparse_window`, that being rounded up to a power of two"),
    option::boolean<&FlareConfig::partial_sums>(
        "partial_sums", Apply::reload,
        "with several `cores`: each adds up what arrives there of a block that another one owns, "
        "and "
        "hands over one partial sum instead of every packet. Not of 8-bit and 16-bit floats, nor "
        "with `reproducible`, nor of sparse blocks"),
    option::by_hand<FlareConfig>("tree", Apply::reload, "as many as `working_memory` has room for",
                                 "the switch's place in the reduction tree of one job")
        .as(Form::tables)
        .default_is("none"),
};

constexpr Option<TreeConfig> tree_options[] = {
    Rows::job("the job (`TRIBUTARY_JOB`), which has one tree"),
    Rows::group("the tree's multicast group (`TRIBUTARY_FLARE_TREE`), one for each tree"),
    Rows::children(),
    Rows::parent(),
    Rows::workers(),
    Rows::workers_below(),
    option::integer<&TreeConfig::window>(
        "window", Apply::reload, {1, wire::flare_window_max},
        "blocks that each worker may have in flight (`TRIBUTARY_FLARE_WINDOW`), the same on all "
        "switches of the tree: at least twice round-trip time x rate / packet"),
    option::boolean<&TreeConfig::reproducible>(
        "reproducible", Apply::reload,
        "tree aggregation: the same contributions give the same bits, in whatever order they come, "
        "as long as the tree is the same; false: one buffer for each block"),
    option::integer<&TreeConfig::sparse_window>(
        "sparse_window", Apply::reload, {0, wire::flare_window_max},
        "blocks of sparse vectors that each worker may have in flight "
        "(`TRIBUTARY_FLARE_SPARSE_WINDOW`), the same on all switches of the tree; 0: the tree has "
        "none. Their sums are added in the order in which packets come, so not with "
        "`reproducible`"),
    Rows::child_addresses(
        "the IPv4 sources of what the children send, one for each in turn: a worker's, or the "
        "`address` of the switch below. Packets from others are dropped (`flare_wrong_port`)"),
    Rows::parent_address(),
};

void read(Reader& reader, SwitchDraft& out) {
  auto& flare = out.config.protocols.emplace<FlareConfig>();
  auto& draft = out.drafts.emplace<Draft>();
  control::read_options(reader, options, flare);
  reader.tables("tree", [&](Reader& child) {
    control::read_options(child, tree_options, flare.trees.emplace_back());
    draft.trees.push_back(control::read_tree_ports(child));
  });
}

void list(SettingTexts& out, const std::string& path, const switching::SwitchConfig& config) {
  const auto& flare = config.protocols.get<FlareConfig>();
  control::list_options(out, path, options, flare);
  for (const auto& tree : flare.trees) {
    out[path + " tree " + std::to_string(tree.job)] = {
        control::tree_text(tree, tree_options, config)};
  }
}

void describe(control::OptionTables& out) {
  control::describe_options<FlareConfig>(options, add_table(out, "[switch.flare]"));
  control::describe_options<TreeConfig>(tree_options, add_table(out, "[[switch.flare.tree]]"));
}

std::uint32_t packets(const std::any& settings) {
  return std::any_cast<const FlareConfig&>(settings).working_memory;
}

// The windows of each tree may come at once. Trees of a controller, which are not known yet, have
// no more blocks in flight than the rest of the memory has room for.
std::uint64_t frames_at_once(const std::any& settings) {
  const auto& flare = std::any_cast<const FlareConfig&>(settings);
  std::uint64_t windows = 0;
  std::uint64_t used = 0;
  for (const auto& tree : flare.trees) {
    windows += tree.window + std::uint64_t{tree.sparse_window} * wire::flare_runs_max;
    used += buffers_of(tree);
  }
  TreeConfig least;
  least.window = 1;
  return windows + (flare.working_memory - used) / buffers_of(least);
}

}  // namespace

extern const control::ProtocolSection config_section;
constexpr control::ProtocolSection config_section{
    .name = "flare",
    .help = "the Flare engine; without it Flare packets are ordinary UDP",
    .needs_address = true,
    .read = read,
    .check = control::check_trees<FlareConfig>,
    .list = list,
    .describe = describe,
    .packets = packets,
    .frames_at_once = frames_at_once,
    .trees = &tree_support};

}  // namespace tributary::flare
