// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/device_queue.h"

struct rte_mbuf;
struct rte_mempool;

namespace tributary::dataplane {

// The frames lie one behind the other, each at the start of a cache line.
class FeedFrames {
 public:
  struct Frame {
    std::size_t at;  // place in the bytes
    std::uint32_t length;
  };

  void add(const std::byte* data, std::uint32_t length);
  const std::vector<Frame>& frames() const { return frames_; }
  const std::byte* data(const Frame& frame) const { return bytes_.data() + frame.at; }

 private:
  std::vector<std::byte> bytes_;
  std::vector<Frame> frames_;
};

// A FeedRing has a packet core's receive descriptors, between two threads: the core posts empty
// buffers of its pool, as a driver does, and the feeder fills them, as an adapter does by DMA. So
// the core pays for its buffers and descriptors, and for no copy. Several queues of one core share
// the descriptors, and get a burst each in turn, as if all lines were as fast as each other.
class FeedRing {
 public:
  static constexpr std::uint16_t burst = DeviceQueue::burst;

  // `descriptors` is a power of two, at least two bursts. The pool outlives this.
  FeedRing(rte_mempool* mempool, std::uint32_t descriptors);

  // Adds another queue, whose frames are repeated for ever, while nobody feeds or receives. The
  // frames outlive this; there is at least one. Returns the queue's number; the core polls the
  // queues in this order.
  unsigned add_queue(const FeedFrames& frames);
  // Gives every descriptor a buffer, while nobody feeds or receives. Returns false if there are too
  // few.
  bool post();

  // The feeder calls this. Returns false if there is no room for a burst.
  bool fill();

  // The core calls this for a burst of queue `number`. It gets nothing if it is another queue's
  // turn, or no buffers are left. If the feeder is late, it waits for it some microseconds.
  std::uint16_t receive(unsigned number, rte_mbuf** out, std::uint16_t room);

  // Any thread may call these.
  std::uint64_t received() const { return received_.load(std::memory_order_relaxed); }
  std::uint64_t cycles_waited() const { return waited_.load(std::memory_order_relaxed); }
  std::uint64_t bursts_without_buffers() const { return starved_.load(std::memory_order_relaxed); }

 private:
  struct Descriptor {
    rte_mbuf* mbuf = nullptr;  // written by the core
    std::uint32_t length = 0;  // written by the feeder
  };
  struct Queue {
    const FeedFrames* frames;
    std::size_t next;
  };

  bool burst_is_there() const {
    return filled_.load(std::memory_order_acquire) - received() >= burst;
  }
  bool await_burst();
  unsigned after(unsigned queue) const { return queue + 1 == queues_.size() ? 0 : queue + 1; }

  rte_mempool* mempool_;
  std::vector<Descriptor> descriptors_;
  std::vector<Queue> queues_;
  // The feeder writes how many were ever filled, and whose turn it is.
  alignas(64) std::atomic<std::uint64_t> filled_{0};
  unsigned filling_ = 0;
  // The core writes these. What it received it has replaced by an empty buffer.
  alignas(64) std::atomic<std::uint64_t> received_{0};
  unsigned receiving_ = 0;
  std::atomic<std::uint64_t> waited_{0};
  std::atomic<std::uint64_t> starved_{0};
};

}  // namespace tributary::dataplane
