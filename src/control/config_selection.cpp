// SPDX-License-Identifier: BSD-3-Clause
// Here is read how switches choose among next hops: [switch.selection], and `selection` of a route.

#include "control/config_draft.h"
#include "control/config_options.h"
#include "control/option_kinds.h"

namespace tributary::control {
namespace {

using forwarding::Policies;
using forwarding::Policy;
using forwarding::SelectionConfig;

constexpr std::uint32_t trees_max = 64;

Parsed<Policy> parse_policy(std::string_view text, bool ordinary) {
  std::vector<std::string_view> names;
  bool reductions_only = false;
  for (std::size_t i = 0; i < forwarding::policy_names.size(); ++i) {
    const auto& [name, serves_ordinary] = forwarding::policy_names[i];
    const bool serves = serves_ordinary || !ordinary;
    if (name == text && serves) {
      return static_cast<Policy>(i);
    }
    reductions_only |= name == text;
    if (serves) {
      names.push_back(name);
    }
  }
  const std::string quoted = "`" + std::string(text) + "`";
  if (reductions_only) {
    return tl::unexpected(Complaint{quoted + " serves reductions only",
                                    "write { reduction = \"" + std::string(text) +
                                        "\" }; for ordinary traffic there is " + joined(names)});
  }
  return tl::unexpected(
      Complaint{quoted + " is no way to select a port", "one of " + joined(names)});
}
Parsed<Policy> parse_ordinary(std::string_view text) {
  return parse_policy(text, true);
}
Parsed<Policy> parse_reduction(std::string_view text) {
  return parse_policy(text, false);
}

constexpr Option<Policies> policy_table[] = {
    option::parsed<&Policies::ordinary, parse_ordinary>(
        "ordinary", Apply::reload, "`\"ecmp\"`, `\"flowlet\"`, `\"adaptive\"`",
        "`\"ecmp\"`: by the 5-tuple; `\"flowlet\"`: a flow that paused moves to the least-filled "
        "port; `\"adaptive\"`: by the destination, but from a port whose queue is more than half "
        "full to the least-filled one"),
    option::parsed<&Policies::reduction, parse_reduction>(
        "reduction", Apply::reload, "the same, `\"static\"`",
        "`\"ecmp\"`: by block and leader; `\"flowlet\"`: every block begins at the least-filled "
        "port; `\"adaptive\"`: by block and leader, but away from a queue that is more than half "
        "full; `\"static\"`: the blocks take fixed trees in turn"),
};

constexpr Option<SelectionConfig> selection_table[] = {
    option::integer<&SelectionConfig::reduction_seed>(
        "reduction_seed", Apply::reload, seeds,
        "of the hash of block and leader: another one on each level of the fabric that has several "
        "ways up, the same in all switches of a level; 0: the hash as it is"),
    option::duration<&SelectionConfig::flowlet_gap>(
        "flowlet_gap", Apply::reload, {std::chrono::microseconds(1), std::chrono::seconds(10)},
        "a pause of more than this lets a flow move"),
    option::integer<&SelectionConfig::trees>("trees", Apply::reload, {1, trees_max},
                                             "how many static trees there are"),
    option::integer<&SelectionConfig::tree_seed>(
        "tree_seed", Apply::reload, seeds,
        "draws their roots; the same in all switches of a fabric, which are to list the next hops "
        "to the same roots in the same order"),
};

}  // namespace

constinit const Options<Policies> policy_options = policy_table;
constinit const Options<SelectionConfig> selection_options = selection_table;

void read_selection(Reader& reader, SelectionConfig& out) {
  read_options(reader, policy_options, out.policies);
  read_options(reader, selection_options, out);
}

namespace {

template <typename RouteConfigOf>
void read_selection_of_route(Reader& reader, RouteConfigOf& out) {
  constexpr std::string_view key = "selection";
  const auto* node = reader.source().get(key);
  if (node == nullptr || !node->is_table()) {
    reader.parsed(key, out.ordinary, parse_ordinary);
    out.reduction = out.ordinary;
    return;
  }
  reader.table(key, [&](Reader& child) {
    child.parsed("ordinary", out.ordinary, parse_ordinary);
    child.parsed("reduction", out.reduction, parse_reduction);
  });
}

}  // namespace

void read_route_selection(Reader& reader, switching::RouteConfig& out) {
  read_selection_of_route(reader, out);
}

void read_route_selection(Reader& reader, switching::RouteConfig6& out) {
  read_selection_of_route(reader, out);
}

}  // namespace tributary::control
