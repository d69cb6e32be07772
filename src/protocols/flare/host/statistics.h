// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "host/ignored_packets.h"
#include "host/statistics.h"

namespace tributary {

// Counts what a communicator's Flare packets amounted to, in its one reduction tree. Bytes are
// those of header and payload.
struct FlareStatistics {
  std::string group;                       // the tree's multicast address
  std::uint64_t packets_sent = 0;          // contributions
  std::uint64_t sparse_packets_sent = 0;   // of these, of sparse blocks
  std::uint64_t retransmissions_sent = 0;  // of all
  std::uint64_t timeouts = 0;
  std::uint64_t results_received = 0;         // of dense blocks
  std::uint64_t sparse_results_received = 0;  // of sparse ones, whole

  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t answers_sent = 0;  // results and contributions, to switches that asked for them

  // These are results that do not have each rank once, and refusals that do not have this one's
  // tag.
  std::uint64_t fingerprint_rejections = 0;
  host::IgnoredPackets ignored;

  // Returns how much was of no use, wrong results included.
  std::uint64_t refused() const { return fingerprint_rejections + ignored.total(); }
};

ProtocolStatistics figures_of(const FlareStatistics& of);

}  // namespace tributary
