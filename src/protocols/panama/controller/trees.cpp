// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/controller/trees.h"

#include <charconv>
#include <utility>

#include "control/join.h"
#include "control/text.h"
#include "control/tree_ports.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {
namespace {

using control::TreePart;

static_assert(control::tree_children_max == children_max);
static_assert(control::trees_per_job_max == wire::panama_trees_max);

tl::expected<void, std::string> add(switching::SwitchConfig& config, const TreePart& part) {
  if (!part.group.is_multicast()) {
    return tl::unexpected(std::string("`group` is to be a multicast address"));
  }
  if (part.tree >= control::trees_per_job_max) {
    return tl::unexpected("a job has at most " + std::to_string(control::trees_per_job_max) +
                          " trees, numbered from 0");
  }
  auto place = control::place_of(part, config);
  if (!place) {
    return tl::unexpected(place.error());
  }
  auto& panama = config.protocols.get<PanamaConfig>();
  panama.trees.push_back({std::move(*place), part.tree, part.quorum});
  if (const auto fault = find_fault(panama, panama.trees.size() - 1)) {
    return tl::unexpected(fault->message + (fault->hint.empty() ? "" : " (" + fault->hint + ")"));
  }
  return {};
}

TreePart named(const TreeConfig& tree, const switching::SwitchConfig& config) {
  auto part = control::part_of(tree, config);
  part.tree = tree.tree;
  part.quorum = tree.quorum;
  part.engine = "panama";
  return part;
}

std::vector<TreePart> list(const switching::SwitchConfig& config) {
  std::vector<TreePart> parts;
  for (const auto& tree : config.protocols.get<PanamaConfig>().trees) {
    parts.push_back(named(tree, config));
  }
  return parts;
}

nlohmann::json room(const switching::SwitchConfig& config) {
  const auto packets = config.protocols.get<PanamaConfig>().packet_memory;
  return {{"packet_memory_packets", packets}, {"trees_max", packets / initial_window}};
}

// Returns the shortest text that reads back as the same number: with another number the hosts might
// come to another quorum than the switches, and wait for ever.
std::string share_text(double share) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), share).ptr};
}

control::Environment environment(const control::JobTrees& job) {
  control::Environment variables = {
      {"TRIBUTARY_TREES", control::join(job.groups, control::as_text, ",")}};
  if (job.share) {
    variables.emplace_back("TRIBUTARY_SHARE", share_text(*job.share));
  }
  return variables;
}

}  // namespace

constexpr control::TreeSupport tree_support{.limits = {},
                                            .settings = {},
                                            .add = add,
                                            .list = list,
                                            .room = room,
                                            .environment = environment};

}  // namespace tributary::panama
