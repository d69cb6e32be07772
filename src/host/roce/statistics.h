// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

// Counts what a software endpoint of RoCEv2 sent and received.
struct RoceStatistics {
  std::uint64_t packets_sent = 0;          // of RDMA WRITE
  std::uint64_t retransmissions_sent = 0;  // of these
  std::uint64_t timeouts = 0;
  std::uint64_t acknowledgements_received = 0;
  std::uint64_t sequence_errors_received = 0;  // negative acknowledgements, that is
  std::uint64_t congestion_notifications_received = 0;

  std::uint64_t packets_received = 0;  // of RDMA WRITE, in order
  std::uint64_t acknowledgements_sent = 0;
  std::uint64_t sequence_errors_sent = 0;
  std::uint64_t congestion_notifications_sent = 0;
  std::uint64_t ignored_duplicate = 0;
  std::uint64_t ignored_out_of_order = 0;
  std::uint64_t ignored_icrc = 0;     // wrong
  std::uint64_t ignored_foreign = 0;  // not of the connections, or not understood

  std::uint64_t bytes_sent = 0;  // payloads of RDMA WRITE, without headers
  std::uint64_t bytes_received = 0;

  RoceStatistics& operator+=(const RoceStatistics& other) {
    packets_sent += other.packets_sent;
    retransmissions_sent += other.retransmissions_sent;
    timeouts += other.timeouts;
    acknowledgements_received += other.acknowledgements_received;
    sequence_errors_received += other.sequence_errors_received;
    congestion_notifications_received += other.congestion_notifications_received;
    packets_received += other.packets_received;
    acknowledgements_sent += other.acknowledgements_sent;
    sequence_errors_sent += other.sequence_errors_sent;
    congestion_notifications_sent += other.congestion_notifications_sent;
    ignored_duplicate += other.ignored_duplicate;
    ignored_out_of_order += other.ignored_out_of_order;
    ignored_icrc += other.ignored_icrc;
    ignored_foreign += other.ignored_foreign;
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    return *this;
  }
};

}  // namespace tributary
