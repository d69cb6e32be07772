// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "forwarding/config.h"
#include "forwarding/egress_queue.h"
#include "forwarding/impairment.h"
#include "forwarding/occupancy.h"
#include "forwarding/port_counters.h"
#include "forwarding/port_flow.h"
#include "forwarding/unfinished.h"
#include "packet/clock.h"
#include "packet/list.h"

namespace tributary::forwarding {

// A Port is one core's share of a port's work: ingress impairment, egress impairment, the shaped
// egress queue, and counters. The device behind it belongs to the data plane.
class Port {
 public:
  // Keeps `gauge`, if there is one, up to date about the queue; it outlives the port.
  explicit Port(const PortConfig& config, QueueGauge* gauge = nullptr);

  // Takes frames from the device; Packet::ingress is set by the caller. They go to `ready` at once,
  // or later through poll_arrivals(), or are lost. They are counted before any impairment.
  void arrive(PacketList burst, Time now, PacketList& ready) {
    std::uint64_t bytes = 0;
    for (const auto* frame = burst.front(); frame != nullptr; frame = frame->next) {
      bytes += frame->length;
      if (from_kernel_ && has_unfinished_checksum(*frame)) {
        ++counters_.rx_unfinished_checksums;
      }
    }
    counters_.rx_packets += burst.size();
    counters_.rx_bytes += bytes;
    if (trusts_tags_) [[unlikely]] {
      burst = with_markings(std::move(burst));
    }
    if (impair_in_.active()) {
      pass_in(std::move(burst), now, ready);
    } else {
      ready.append(std::move(burst));
    }
  }
  // Appends frames whose ingress delay is over.
  void poll_arrivals(Time now, PacketList& ready);

  // Takes a departure of the switch for this port.
  void enqueue(PacketPtr&& packet, Time now) {
    ++counters_.tx_offered;
    if (!up_) {
      ++counters_.link_down_dropped;
      packet.reset();
      return;
    }
    if (impair_out_.active()) {
      pass_out(std::move(packet), now);
    } else {
      queue_.enqueue(std::move(packet), now);
    }
    publish_bytes();
  }
  // Takes from `run` up to `max` departures that need not wait, and counts them as if they had been
  // in the queue. It takes all of them or none: then enqueue() is to have them, one by one.
  PacketList pass(PacketList& run, std::size_t max);
  // Appends to `out` up to `max` frames that the shaper and the neighbour let go. Where the switch
  // has flow control it is to be called in every round, deadline or not: there may be something to
  // say to the neighbour.
  void dequeue(Time now, PacketList& out, std::size_t max);

  // Puts the flow control of the switch in force, or takes it off where the plan has none.
  void control_flow(const FlowPlace& place, const PortConfig& config, const FlowPlan& plan);
  // All that came by the port until now has arrived; see EgressQueue::hear().
  void hear(Time now) { queue_.hear(now); }
  bool controls_flow() const { return flow_ != nullptr; }
  // Obeys a MAC control frame that came in by this port.
  void obey(const Packet& frame, Time now);
  // Returns how many frames may be taken from the device now: what else it has is to wait there.
  std::size_t room() const { return flow_ != nullptr ? flow_->room() : SIZE_MAX; }

  // Without a link nothing leaves: what waits to do so, and what still comes, is dropped and
  // counted. The link is up at first.
  void set_up(bool up);

  // Returns the earliest time at which poll_arrivals() or dequeue() has something to do; `never` if
  // idle, and the past when an unshaped frame waits.
  Time deadline() const {
    const auto earliest =
        std::min({impair_in_.deadline(), impair_out_.deadline(), queue_.deadline()});
    return flow_ != nullptr ? std::min(earliest, flow_->deadline()) : earliest;
  }

  // Puts rate, capacity, threshold, trust and impairments of `config` in force; packets that wait
  // stay.
  void reconfigure(const PortConfig& config);
  // Everything that waits returns to its pool, and nobody counts it.
  void clear();

  PortCounters counters() const;
  std::vector<ClassRow> class_rows() const { return queue_.class_rows(); }
  std::size_t queue_packets() const { return queue_.packets(); }
  std::uint64_t queue_bytes() const { return queue_.bytes(); }
  // Returns the bytes that wait in the switch, in any of its queues, and came in by this port.
  std::uint64_t charged_bytes() const { return flow_ != nullptr ? flow_->charged_bytes() : 0; }
  bool paused() const { return queue_.stopped(); }

 private:
  static PacketList with_markings(PacketList burst);
  void pass_in(PacketList burst, Time now, PacketList& ready);
  void pass_out(PacketPtr packet, Time now);
  void enqueue_all(PacketList frames, Time now);
  void tend_flow(Time now);
  void publish_bytes() {
    if (gauge_ != nullptr) {
      queue_.publish(*gauge_);
    }
  }
  // Both write to the gauge, which there is: all of the queue, or the limits of its classes.
  void publish_queue(const PortConfig& config);
  void publish_limits(const PortConfig& config);

  Impairment impair_in_;
  Impairment impair_out_;
  EgressQueue queue_;
  QueueGauge* gauge_;
  std::unique_ptr<PortFlow> flow_;  // null: the switch has no flow control
  PortCounters counters_;
  bool from_kernel_;
  bool trusts_tags_;
  bool up_ = true;
};

}  // namespace tributary::forwarding
