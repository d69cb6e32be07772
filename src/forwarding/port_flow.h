// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "forwarding/config.h"
#include "forwarding/flow_control.h"
#include "forwarding/pause_speaker.h"
#include "packet/pool.h"

namespace tributary::forwarding {

// A port stands here in the flow control of its switch.
struct FlowPlace {
  std::span<PortBuffer> buffers;  // by port of the switch; they outlive the port
  PortIndex port = 0;
  PacketPool* pool = nullptr;  // for what it says; null: another queue of the port says it
};

// A port has this part in flow control: what it says to its neighbour, and what it hears.
class PortFlow {
 public:
  PortFlow(const FlowPlace& place, const PortConfig& config, const FlowPlan& plan);

  void reconfigure(const PortConfig& config, const FlowPlan& plan);

  // Returns a frame for the neighbour, if there is something to say and a buffer for it.
  PacketPtr speak(Time now);
  Time deadline() const { return speaker_.deadline(); }
  // Notes for how long the neighbour asks for silence, as a MAC control frame says.
  void obey(const wire::Pause& pause, Time now);
  // Returns how many frames there is room for; the device is to keep what else it has.
  std::size_t room() const {
    if (limits_.mode == FlowControl::off) {
      return SIZE_MAX;
    }
    const auto charged = buffer().bytes();
    return charged < limits_.full ? (limits_.full - charged) / limits_.frame_bytes : 0;
  }
  std::uint64_t charged_bytes() const { return buffer().bytes(); }
  void reset();

 private:
  PortBuffer& buffer() const { return place_.buffers[place_.port]; }

  FlowPlace place_;
  BufferLimits limits_;
  wire::MacAddress mac_;
  std::uint64_t rate_bps_ = 0;
  PauseSpeaker speaker_;
};

}  // namespace tributary::forwarding
