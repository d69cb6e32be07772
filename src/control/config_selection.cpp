// SPDX-License-Identifier: BSD-3-Clause
// How switches choose among next hops: [switch.selection], and `selection` of a route.
#include <limits>

#include "control/config_draft.h"

namespace tributary::control {
namespace {

using forwarding::Policy;

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

}  // namespace

void read_selection(Reader& reader, forwarding::SelectionConfig& out) {
  reader.parsed("ordinary", out.policies.ordinary, parse_ordinary);
  reader.parsed("reduction", out.policies.reduction, parse_reduction);
  reader.quantity("flowlet_gap", out.flowlet_gap, as_duration,
                  Range<Duration>{std::chrono::microseconds(1), std::chrono::seconds(10)});
  reader.integer("trees", out.trees, {1u, trees_max});
  reader.integer("tree_seed", out.tree_seed,
                 {std::uint64_t{0}, std::uint64_t{std::numeric_limits<std::int64_t>::max()}});
}

void read_route_selection(Reader& reader, switching::RouteConfig& out) {
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

}  // namespace tributary::control
