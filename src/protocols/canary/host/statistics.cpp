// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/statistics.h"

#include <utility>

namespace tributary {

ProtocolStatistics figures_of(const CanaryStatistics& of) {
  Figures figures = {
      {"contributions_sent", of.contributions_sent},
      {"contributions_direct_sent", of.contributions_direct_sent},
      {"results_sent", of.results_sent},
      {"restorations_sent", of.restorations_sent},
      {"bytes_sent", of.bytes_sent},
      {"contributions_received", of.contributions_received},
      {"collisions_received", of.collisions_received},
      {"results_received", of.results_received},
      {"bytes_received", of.bytes_received},
      {"failures_received", of.failures_received},
      {"pendings_received", of.pendings_received},
      {"releases_received", of.releases_received},
      {"requests_sent", of.requests_sent},
      {"requests_needless", of.requests_needless},
      {"requests_received", of.requests_received},
      {"replays_sent", of.replays_sent},
      {"pendings_sent", of.pendings_sent},
      {"failures_sent", of.failures_sent},
      {"releases_sent", of.releases_sent},
      {"blocks_reissued", of.blocks_reissued},
      {"blocks_in_network", of.blocks_in_network},
      {"blocks_by_hosts", of.blocks_by_hosts},
      {"fingerprint_rejections", of.fingerprint_rejections},
      {"switch_sums_seen", of.switch_sums_seen},
      {"blocks_marked", of.blocks_marked},
      {"window", of.window, Merge::least},
  };
  of.ignored.add_to(figures);
  figures.add({"stashed", of.stashed});
  figures.add({"ignored", of.ignored.total()});
  return {"canary", std::move(figures), {}};
}

}  // namespace tributary
