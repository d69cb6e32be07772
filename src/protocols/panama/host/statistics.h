// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/ignored_packets.h"
#include "host/statistics.h"

namespace tributary {

// Tells how one aggregation tree of a job was used, and how its window (Figure 5) stands.
struct PanamaTreeStatistics {
  std::string group;  // its multicast address
  std::uint64_t packets_sent = 0;
  std::uint64_t retransmissions_sent = 0;  // of these
  std::uint64_t timeouts = 0;
  std::uint64_t results_received = 0;
  std::uint64_t results_marked = 0;  // of these: a queue on the way was congested (ECN)
  double window = 0;                 // cwnd, in packets
  double ssthresh = 0;
  double alpha = 0;              // moving average of the marked share
  std::uint32_t window_cap = 0;  // least memory in a switch of the tree, in packets; 0: not known

  double marked_share() const {
    return results_received == 0
               ? 0
               : static_cast<double>(results_marked) / static_cast<double>(results_received);
  }
};

// Counts what a communicator's PANAMA packets amounted to. Bytes are those of header and payload.
struct PanamaStatistics {
  std::vector<PanamaTreeStatistics> trees;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;

  // With partial aggregation results may lack somebody; contributions_missing is how many
  // contributions they lack together, missing_by_rank how many of each rank.
  std::uint64_t results_partial = 0;
  std::uint64_t contributions_missing = 0;
  std::map<std::uint32_t, std::uint64_t> missing_by_rank;
  std::uint64_t contributions_skipped = 0;  // of this rank: the result was there first

  std::uint64_t answers_sent = 0;  // results, to whoever asked for them

  // Results whose fingerprint is not that of the ranks that they have, that have fewer than the
  // quorum, or that have all although this one has not sent.
  std::uint64_t fingerprint_rejections = 0;
  host::IgnoredPackets ignored;
  std::uint64_t stashed = 0;  // kept for the next collective, counted again there

  // Returns how much was of no use, wrong results included.
  std::uint64_t refused() const { return fingerprint_rejections + ignored.total(); }
};

ProtocolStatistics figures_of(const PanamaStatistics& of);

}  // namespace tributary
