// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "dataplane/device_queue.h"
#include "dataplane/topology.h"
#include "forwarding/port.h"
#include "packet/list.h"
#include "packet/pool.h"

namespace tributary::dataplane {

// A HomePort is a queue of a port's device that one core polls, with its share of the port's work,
// or an end of an internal link. It knows when there is something to do next.
class HomePort {
 public:
  // `device` is null for an internal link; `place` and `device` outlive this.
  HomePort(forwarding::Port port, const PortPlace& place, std::uint32_t number, bool first,
           DeviceQueue* device)
      : port_(std::move(port)), place_(&place), number_(number), first_(first), device_(device) {}

  const PortPlace& place() const { return *place_; }
  std::uint32_t number() const { return number_; }
  // Says whether this is the first of the queues of its port.
  bool first() const { return first_; }
  const forwarding::Port& port() const { return port_; }
  // Returns null for an internal link.
  const DeviceQueue* device() const { return device_; }
  // Counts the port's share and the device that it leads to.
  forwarding::PortCounters counters() const;

  // Adds to `ready` what comes from the device, unless it is to wait there or is delayed. Returns
  // false if nothing came.
  bool receive(PacketPool& pool, Time now, PacketList& ready) {
    const auto most =
        device_ != nullptr ? std::min<std::size_t>(port_.room(), DeviceQueue::burst) : 0;
    if (most == 0) {
      port_.hear(now);
      return false;
    }
    PacketList burst;
    const auto count = device_->receive(pool, place_->port, burst, most);
    note_heard(count, most, now);
    if (count > 0) {
      arrive(std::move(burst), now, ready);
    }
    return count > 0;
  }
  // Takes a frame from the far end of an internal link, as receive() does from a device.
  void arrive(PacketPtr frame, Time now, PacketList& ready) {
    frame->ingress = place_->port;
    frame->egress = no_port;
    frame->vlan = 0;  // that was one of the switch that it left, and so was its marking
    frame->marking = 0;
    make_whole(*frame);
    arrive(PacketList(std::move(frame)), now, ready);
  }
  // Adds to `ready` frames whose ingress delay is over.
  void poll_arrivals(Time now, PacketList& ready) { port_.poll_arrivals(now, ready); }
  // Obeys a MAC control frame that came in by the port.
  void obey(const Packet& frame, Time now) {
    port_.obey(frame, now);
    refresh_deadline();
  }
  // Nothing comes from the device any more.
  void end_receiving() { port_.hear(never - std::chrono::seconds(1)); }

  // Takes departures of the switch.
  void depart(PacketList run, Time now);
  // Sends what may go: to the device, or, at an end of an internal link, to `crossing`, which is
  // empty. Returns false if nothing went.
  bool send(Time now, PacketList& crossing);

  // Says whether all that there is to do without a deadline begins with a frame that makes the
  // device's input readable. Flow control looks at what other cores do.
  bool announces() const {
    return !port_.controls_flow() && (device_ == nullptr || device_->announces());
  }
  bool due(Time now) const { return deadline_ <= now || waiting() || port_.controls_flow(); }
  bool idle() const { return deadline_ == never && !waiting(); }
  Time deadline() const { return deadline_; }

  // These are called between rounds.
  void pause(bool paused);
  void set_up(bool up);
  void reconfigure(const forwarding::PortConfig& config);
  void control_flow(const forwarding::FlowPlace& flow, const forwarding::PortConfig& config,
                    const forwarding::FlowPlan& plan);

 private:
  // No device holds more in its ring.
  static constexpr std::size_t ring_frames_max = 16384;

  void arrive(PacketList frames, Time now, PacketList& ready) {
    port_.arrive(std::move(frames), now, ready);
    refresh_deadline();  // a frame may be delayed
  }
  // Takes note of how much is known of what the neighbour said, where a burst of `count` came. A
  // device that always has more than a burst is a ring: what was in it at a time is known when as
  // many frames came as it holds.
  void note_heard(std::size_t count, std::size_t most, Time now) {
    // What there is no room for waits in the device, as if it had not come.
    if (count < most || most < DeviceQueue::burst) {
      port_.hear(now);
      marked_at_ = now;
      since_mark_ = 0;
      return;
    }
    since_mark_ += count;
    if (since_mark_ >= ring_frames_max) {
      port_.hear(marked_at_);
      marked_at_ = now;
      since_mark_ = 0;
    }
  }
  void pass(PacketList& run, Time now);
  void enqueue(PacketPtr packet, Time now);
  bool transmit(Time now);
  bool takes() const { return device_ != nullptr && !device_->waiting(); }
  bool waiting() const { return device_ != nullptr && device_->waiting(); }
  void refresh_deadline() { deadline_ = port_.deadline(); }

  forwarding::Port port_;
  const PortPlace* place_;
  std::uint32_t number_;
  bool first_;
  DeviceQueue* device_;
  Time deadline_ = never;  // of the port's queue and impairments
  Time marked_at_{};
  std::size_t since_mark_ = 0;  // frames that came
};

}  // namespace tributary::dataplane
