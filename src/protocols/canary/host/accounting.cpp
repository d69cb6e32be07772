// SPDX-License-Identifier: BSD-3-Clause
// This file counts what the machine of the collectives sends.
#include "protocols/canary/host/collectives.h"

namespace tributary::host {

void CanaryCollectives::count_sent(const Datagram& datagram) {
  auto& statistics = state_.statistics;
  const auto& header = datagram.header_as<wire::CanaryHeader>();
  statistics.bytes_sent += sizeof header + datagram.payload.size();
  switch (header.kind) {
    case wire::CanaryKind::contribution:
      ++statistics.contributions_sent;
      statistics.contributions_direct_sent += is_direct(header) ? 1 : 0;
      break;
    case wire::CanaryKind::result:
      ++statistics.results_sent;
      break;
    case wire::CanaryKind::restoration:
      ++statistics.restorations_sent;
      break;
    case wire::CanaryKind::request:
      ++statistics.requests_sent;
      break;
    case wire::CanaryKind::failure:
      ++statistics.failures_sent;
      break;
    case wire::CanaryKind::pending:
      ++statistics.pendings_sent;
      break;
    case wire::CanaryKind::release:
      ++statistics.releases_sent;
      break;
  }
}

}  // namespace tributary::host
