// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace tributary::forwarding {

// A port counts this, in one of its queues or in all. `port_figures` says what each counter is.
struct PortCounters {
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t rx_missed = 0;
  std::uint64_t rx_unfinished_checksums = 0;
  std::uint64_t tx_offered = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t queue_tail_dropped = 0;
  std::uint64_t queue_ecn_marked = 0;
  std::uint64_t link_down_dropped = 0;
  std::uint64_t rx_pauses = 0;
  std::uint64_t tx_pauses = 0;
  std::uint64_t pause_dropped = 0;
  std::uint64_t paused_ns = 0;
  std::uint64_t tx_device_dropped = 0;
  std::uint64_t impaired_lost = 0;
  std::uint64_t impaired_duplicated = 0;
  std::uint64_t impaired_reordered = 0;
  std::uint64_t impaired_corrupted = 0;
  std::uint64_t impaired_delayed = 0;

  // Adds what another queue of the port counted. All queues are stopped together, so a time is that
  // of the queue that says most.
  PortCounters& operator+=(const PortCounters& other);
};

// A figure says once for all what a counter is: its name in the control protocol, its line in the
// reference, the reason of drops that it counts, if it does, and whether it is a time in
// nanoseconds, told in seconds.
struct PortFigure {
  std::uint64_t PortCounters::*member;
  std::string_view name;
  std::string_view help;
  std::string_view drop_reason{};
  bool is_time = false;
};

// Reasons of drops are listed in this order.
inline constexpr PortFigure port_figures[] = {
    {&PortCounters::rx_packets, "rx_packets_total", "frames that came in"},
    {&PortCounters::rx_bytes, "rx_bytes_total", "bytes of the frames that came in"},
    {&PortCounters::rx_missed, "rx_missed_packets_total",
     "frames that came to the port and were lost before the switch saw them", "rx_missed"},
    {&PortCounters::rx_unfinished_checksums, "rx_unfinished_checksum_packets_total",
     "frames of a veth or TAP whose checksum was left to hardware (`ethtool -K DEV tx off`)"},
    {&PortCounters::tx_offered, "tx_offered_packets_total",
     "frames that the switch wanted to send"},
    {&PortCounters::tx_packets, "tx_packets_total", "frames that left, and the device took"},
    {&PortCounters::tx_bytes, "tx_bytes_total", "bytes that left the queue"},
    {&PortCounters::queue_tail_dropped, "queue_tail_dropped_packets_total",
     "frames that found the queue full", "queue_tail"},
    {&PortCounters::queue_ecn_marked, "queue_ecn_marked_packets_total",
     "frames that were marked: more than `ecn_threshold` waited"},
    {&PortCounters::link_down_dropped, "link_down_dropped_packets_total",
     "frames that waited when the link went, or came while it was down", "link_down"},
    {&PortCounters::rx_pauses, "rx_pause_packets_total",
     "MAC control frames that came in; `rx_packets_total` counts them, too"},
    {&PortCounters::tx_pauses, "tx_pause_packets_total",
     "MAC control frames that were made; `tx_offered_packets_total` counts them, too"},
    {&PortCounters::pause_dropped, "pause_dropped_packets_total",
     "frames that the neighbour had stopped for too long", "pause"},
    {&PortCounters::paused_ns,
     "paused_seconds_total",
     "how long the neighbour has stopped the port, or some class",
     {},
     true},
    {&PortCounters::tx_device_dropped, "tx_device_dropped_packets_total",
     "frames that the device refused, or its interface dropped", "tx_device"},
    {&PortCounters::impaired_lost, "impaired_lost_packets_total",
     "frames that an impairment lost, in either direction", "impaired_lost"},
    {&PortCounters::impaired_duplicated, "impaired_duplicated_packets_total",
     "frames that an impairment doubled"},
    {&PortCounters::impaired_reordered, "impaired_reordered_packets_total",
     "frames that an impairment held back behind later ones"},
    {&PortCounters::impaired_corrupted, "impaired_corrupted_packets_total",
     "frames of which an impairment flipped a bit"},
    {&PortCounters::impaired_delayed, "impaired_delayed_packets_total",
     "frames that an impairment delayed"},
};

}  // namespace tributary::forwarding
