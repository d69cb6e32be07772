// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/class_queues.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "forwarding/codepoint.h"
#include "forwarding/congestion_mark.h"
#include "forwarding/traffic_class.h"
#include "wire/ethernet.h"

namespace tributary::forwarding {
namespace {

// This is what a byte costs a class of weight 1. The quotients for other weights are exact to one
// part in a million, and the cost of any frame fits 64 bits.
constexpr std::uint64_t byte_cost = std::uint64_t{1} << 30;

}  // namespace

ClassCounters& ClassCounters::operator+=(const ClassCounters& other) {
  for (const auto& figure : class_figures) {
    this->*figure.member += other.*figure.member;
  }
  return *this;
}

// Neighbours that obey are silent long before small frames of lossless classes take all buffers.
// Only what is then on its way has to find room, and it comes by a line, with the line's overhead.
ClassQueues::ClassQueues(std::span<const TrafficClass> classes, std::uint32_t capacity_bytes,
                         FlowGate* gate)
    : class_of_(class_by_marking(classes)), gate_(gate) {
  for (const auto& one : classes) {
    auto& queue = queues_.emplace_back(Queue{one});
    queue.config.capacity_bytes = class_capacity(one, classes, capacity_bytes);
    queue.packets_max = std::max<std::uint64_t>(queue.config.capacity_bytes / buffer_bytes_min, 64);
    queue.buffer_share = queue.config.capacity_bytes / queue.packets_max;
    queue.shaper.configure(queue.config.rate_bps);
    queue.per_byte = byte_cost / one.weight;
  }
  lossless_.capacity_bytes = lossless_capacity(classes, capacity_bytes);
  lossless_.packets_max = std::max<std::uint64_t>(
      lossless_.capacity_bytes / line_bytes(wire::ethernet_min_frame_bytes), 64);
}

bool ClassQueues::Queue::wants_mark() {
  const std::uint64_t threshold = config.ecn_threshold_packets;
  if (threshold == 0 || waiting.size() <= threshold) {
    return false;
  }
  const auto above = waiting.size() - threshold;
  if (above >= config.ecn_ramp_packets) {
    return true;
  }
  mark_debt += above;
  const bool is_due = mark_debt >= config.ecn_ramp_packets;
  mark_debt -= is_due ? config.ecn_ramp_packets : 0;
  return is_due;
}

bool ClassQueues::has_room(const Queue& queue, const Packet& packet) const {
  const auto bytes = packet.frame_bytes();
  if (is_lossless(queue)) {
    return lossless_.bytes + bytes <= lossless_.capacity_bytes &&
           lossless_.packets < lossless_.packets_max && gate_->admits(packet);
  }
  return queue.bytes + bytes <= queue.config.capacity_bytes &&
         queue.waiting.size() < queue.packets_max;
}

ClassQueues::Verdict ClassQueues::enqueue(PacketPtr packet, Time now) {
  auto& queue = queues_[class_of_[marking_of(*packet)]];
  if (!has_room(queue, *packet)) {
    ++queue.counters.tail_dropped;
    return Verdict::dropped;
  }
  const bool marked = queue.wants_mark() && mark_congestion(*packet);
  queue.counters.ecn_marked += marked ? 1 : 0;
  packet->queued_at = now;
  put(queue, std::move(packet));
  return marked ? Verdict::marked : Verdict::taken;
}

void ClassQueues::put_back(PacketPtr packet) {
  auto& queue = queues_[class_of_[marking_of(*packet)]];
  put(queue, std::move(packet));
}

void ClassQueues::put(Queue& queue, PacketPtr packet) {
  const auto bytes = packet->frame_bytes();
  if (is_lossless(queue)) {
    gate_->charge(*packet);
    lossless_.bytes += bytes;
    ++lossless_.packets;
  }
  queue.bytes += bytes;
  ++packets_;
  queue.waiting.push(std::move(packet));
}

PacketPtr ClassQueues::take(Queue& queue) {
  auto packet = queue.waiting.pop();
  const auto bytes = packet->frame_bytes();
  if (is_lossless(queue)) {
    gate_->discharge(*packet);
    lossless_.bytes -= bytes;
    --lossless_.packets;
  }
  queue.bytes -= bytes;
  --packets_;
  return packet;
}

PacketPtr ClassQueues::take_to_send(Queue& queue) {
  auto packet = take(queue);
  const auto bytes = packet->frame_bytes();
  queue.counters.tx_packets += 1;
  queue.counters.tx_bytes += bytes;
  if (queue.shaper.on()) {
    // What the neighbour had stopped did not keep the line busy.
    const auto opened = gate_ != nullptr ? gate_->opened() : Time{};
    const auto since = std::max(packet->queued_at, opened);
    packet->queued_at = std::max(since, queue.shaper.opens());
    queue.shaper.occupy(bytes, since);
  }
  return packet;
}

PacketPtr ClassQueues::next(Time now) {
  if (packets_ == 0) {
    return nullptr;
  }
  auto packet = next_strict(now);
  return packet ? std::move(packet) : next_by_weight(now);
}

PacketPtr ClassQueues::next_strict(Time now) {
  const auto found = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& queue) {
    return queue.config.strict && may_go(queue, now);
  });
  return found == queues_.end() ? nullptr : take_to_send(*found);
}

