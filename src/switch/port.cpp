// SPDX-License-Identifier: BSD-3-Clause
#include "switch/port.h"

#include <algorithm>
#include <utility>

#include "forwarding/egress_queue.h"
#include "forwarding/impairment.h"
#include "switch/unfinished.h"

namespace tributary::switching {

struct Port::State {
  State(const PortConfig& config, forwarding::QueueGauge* kept)
      : impair_in(config.impair_in),
        impair_out(config.impair_out),
        queue(config.queue),
        gauge(kept) {
    publish_capacity(config);
  }

  void publish_bytes() {
    if (gauge != nullptr) {
      gauge->publish_bytes(queue.occupied_bytes());
    }
  }
  void publish_capacity(const PortConfig& config) {
    if (gauge != nullptr) {
      gauge->publish_capacity(config.queue.capacity_bytes);
    }
  }

  void enqueue_all(PacketList frames, Time now) {
    while (auto frame = frames.pop()) {
      queue.enqueue(std::move(frame), now);
    }
  }

  forwarding::Impairment impair_in;
  forwarding::Impairment impair_out;
  forwarding::EgressQueue queue;
  forwarding::QueueGauge* gauge;
  PortCounters counters;
  bool up = true;
};

Port::Port(const PortConfig& config, forwarding::QueueGauge* gauge)
    : state_(std::make_unique<State>(config, gauge)) {}
Port::~Port() = default;
Port::Port(Port&&) noexcept = default;
Port& Port::operator=(Port&&) noexcept = default;

void Port::arrive(PacketPtr packet, Time now, PacketList& ready) {
  auto& counters = state_->counters;
  ++counters.rx_packets;
  counters.rx_bytes += packet->length;
  if (has_unfinished_checksum(*packet)) {
    ++counters.rx_unfinished_checksums;
  }
  if (!state_->impair_in.active()) {
    ready.push(std::move(packet));
    return;
  }
  state_->impair_in.pass(std::move(packet), now, ready);
}

void Port::poll_arrivals(Time now, PacketList& ready) {
  if (state_->impair_in.active()) {
    state_->impair_in.poll(now, ready);
  }
}

void Port::enqueue(PacketPtr packet, Time now) {
  ++state_->counters.tx_offered;
  if (!state_->up) {
    ++state_->counters.link_down_dropped;
    return;
  }
  if (!state_->impair_out.active()) {
    state_->queue.enqueue(std::move(packet), now);
  } else {
    PacketList ready;
    state_->impair_out.pass(std::move(packet), now, ready);
    state_->enqueue_all(std::move(ready), now);
  }
  state_->publish_bytes();
}

void Port::dequeue(Time now, PacketList& out, std::size_t max) {
  if (state_->impair_out.active()) {
    PacketList ready;
    state_->impair_out.poll(now, ready);
    state_->enqueue_all(std::move(ready), now);
  }
  const auto packets_before = state_->queue.packets();
  const auto bytes_before = state_->queue.bytes();
  state_->queue.dequeue(now, out, max);
  state_->counters.tx_packets += packets_before - state_->queue.packets();
  state_->counters.tx_bytes += bytes_before - state_->queue.bytes();
  state_->publish_bytes();
}

void Port::set_up(bool up) {
  state_->up = up;
  if (!up) {
    state_->counters.link_down_dropped += state_->queue.packets() + state_->impair_out.packets();
    state_->impair_out.clear();
    state_->queue.clear();
    state_->publish_bytes();
  }
}

Time Port::deadline() const {
  return std::min(
      {state_->impair_in.deadline(), state_->impair_out.deadline(), state_->queue.deadline()});
}

void Port::reconfigure(const PortConfig& config) {
  state_->impair_in.configure(config.impair_in);
  state_->impair_out.configure(config.impair_out);
  state_->queue.configure(config.queue);
  state_->publish_capacity(config);
}

void Port::clear() {
  state_->impair_in.clear();
  state_->impair_out.clear();
  state_->queue.clear();
  state_->publish_bytes();
}

PortCounters Port::counters() const {
  auto counters = state_->counters;
  counters.queue_tail_dropped = state_->queue.tail_dropped();
  counters.queue_ecn_marked = state_->queue.ecn_marked();
  for (const auto* impairment : {&state_->impair_in, &state_->impair_out}) {
    const auto& from = impairment->counters();
    counters.impaired_lost += from.lost;
    counters.impaired_duplicated += from.duplicated;
    counters.impaired_reordered += from.reordered;
    counters.impaired_corrupted += from.corrupted;
    counters.impaired_delayed += from.delayed;
  }
  return counters;
}

std::size_t Port::queue_packets() const {
  return state_->queue.packets();
}
std::uint64_t Port::queue_bytes() const {
  return state_->queue.bytes();
}

}  // namespace tributary::switching
