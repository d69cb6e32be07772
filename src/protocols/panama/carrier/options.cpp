// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/carrier/options.h"

#include <algorithm>

#include "host/text.h"
#include "host/transport/group_socket.h"
#include "protocols/panama/wire.h"
#include "wire/quorum.h"

namespace tributary::host {
PanamaOptions panama_options_of(const CommunicatorOptions& options) {
  const Values values(options.parameters, panama_parameters);
  return {values.list("trees"), values.on("congestion_control"), values.share("share")};
}

Result<std::vector<wire::Ipv4Address>> groups_of(const PanamaOptions& options) {
  std::vector<wire::Ipv4Address> groups;
  for (const auto& text : options.trees) {
    const auto group = parse_group(text, "an aggregation tree");
    if (!group) {
      return tl::make_unexpected(group.error());
    }
    if (std::find(groups.begin(), groups.end(), *group) != groups.end()) {
      return invalid("the aggregation tree " + text + " is given twice");
    }
    groups.push_back(*group);
  }
  return groups;
}

Result<void> check_panama(const CommunicatorOptions& options) {
  const auto panama = panama_options_of(options);
  if (panama.trees.empty() || panama.trees.size() > wire::panama_trees_max) {
    return invalid("PANAMA needs 1 to " + std::to_string(wire::panama_trees_max) +
                   " aggregation trees (TRIBUTARY_TREES), as 'tributaryctl fabric' tells them");
  }
  if (options.job == 0) {
    return invalid("PANAMA needs the job for which its trees were set up (TRIBUTARY_JOB)");
  }
  if (options.world_size > wire::panama_masked_ranks_max &&
      wire::quorum_of(panama.share, options.world_size) < options.world_size) {
    return invalid("sums may lack ranks where these are up to " +
                   std::to_string(wire::panama_masked_ranks_max) + ", not " +
                   std::to_string(options.world_size) +
                   ", as packets name them: leave share at 1 (TRIBUTARY_SHARE)");
  }
  if (options.encapsulation != wire::Encapsulation::udp) {
    return invalid("PANAMA goes over UDP only (TRIBUTARY_ENCAPSULATION)");
  }
  return groups_of(panama).map([](const auto&) {});
}

}  // namespace tributary::host