void ClassQueues::pass(std::uint64_t cost) {
  for (auto& queue : queues_) {
    queue.ahead -= std::min(queue.ahead, cost);
  }
}

// It is the turn of the class that is least ahead. Nobody is behind that one: a class with nothing
// to send saves nothing for later, so that it cannot send a burst when it comes back.
PacketPtr ClassQueues::next_by_weight(Time now) {
  Queue* chosen = nullptr;
  for (auto& queue : queues_) {
    if (!queue.config.strict && may_go(queue, now) &&
        (chosen == nullptr || queue.ahead < chosen->ahead)) {
      chosen = &queue;
    }
  }
  if (chosen == nullptr) {
    return nullptr;
  }
  pass(chosen->ahead);
  chosen->ahead = line_bytes(chosen->waiting.front()->frame_bytes()) * chosen->per_byte;
  auto packet = take_to_send(*chosen);
  if (packets_ == 0) {  // what was sent while nobody waited took nothing from anybody
    pass(std::numeric_limits<std::uint64_t>::max());
  }
  return packet;
}

Time ClassQueues::deadline() const {
  auto earliest = never;
  for (const auto& queue : queues_) {
    if (!queue.waiting.empty()) {
      earliest = std::min(earliest, is_stopped(queue) ? gate_->stop_ends() : queue.shaper.opens());
    }
  }
  return earliest;
}

PacketList ClassQueues::take_all() {
  PacketList all;
  for (auto& queue : queues_) {
    while (!queue.waiting.empty()) {
      all.push(take(queue));
    }
  }
  return all;
}

PacketList ClassQueues::overdue(Time now) {
  PacketList late;
  const auto priorities = gate_->late_priorities(now);
  for (auto& queue : queues_) {
    while (FlowGate::is_among(priorities, queue.priority()) && !queue.waiting.empty()) {
      late.push(take(queue));
      ++queue.counters.pause_dropped;
    }
  }
  return late;
}

void ClassQueues::inherit(const ClassQueues& other) {
  for (auto& queue : queues_) {
    const auto same =
        std::find_if(other.queues_.begin(), other.queues_.end(),
                     [&](const Queue& before) { return before.config.name == queue.config.name; });
    if (same != other.queues_.end()) {
      queue.counters = same->counters;
      const auto ramp = queue.config.ecn_ramp_packets;
      queue.mark_debt = ramp == 0 ? 0 : same->mark_debt % ramp;
      queue.shaper = same->shaper;
      queue.shaper.configure(queue.config.rate_bps);
    }
  }
}

void ClassQueues::publish(QueueGauge& gauge) const {
  for (std::size_t traffic_class = 0; traffic_class < queues_.size(); ++traffic_class) {
    const auto& queue = queues_[traffic_class];
    gauge.publish_bytes(std::max(queue.bytes, queue.waiting.size() * queue.buffer_share),
                        traffic_class);
  }
}

std::vector<ClassRow> ClassQueues::rows() const {
  std::vector<ClassRow> rows;
  for (const auto& queue : queues_) {
    rows.push_back({queue.config.name, queue.waiting.size(), queue.bytes, queue.counters});
  }
  return rows;
}

}  // namespace tributary::forwarding
