// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/port_flow.h"

#include <algorithm>

#include "forwarding/flow_plan.h"

namespace tributary::forwarding {

PortFlow::PortFlow(const FlowPlace& place, const PortConfig& config, const FlowPlan& plan)
    : place_(place) {
  reconfigure(config, plan);
}

void PortFlow::reconfigure(const PortConfig& config, const FlowPlan& plan) {
  limits_ = plan.ports[place_.port];
  mac_ = config.mac;
  rate_bps_ = line_rate(config);
  speaker_.configure(limits_);
}

PacketPtr PortFlow::speak(Time now) {
  if (place_.pool == nullptr) {
    return nullptr;
  }
  const auto before = speaker_;
  const auto pause = speaker_.poll(buffer(), now);
  auto frame = pause ? place_.pool->allocate() : nullptr;
  if (pause && !frame) {
    speaker_ = before;  // it is still to be said
  }
  if (frame) {
    const auto bytes = wire::make_pause(mac_, *pause);
    frame->length = static_cast<std::uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), frame->data());
  }
  return frame;
}

void PortFlow::obey(const wire::Pause& pause, Time now) {
  if (limits_.mode == FlowControl::off) {
    return;
  }
  for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
    const bool is_meant = !pause.by_class || limits_.classes.has(priority);
    if (pause.speaks_of(priority) && is_meant) {
      buffer().silence(priority, now + pause_time(pause.quanta[priority], rate_bps_));
    }
  }
}

void PortFlow::reset() {
  speaker_.reset();
  for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
    buffer().silence(priority, Time{});
  }
}

}  // namespace tributary::forwarding
