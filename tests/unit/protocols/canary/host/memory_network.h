// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "host/outbox.h"
#include "protocols/canary/host/collectives.h"

namespace tributary::host::test {

// A datagram on the way, as bytes.
struct InFlight {
  Endpoint destination;
  std::vector<std::byte> bytes;
  std::uint8_t ecn = wire::ecn::ect0;

  wire::CanaryHeader& header() { return *reinterpret_cast<wire::CanaryHeader*>(bytes.data()); }
  const wire::CanaryHeader& header() const {
    return *reinterpret_cast<const wire::CanaryHeader*>(bytes.data());
  }
  wire::MutableBytes payload() {
    return wire::MutableBytes(bytes).subspan(sizeof(wire::CanaryHeader));
  }
};

// Ranks whose machines are joined by memory, in virtual time. `on_wire` sees every datagram and may
// put none, one or several (changed) ones into the queue.
class MemoryNetwork {
 public:
  using Wire = std::function<void(InFlight, std::deque<InFlight>&)>;

  explicit MemoryNetwork(std::uint32_t ranks, std::uint32_t payload_bytes = 64,
                         std::uint32_t window = 4, std::uint32_t first_sequence = 0,
                         const CanaryTuning& tuning = {}) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      Job job;
      job.id = 0xabcd;
      job.key = {1, 2, 3};
      job.rank = rank;
      job.payload_bytes = payload_bytes;
      job.window = window;
      for (std::uint32_t peer = 0; peer < ranks; ++peer) {
        job.peers.push_back(address_of(peer));
      }
      machines_.push_back(std::make_unique<CanaryCollectives>(job, tuning, first_sequence));
    }
  }

  static Endpoint address_of(std::uint32_t rank) {
    return {wire::Ipv4Address(0x0a000001u + rank), 17000};
  }
  CanaryCollectives& operator[](std::uint32_t rank) { return *machines_[rank]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(machines_.size()); }

  Wire on_wire = [](InFlight datagram, std::deque<InFlight>& queue) {
    queue.push_back(std::move(datagram));
  };
  Time now{std::chrono::seconds(1)};

  // Takes what `rank` wants sent.
  void collect(std::uint32_t rank) {
    Outbox outbox(3);  // small, so that machines have to stop and go on
    for (;;) {
      machines_[rank]->poll(outbox, now);
      if (outbox.empty()) {
        return;
      }
      for (; !outbox.empty(); outbox.pop()) {
        on_wire(fly(outbox.front()), queue_);
      }
    }
  }

  // Delivers one datagram; false if there is none.
  bool deliver() {
    if (queue_.empty()) {
      return false;
    }
    auto datagram = std::move(queue_.front());
    queue_.pop_front();
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      if (address_of(rank) == datagram.destination) {
        machines_[rank]->receive(datagram.bytes, now, datagram.ecn);
      }
    }
    return true;
  }

  // Runs until no machine runs any more, or `limit` has passed. A delivery takes no time.
  void run(Duration limit = std::chrono::seconds(60)) {
    const auto end = now + limit;
    for (settle(); now < end; settle()) {
      auto next = never;
      for (auto& machine : machines_) {
        next = std::min(next, machine->deadline());
      }
      if (next == never) {
        return;
      }
      now = std::min(std::max(now, next), end);
      for (auto& machine : machines_) {
        machine->expire(now);
      }
    }
  }

  // Runs until nothing moves any more.
  void settle() {
    do {
      for (std::uint32_t rank = 0; rank < size(); ++rank) {
        collect(rank);
      }
    } while (deliver());
  }

  std::deque<InFlight>& queue() { return queue_; }

 private:
  static InFlight fly(const Datagram& datagram) {
    InFlight flying{datagram.destination, {}, wire::ecn::ect0};
    const auto header = datagram.header();
    flying.bytes.assign(header.begin(), header.end());
    flying.bytes.insert(flying.bytes.end(), datagram.payload.begin(), datagram.payload.end());
    return flying;
  }

  std::vector<std::unique_ptr<CanaryCollectives>> machines_;
  std::deque<InFlight> queue_;
};

}  // namespace tributary::host::test
