// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/home_port.h"

namespace tributary::dataplane {

void HomePort::depart(PacketList run, Time now) {
  pass(run, now);
  if (run.empty()) {
    return;
  }
  while (auto packet = run.pop()) {
    enqueue(std::move(packet), now);
  }
  deadline_ = Time{};  // the core sends in this round, and finds the next deadline
}

// Frames go straight to the device, burst after burst, as long as it takes all and nothing would
// wait.
void HomePort::pass(PacketList& run, Time now) {
  while (takes()) {
    auto passing = port_.pass(run, device_->room());
    if (passing.empty()) {
      return;
    }
    device_->transmit(passing, now);
  }
}

void HomePort::enqueue(PacketPtr packet, Time now) {
  port_.enqueue(std::move(packet), now);
  if (takes() && port_.queue_packets() >= DeviceQueue::burst) {
    transmit(now);  // while it is in the cache; a device that is full is not asked per packet
  }
}

bool HomePort::send(Time now, PacketList& crossing) {
  bool sent = false;
  if (device_ != nullptr) {
    sent = transmit(now);
  } else {
    port_.dequeue(now, crossing, DeviceQueue::burst);
    sent = !crossing.empty();
  }
  refresh_deadline();
  return sent;
}

// Frames go burst after burst, until nothing may go or the device takes no more.
bool HomePort::transmit(Time now) {
  bool worked = false;
  std::size_t sent = 0;
  PacketList taken;
  do {
    port_.dequeue(now, taken, device_->room());
    sent = device_->transmit(taken, now);
    worked |= sent > 0;
  } while (sent == DeviceQueue::burst && port_.queue_packets() > 0);
  return worked;
}

forwarding::PortCounters HomePort::counters() const {
  auto counters = port_.counters();
  if (device_ != nullptr) {
    counters.rx_missed = device_->refused();
    counters.tx_device_dropped = device_->dropped();
    // What waits there may still be dropped, and a count of what was sent never falls.
    counters.tx_packets -= counters.tx_device_dropped + device_->waiting_packets();
  }
  return counters;
}

void HomePort::pause(bool paused) {
  if (device_ != nullptr) {
    device_->pause(paused);
  }
}

void HomePort::set_up(bool up) {
  port_.set_up(up);
  refresh_deadline();
}

void HomePort::reconfigure(const forwarding::PortConfig& config) {
  port_.reconfigure(config);
  refresh_deadline();
}

// A neighbour that is silent is not dead: what waits in a device is kept as long as what waits in a
// queue.
void HomePort::control_flow(const forwarding::FlowPlace& flow, const forwarding::PortConfig& config,
                            const forwarding::FlowPlan& plan) {
  port_.control_flow(flow, config, plan);
  if (device_ != nullptr) {
    device_->set_patience(config.flow.mode == forwarding::FlowControl::off
                              ? DeviceQueue::patience_usual
                              : forwarding::pause_watchdog);
  }
  refresh_deadline();
}

}  // namespace tributary::dataplane
