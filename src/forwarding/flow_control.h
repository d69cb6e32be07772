// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forwarding/codepoint.h"
#include "forwarding/config.h"
#include "forwarding/occupancy.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "wire/pause.h"

namespace tributary::forwarding {

// Flow control works with the buffer of a shared-memory switch: what waits in any queue is charged
// to the port it came in by, and a port that is charged with too much asks its neighbour to be
// silent.

// A queue that was not let send for so long is taken to be part of a deadlock, and emptied. It is
// so long because a neighbour that drains a large buffer over a slow line is no deadlock, nor one
// that is short of CPU.
inline constexpr Duration pause_watchdog = std::chrono::seconds(5);

// One port may be charged with these bytes.
struct BufferLimits {
  FlowControl mode = FlowControl::off;
  std::uint64_t xoff = 0;  // above it the neighbour is asked for silence
  std::uint64_t xon = 0;   // from here on it is not asked any more
  std::uint64_t class_xoff = 0;
  std::uint64_t class_xon = 0;
  // Nothing more is taken from the device than fits: who is late loses nothing. A neighbour that is
  // silent in time never comes so far.
  std::uint64_t full = 0;
  std::uint16_t quanta = 0;  // of silence, as they are asked for
  Duration again{};          // between two requests while there is reason for them
  bool lossless = false;
  Priorities classes{};           // those that are charged, and asked for silence
  std::uint64_t headroom = 0;     // beyond xoff, for what comes until the neighbour is silent
  std::uint32_t frame_bytes = 1;  // of the longest frame
};

// This is the priority of each marking. One that no priority has is of a class that is not
// lossless.
inline constexpr std::uint8_t no_priority = wire::priority_classes;
using PriorityMap = std::array<std::uint8_t, markings>;

// Returns the class selector of each codepoint and the priority of each tag, or what the classes
// say, where there are some.
PriorityMap priorities_of(std::span<const TrafficClass> classes);

// Flow control makes this of the queues of one switch.
struct FlowPlan {
  std::vector<BufferLimits> ports;  // of the switch; none: no port has flow control
  // So much of each queue is for frames that nobody can be asked to hold back: these must not take
  // the place of frames from neighbours that can be asked. Where there are classes, this is of the
  // part that the lossless ones have.
  std::uint64_t others_bytes = 0;
  // Of each queue, or of its part for lossless classes, so that all ports are lossless.
  std::uint64_t capacity_needed = 0;
  PriorityMap priorities = priorities_of({});
  bool by_class = false;  // some port tells the classes apart

  bool active() const { return !ports.empty(); }
  bool guards(PortIndex port) const {
    return port < ports.size() && ports[port].mode != FlowControl::off;
  }
};

// Returns how long so many quanta take on a line.
Duration pause_time(std::uint16_t quanta, std::uint64_t rate_bps);

}  // namespace tributary::forwarding
