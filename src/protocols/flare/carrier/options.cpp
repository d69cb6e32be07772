// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/carrier/options.h"

#include "host/text.h"
#include "protocols/flare/carrier/socket.h"

namespace tributary::host {

FlareOptions flare_options_of(const CommunicatorOptions& options) {
  const Values values(options.parameters, flare_parameters);
  return {values.text("flare_tree"), values.number("flare_window"),
          values.number("flare_sparse_window")};
}

bool has_tree(const CommunicatorOptions& options) {
  return !flare_options_of(options).tree.empty();
}

Result<void> check_flare(const CommunicatorOptions& options) {
  if (!has_tree(options)) {
    if (options.fallback == Fallback::allow) {
      return {};
    }
    return invalid(
        "Flare needs the multicast group of the reduction tree that was set up for the job "
        "(TRIBUTARY_FLARE_TREE), as 'tributaryctl fabric' tells it; or allow the fallback to the "
        "hosts");
  }
  if (options.job == 0) {
    return invalid("Flare needs the job for which its tree was set up (TRIBUTARY_JOB)");
  }
  if (options.encapsulation != wire::Encapsulation::udp) {
    return invalid("Flare goes over UDP only (TRIBUTARY_ENCAPSULATION)");
  }
  return flare_group_of(flare_options_of(options).tree).map([](const auto&) {});
}

}  // namespace tributary::host
