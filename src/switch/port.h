// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "forwarding/occupancy.h"
#include "packet/clock.h"
#include "packet/list.h"
#include "switch/config.h"

namespace tributary::switching {

struct PortCounters {
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t rx_unfinished_checksums = 0;  // veth or TAP without `ethtool -K DEV tx off`
  std::uint64_t tx_offered = 0;               // packets that the switch wanted to send
  std::uint64_t tx_packets = 0;               // that left the queue
  std::uint64_t tx_bytes = 0;
  std::uint64_t queue_tail_dropped = 0;
  std::uint64_t queue_ecn_marked = 0;
  std::uint64_t link_down_dropped = 0;  // waited when the link went, or came while it was down
  std::uint64_t impaired_lost = 0;      // both directions
  std::uint64_t impaired_duplicated = 0;
  std::uint64_t impaired_reordered = 0;
  std::uint64_t impaired_corrupted = 0;
  std::uint64_t impaired_delayed = 0;
};

// One port's share of the work, owned by one core: ingress impairment, egress impairment, the
// shaped egress queue, and counters. The device behind it belongs to the data plane.
class Port {
 public:
  // Keeps `gauge`, if there is one, up to date about the queue; it outlives the port.
  explicit Port(const PortConfig& config, forwarding::QueueGauge* gauge = nullptr);
  ~Port();
  Port(Port&&) noexcept;
  Port& operator=(Port&&) noexcept;

  // A frame from the device; Packet::ingress is set by the caller. Goes to `ready` at once, or
  // later through poll_arrivals(), or is lost. Counted before any impairment.
  void arrive(PacketPtr packet, Time now, PacketList& ready);
  // Frames whose ingress delay is over.
  void poll_arrivals(Time now, PacketList& ready);

  // A departure of the switch for this port.
  void enqueue(PacketPtr packet, Time now);
  // Appends to `out` up to `max` frames that the shaper lets go.
  void dequeue(Time now, PacketList& out, std::size_t max);

  // Without a link nothing leaves: what waits to do so, and what still comes, is dropped and
  // counted. Up at first.
  void set_up(bool up);

  // The earliest time at which poll_arrivals() or dequeue() has something to do; `never` if idle.
  // In the past when an unshaped frame waits.
  Time deadline() const;

  // Rate, capacity, threshold and impairments of `config`; packets that wait stay.
  void reconfigure(const PortConfig& config);
  // Drops everything that waits, for shutdown: the packets return to their pool.
  void clear();

  PortCounters counters() const;
  std::size_t queue_packets() const;
  std::uint64_t queue_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tributary::switching
