// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "forwarding/codepoint.h"
#include "forwarding/config.h"
#include "forwarding/flow_gate.h"
#include "forwarding/occupancy.h"
#include "forwarding/shaper.h"
#include "packet/clock.h"
#include "packet/list.h"
#include "packet/pool.h"

namespace tributary::forwarding {

// One traffic class of a port counts this. `class_figures` says what each counter is.
struct ClassCounters {
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t tail_dropped = 0;
  std::uint64_t ecn_marked = 0;
  std::uint64_t pause_dropped = 0;

  ClassCounters& operator+=(const ClassCounters& other);
};

struct ClassFigure {
  std::uint64_t ClassCounters::*member;
  std::string_view name;
  std::string_view help;
};

inline constexpr ClassFigure class_figures[] = {
    {&ClassCounters::tx_packets, "tx_packets_total", "frames of the class that left the queue"},
    {&ClassCounters::tx_bytes, "tx_bytes_total",
     "bytes of the frames of the class that left the queue"},
    {&ClassCounters::tail_dropped, "queue_tail_dropped_packets_total",
     "frames of the class that found its part of the queue full"},
    {&ClassCounters::ecn_marked, "queue_ecn_marked_packets_total",
     "frames of the class that were marked: more than its `ecn_threshold` waited"},
    {&ClassCounters::pause_dropped, "pause_dropped_packets_total",
     "frames of the class that the neighbour had stopped for too long"},
};

// This is what waits in one of the classes, and what it has counted.
struct ClassRow {
  std::string_view name;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  ClassCounters counters;
};

// These are the queues of a port's traffic classes: a FIFO for each, with its own bound, marks and
// rate. Strict classes go first, in the order of the configuration. The others share what those
// leave by start-time fair queueing (Goyal, Vin and Cheng, 1996), in bytes on the line.
//
// In a switch with flow control, a class with a `pfc_priority` is lossless: its frames are charged
// to the ports that they came in by, the room for them is what flow_plan.h has divided, and while
// the neighbour stops the priority the class has no turn.
class ClassQueues {
 public:
  enum class Verdict : std::uint8_t { taken, marked, dropped };

  // `classes` are not empty, and one of them takes the rest. `capacity_bytes` is the port's.
  // Where the switch has flow control, `gate` is that of the port. It outlives the frames here.
  ClassQueues(std::span<const TrafficClass> classes, std::uint32_t capacity_bytes,
              FlowGate* gate = nullptr);

  Verdict enqueue(PacketPtr packet, Time now);
  // Returns the next frame that may go, or null. Its `queued_at` is from when on it could have
  // gone.
  PacketPtr next(Time now);
  // Returns when a frame may go: the past if one may now, `never` if none waits.
  Time deadline() const;

  // Takes in what waited before, with its time, whether there is room or not; it marks nothing.
  void put_back(PacketPtr packet);
  // Takes all frames, class by class, and counts none.
  PacketList take_all();
  // Takes the frames of the classes that flow control has stopped for too long.
  PacketList overdue(Time now);
  // Continues the counters, marks and lines of classes that had the same names there.
  void inherit(const ClassQueues& other);

  std::size_t packets() const { return packets_; }
  // Says how much of its part each class has taken.
  void publish(QueueGauge& gauge) const;
  std::vector<ClassRow> rows() const;

 private:
  struct Queue {
    TrafficClass config;
    std::uint64_t packets_max = 0;   // tiny frames must not take all buffers of the pool
    std::uint64_t buffer_share = 0;  // of the capacity, what one buffer takes
    PacketList waiting{};
    std::uint64_t bytes = 0;
    Shaper shaper{};
    std::uint64_t per_byte = 0;   // what a byte on the line costs: the less, the more it weighs
    std::uint64_t ahead = 0;      // cost of what it sent beyond the class whose turn it was last
    std::uint64_t mark_debt = 0;  // packets above the threshold; each mark takes `ecn_ramp` of them
    ClassCounters counters{};

    std::size_t priority() const { return config.pfc_priority.value_or(no_priority); }
    bool wants_mark();
  };

  // This is what lossless classes take of the queue together.
  struct Room {
    std::uint64_t capacity_bytes = 0;
    std::uint64_t packets_max = 0;
    std::uint64_t bytes = 0;
    std::uint64_t packets = 0;
  };

  bool is_lossless(const Queue& queue) const {
    return gate_ != nullptr && queue.config.pfc_priority;
  }
  bool is_stopped(const Queue& queue) const {
    return gate_ != nullptr && gate_->stops(queue.priority());
  }
  bool may_go(const Queue& queue, Time now) const {
    return !queue.waiting.empty() && queue.shaper.opens() <= now && !is_stopped(queue);
  }
  bool has_room(const Queue& queue, const Packet& packet) const;
  void put(Queue& queue, PacketPtr packet);
  PacketPtr take(Queue& queue);
  PacketPtr take_to_send(Queue& queue);
  PacketPtr next_strict(Time now);
  PacketPtr next_by_weight(Time now);
  void pass(std::uint64_t cost);

  std::vector<Queue> queues_;
  std::array<std::uint8_t, markings> class_of_{};
  std::size_t packets_ = 0;
  Room lossless_;
  FlowGate* gate_;
};

}  // namespace tributary::forwarding
