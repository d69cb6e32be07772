// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/ignored_packets.h"
#include "host/statistics.h"

namespace tributary {

// Counts what a communicator's Canary packets amounted to. Bytes are those of header and payload.
// Every datagram received is counted in exactly one of the *_received figures, or ignored.
struct CanaryStatistics {
  std::uint64_t contributions_sent = 0;
  std::uint64_t contributions_direct_sent = 0;  // of these: to be reduced by the leader alone
  std::uint64_t results_sent = 0;
  std::uint64_t restorations_sent = 0;
  std::uint64_t bytes_sent = 0;

  std::uint64_t contributions_received = 0;  // packets; a switch may have summed up several
  std::uint64_t collisions_received = 0;     // of these: passed by a switch that had no room
  std::uint64_t results_received = 0;
  std::uint64_t bytes_received = 0;

  std::uint64_t failures_received = 0;
  std::uint64_t pendings_received = 0;
  std::uint64_t releases_received = 0;

  // These count loss and faults (3.3).
  std::uint64_t requests_sent = 0;      // a timer ran out
  std::uint64_t requests_needless = 0;  // of these: the result was on its way
  std::uint64_t requests_received = 0;
  std::uint64_t replays_sent = 0;       // results, again, for who asked
  std::uint64_t pendings_sent = 0;      // "not all have contributed yet"
  std::uint64_t failures_sent = 0;      // "contribute again under a new id"
  std::uint64_t releases_sent = 0;      // to switches whose descriptor nobody needs any more
  std::uint64_t blocks_reissued = 0;    // of those that this rank leads: once per attempt given up
  std::uint64_t blocks_in_network = 0;  // finished: a switch took part, or had a collision
  std::uint64_t blocks_by_hosts = 0;    // finished: no switch did, so that the leader reduced alone
  std::uint64_t fingerprint_rejections = 0;  // wrong sums, and single contributions of strangers
  std::uint64_t switch_sums_seen = 0;        // contributions that a switch summed up or passed on

  // These belong to congestion control.
  std::uint64_t blocks_marked = 0;  // done: a queue on the way was congested (ECN)
  std::uint64_t window = 0;         // no counter: blocks that may be open, as it stands

  host::IgnoredPackets ignored;
  std::uint64_t stashed = 0;  // kept for the next collective, counted again there
};

ProtocolStatistics figures_of(const CanaryStatistics& of);

}  // namespace tributary
