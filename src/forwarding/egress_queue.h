// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "forwarding/class_queues.h"
#include "forwarding/config.h"
#include "forwarding/congestion_mark.h"
#include "forwarding/flow_control.h"
#include "forwarding/flow_gate.h"
#include "forwarding/occupancy.h"
#include "forwarding/shaper.h"
#include "packet/clock.h"
#include "packet/list.h"
#include "packet/pool.h"

namespace tributary::forwarding {

// The egress queue of a port is a FIFO with a bound in bytes, ECN marking, and a shaper; or a FIFO
// for each traffic class, where there are classes. Without a rate, frames leave as soon as they are
// asked for. What the switch itself sends to keep the network running (class selector 6) goes first
// and is never dropped: a link must not fail because it is busy.
class EgressQueue {
 public:
  explicit EgressQueue(const QueueConfig& config) { configure(config); }

  void configure(const QueueConfig& config);
  // Puts flow control in force, or takes it off where the plan has none; what waits stays.
  void guard(std::span<PortBuffer> buffers, PortIndex port, const FlowPlan& plan);
  void enqueue(PacketPtr&& packet, Time now) {
    if (is_urgent(*packet)) {
      put_first(std::move(packet), now);
      return;
    }
    if (!is_plain_) [[unlikely]] {
      return classes_ != nullptr ? enqueue_classed(std::move(packet), now)
                                 : enqueue_guarded(std::move(packet), now);
    }
    const auto frame_bytes = packet->frame_bytes();
    if (bytes_ + frame_bytes > config_.capacity_bytes || waiting_.size() >= buffers_max_) {
      ++tail_dropped_;
      packet.reset();
      return;
    }
    if (config_.ecn_threshold_packets > 0 && waiting_.size() > config_.ecn_threshold_packets) {
      mark(*packet);
    }
    bytes_ += frame_bytes;
    packet->queued_at = now;
    waiting_.push(std::move(packet));
  }
  // Returns the bytes of the first `max` frames of `run`, if they would go through the queue
  // without a wait: nothing shapes, stops or marks them, none is dropped, and none goes before the
  // others. Returns 0 otherwise.
  std::uint64_t passing_bytes(const PacketList& run, std::size_t max) const;
  // Appends up to `max` frames that may go now.
  void dequeue(Time now, PacketList& out, std::size_t max) {
    if (!is_plain_) [[unlikely]] {
      dequeue_in_turn(now, out, max);
    } else if (shaper_.on()) {
      dequeue_shaped(now, out, max);
    } else if (waiting_.size() <= max) {
      out.append(std::move(waiting_));
      bytes_ = 0;
    } else {
      for (std::size_t i = 0; i < max; ++i) {
        bytes_ -= waiting_.front()->frame_bytes();
        out.push(waiting_.pop());
      }
    }
  }
  // All that the neighbour said until now is known. The queue holds the caller to it: a line that
  // was not looked at makes up for no more than a millisecond before this is called again.
  void hear(Time now) { heard_ = now; }
  // Takes note of what the neighbour wants, and drops what it has stopped for too long.
  void watch(Time now);
  // Returns when the frame at the head may go: the past if unshaped, `never` if empty.
  Time deadline() const {
    if (!is_plain_) [[unlikely]] {
      return classes_ != nullptr ? classed_deadline() : gate_->deadline(waiting_, shaper_.opens());
    }
    return waiting_.empty() ? never : shaper_.opens();
  }
  void clear();

  std::size_t packets() const {
    return waiting_.size() + (gate_ != nullptr ? gate_->packets() : 0) +
           (classes_ != nullptr ? classes_->packets() : 0);
  }
  std::uint64_t bytes() const { return bytes_; }
  // Says how much of the capacity is taken: a queue can also be full of small frames, by buffers.
  void publish(QueueGauge& gauge) const {
    if (classes_ != nullptr) [[unlikely]] {
      classes_->publish(gauge);
    } else {
      gauge.publish_bytes(std::max(bytes_, waiting_.size() * buffer_share_));
    }
  }
  // There is a row for each traffic class, and none where there are no classes.
  std::vector<ClassRow> class_rows() const {
    return classes_ != nullptr ? classes_->rows() : std::vector<ClassRow>();
  }
  std::uint64_t tail_dropped() const { return tail_dropped_; }
  std::uint64_t ecn_marked() const { return ecn_marked_; }
  const PauseCounters& pauses() const { return pauses_; }
  bool stopped() const { return gate_ != nullptr && gate_->stopped(); }

 private:
  static constexpr Duration unheard_max = std::chrono::milliseconds(1);

  static bool is_network_control(const Packet& frame);
  // Only the switch's own packets are urgent: the class of what hosts send is their own claim.
  static bool is_urgent(const Packet& frame) {
    return frame.ingress == no_port && is_network_control(frame);
  }
  void put_first(PacketPtr packet, Time now);
  void enqueue_guarded(PacketPtr packet, Time now);
  void enqueue_classed(PacketPtr packet, Time now);
  void mark(Packet& packet);
  void dequeue_shaped(Time now, PacketList& out, std::size_t max);
  void dequeue_in_turn(Time now, PacketList& out, std::size_t max);
  Time look(Time now);
  bool has_urgent() const;
  PacketPtr next(Time now);
  Time classed_deadline() const {
    return std::max(shaper_.opens(), waiting_.empty() ? classes_->deadline() : Time{});
  }
  PacketList take_all();
  void put_back(PacketList frames);
  void put_back(PacketPtr frame);
  void count_buffers();

  QueueConfig config_;
  std::uint64_t buffers_max_ = 0;   // tiny frames must not take all buffers of the pool
  std::uint64_t buffer_share_ = 0;  // of the capacity, what one buffer takes
  PacketList waiting_;              // where there are classes: urgent frames only
  std::uint64_t bytes_ = 0;
  Shaper shaper_;
  bool is_plain_ = true;  // neither flow control nor classes
  std::uint64_t tail_dropped_ = 0;
  std::uint64_t ecn_marked_ = 0;
  std::unique_ptr<FlowGate> gate_;        // null: the switch has no flow control
  std::unique_ptr<ClassQueues> classes_;  // null: the switch has no classes
  PauseCounters pauses_;
  Time heard_ = never - unheard_max;
};

}  // namespace tributary::forwarding
