// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forwarding/codepoint.h"
#include "forwarding/config.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "wire/pause.h"

namespace tributary::forwarding {

// A frame occupies a buffer of the pool however short it is, and so much of a queue's capacity.
inline constexpr std::uint32_t buffer_bytes_min = 256;

// A gauge says how full the egress queue of one port is, class by class; without traffic classes
// all is of class 0. It is written by the core that owns the queue, and read by every core of the
// switch when it chooses an up-port. A reader may be behind by what the owner did since; nothing
// but a choice depends on it. It has cache lines of its own, as owners differ.
class alignas(64) QueueGauge {
 public:
  void publish_bytes(std::uint64_t waiting, std::size_t traffic_class = 0) {
    classes_[traffic_class].bytes.store(waiting, std::memory_order_relaxed);
  }
  void publish_capacity(std::uint64_t most, std::size_t traffic_class = 0) {
    classes_[traffic_class].capacity.store(most, std::memory_order_relaxed);
  }
  void publish_rate(std::uint64_t bps, std::size_t traffic_class = 0) {
    classes_[traffic_class].rate_bps.store(bps, std::memory_order_relaxed);
  }

  std::uint64_t bytes(std::size_t traffic_class = 0) const {
    return classes_[traffic_class].bytes.load(std::memory_order_relaxed);
  }
  std::uint64_t capacity(std::size_t traffic_class = 0) const {
    return classes_[traffic_class].capacity.load(std::memory_order_relaxed);
  }
  std::uint64_t rate_bps(std::size_t traffic_class = 0) const {
    return classes_[traffic_class].rate_bps.load(std::memory_order_relaxed);
  }

 private:
  struct alignas(32) OfClass {
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> capacity{0};
    std::atomic<std::uint64_t> rate_bps{
        line_rate_usual};  // of the line, or of the class where that is less
  };
  std::array<OfClass, traffic_classes_max> classes_{};
};

// A queue is compared with others, which may be longer or shorter, on faster lines or on slower.
struct Filling {
  std::uint64_t bytes = 0;
  std::uint64_t capacity = UINT32_MAX;               // not known: never full
  std::uint64_t rate_kbps = line_rate_usual / 1000;  // unless it is known
  bool crowded_behind = false;                       // a queue behind the next hop is above half

  bool above_half() const { return crowded_behind || 2 * bytes > capacity; }
  // Of queues that are not above half, the emptier is the one that its line empties sooner. Of
  // queues above half, which may soon lose packets, it is the one of which less is taken; they come
  // after all of the others.
  bool emptier_than(const Filling& other) const {
    if (above_half() != other.above_half()) {
      return other.above_half();
    }
    return above_half() ? bytes * other.capacity < other.bytes * capacity
                        : bytes * other.rate_kbps < other.bytes * rate_kbps;
  }
};

// The flow control of one port (forwarding/flow_control.h) is seen by all cores of its switch: what
// is charged to it, and what its neighbour asked for. Several cores write; nobody waits for
// another. What a reader sees may be behind by a round of the writer: the headroom allows for that.
struct alignas(64) PortBuffer {
  std::array<std::atomic<std::uint64_t>, wire::priority_classes> charged{};   // bytes, by class
  std::array<std::atomic<Time::rep>, wire::priority_classes> silent_until{};  // as asked for

  std::uint64_t bytes(std::size_t priority) const {
    return charged[priority].load(std::memory_order_relaxed);
  }
  std::uint64_t bytes() const {
    std::uint64_t total = 0;
    for (std::size_t priority = 0; priority < charged.size(); ++priority) {
      total += bytes(priority);
    }
    return total;
  }
  void charge(std::size_t priority, std::uint64_t bytes) {
    charged[priority].fetch_add(bytes, std::memory_order_relaxed);
  }
  void discharge(std::size_t priority, std::uint64_t bytes) {
    charged[priority].fetch_sub(bytes, std::memory_order_relaxed);
  }
  Time silent(std::size_t priority) const {
    return Time(Duration(silent_until[priority].load(std::memory_order_relaxed)));
  }
  void silence(std::size_t priority, Time until) {
    silent_until[priority].store(until.time_since_epoch().count(), std::memory_order_relaxed);
  }
};

// One core of a switch knows this of the egress queues: their gauges, and what it has itself sent
// to them since the burst began, which no queue has got yet. Without the second, a whole burst
// would run to the queue that was the emptiest before it.
class Occupancy {
 public:
  // `gauges` are by port, and outlive this; ports without one seem empty.
  Occupancy(std::span<const QueueGauge> gauges, std::size_t ports)
      : gauges_(gauges.first(std::min(gauges.size(), ports))), ports_(ports), sent_(ports) {}

  // Takes the traffic classes of the switch; there may be none. It is to be called between bursts.
  // Returns true if some packets may now be of another class than before.
  bool divide(std::span<const TrafficClass> classes);
  std::size_t classes() const { return classes_; }
  // Returns the class in whose queue a frame will wait, whichever port it leaves by.
  std::size_t class_of(const Packet& frame) const {
    return classes_ > 1 ? class_by_marking_[marking_of(frame)] : std::size_t{0};
  }

  void begin_burst() { std::fill(sent_.begin(), sent_.end(), 0); }
  void add(PortIndex port, std::uint32_t frame_bytes, std::size_t traffic_class = 0) {
    sent_[index_of(port, traffic_class)] += std::max(frame_bytes, buffer_bytes_min);
  }

  // `port` may be an interface that is no port (the bridge): its queues are not looked at.
  std::uint64_t bytes(PortIndex port, std::size_t traffic_class = 0) const {
    if (port >= ports_) {
      return 0;
    }
    const auto waiting = port < gauges_.size() ? gauges_[port].bytes(traffic_class) : 0;
    return waiting + sent_[index_of(port, traffic_class)];
  }
  Filling filling(PortIndex port, std::size_t traffic_class = 0) const {
    Filling filling{bytes(port, traffic_class)};
    if (port < gauges_.size()) {
      filling.capacity = gauges_[port].capacity(traffic_class);
      filling.rate_kbps = std::max<std::uint64_t>(gauges_[port].rate_bps(traffic_class) / 1000, 1);
    }
    return filling;
  }

 private:
  std::size_t index_of(PortIndex port, std::size_t traffic_class) const {
    return traffic_class * ports_ + port;
  }

  std::span<const QueueGauge> gauges_;
  std::size_t ports_;
  std::vector<std::uint64_t> sent_;  // by class, and then by port
  std::size_t classes_ = 1;
  std::array<std::uint8_t, markings> class_by_marking_{};
};

}  // namespace tributary::forwarding
