// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forwarding/codepoint.h"
#include "forwarding/flow_control.h"
#include "packet/clock.h"
#include "packet/list.h"
#include "packet/pool.h"

namespace tributary::forwarding {

struct PauseCounters {
  Duration paused{};          // while some class, or all of them, were stopped
  std::uint64_t dropped = 0;  // by the watchdog
};

// A FlowGate is what flow control adds to an egress queue: it charges what waits to the port it
// came in by, and stops what the neighbour does not want. In a queue without traffic classes it
// also parts the priorities while some are stopped. Otherwise the order is that of one FIFO, and
// afterwards as well: of the frames that may go, the oldest goes.
class FlowGate {
 public:
  // `buffers` are by port of the switch and outlive this; `port` is whose queue it is.
  FlowGate(std::span<PortBuffer> buffers, PortIndex port, const FlowPlan& plan);

  // Says whether there is room for what comes from where this frame comes from.
  bool admits(const Packet& frame) const;
  void charge(const Packet& frame);
  void discharge(const Packet& frame);

  // What keeps the network running is not stopped, nor are PAUSE frames.
  void put_urgent(PacketPtr frame) { urgent_.push(std::move(frame)); }
  bool has_urgent() const { return !urgent_.empty(); }

  // Says whether the neighbour lets none of this priority go, as far as look() knows; of
  // `no_priority`, whether it lets nothing go.
  bool stops(std::size_t priority) const { return is_among(stopped_, priority); }
  // A bit for each priority, and one for `no_priority`: that is, for all of them together.
  using PriorityBits = std::uint16_t;
  static bool is_among(PriorityBits priorities, std::size_t priority) {
    return ((priorities >> priority) & 1) != 0;
  }
  // Returns the priorities that were stopped for too long, and begins to count anew for them.
  PriorityBits late_priorities(Time now);
  // Returns when something that is stopped may go or is overdue.
  Time stop_ends() const;

  // Takes note of what the neighbour wants now.
  void look(Time now, PauseCounters& counters);
  // Goes on from another gate of the port: what is stopped has been so for as long.
  void inherit(const FlowGate& before);
  // Returns all frames, as if none were stopped, discharged; they are from `waiting` as well.
  PacketList take_all(PacketList& waiting);
  // Returns the next frame that may go, discharged, or null. It takes frames from `waiting`, and
  // puts aside those that may not go.
  PacketPtr next(PacketList& waiting);
  // Returns the frames that were stopped for too long, discharged; they are from `waiting` as well.
  PacketList overdue(Time now, PacketList& waiting);

  // Returns when something may go or is overdue, as far as look() knows. `line` is when the line is
  // free.
  Time deadline(const PacketList& waiting, Time line) const;
  // Returns when the neighbour last let go what it had stopped: what waited did not keep the line
  // busy.
  Time opened() const { return opened_; }
  std::size_t packets() const { return urgent_.size() + aside_packets_; }
  bool stopped() const { return stopped_ != 0; }

 private:
  static constexpr std::size_t none = wire::priority_classes;

  std::size_t priority(const Packet& frame) const { return priorities_[marking_of(frame)]; }
  bool is_guarded(const Packet& frame) const {
    return frame.ingress < guarded_.size() && guarded_[frame.ingress].has(class_of(frame));
  }
  std::size_t class_of(const Packet& frame) const { return by_class_ ? priority(frame) : 0; }
  // Returns until when the neighbour lets none of this priority go.
  Time silent_until(std::size_t priority) const;
  std::size_t oldest_aside() const;
  PacketPtr take_aside(std::size_t priority);

  std::span<PortBuffer> buffers_;
  PortIndex port_;
  std::vector<Priorities> guarded_;  // by port
  PriorityMap priorities_;
  bool by_class_;
  std::uint64_t others_max_;
  // In this queue, so many bytes of each class are not guarded. A class that is stopped is not to
  // take the place of the others.
  std::array<std::uint64_t, wire::priority_classes + 1> others_{};

  PacketList urgent_;
  std::array<PacketList, wire::priority_classes> aside_;  // older than the frames in the queue
  std::size_t aside_packets_ = 0;
  PriorityBits stopped_ = 0;
  std::array<Time, no_priority + 1> stopped_since_{};
  Time opened_{};
  Time looked_{};
};

}  // namespace tributary::forwarding
