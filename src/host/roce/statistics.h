// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

// What a software endpoint of RoCEv2 sent and received.
struct RoceStatistics {
  std::uint64_t packets_sent = 0;          // of RDMA WRITE
  std::uint64_t retransmissions_sent = 0;  // of these
  std::uint64_t timeouts = 0;
  std::uint64_t acknowledgements_received = 0;
  std::uint64_t sequence_errors_received = 0;  // negative ones, that is
  std::uint64_t congestion_notifications_received = 0;

  std::uint64_t packets_received = 0;  // of RDMA WRITE, in order
  std::uint64_t acknowledgements_sent = 0;
  std::uint64_t sequence_errors_sent = 0;
  std::uint64_t congestion_notifications_sent = 0;
  std::uint64_t ignored_duplicate = 0;
  std::uint64_t ignored_out_of_order = 0;
  std::uint64_t ignored_icrc = 0;     // wrong
  std::uint64_t ignored_foreign = 0;  // not of the connections, or not understood

  std::uint64_t bytes_sent = 0;  // behind the UDP header
  std::uint64_t bytes_received = 0;
};

}  // namespace tributary
