// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/class_queues.h"

#include <algorithm>
#include <utility>

#include "forwarding/codepoint.h"
#include "forwarding/congestion_mark.h"
#include "forwarding/occupancy.h"

namespace tributary::forwarding {
namespace {

// In each round a unit of weight is worth this: a frame of the usual size fits.
constexpr std::uint64_t quantum = line_bytes(1514);

// Returns what each class without a configured part gets of the queue.
std::uint32_t even_part(std::span<const TrafficClass> classes, std::uint32_t capacity_bytes) {
  std::uint64_t said = 0;
  std::uint32_t silent = 0;
  for (const auto& one : classes) {
    said += one.capacity_bytes;
    silent += one.capacity_bytes == 0 ? 1 : 0;
  }
  const auto left = capacity_bytes - std::min<std::uint64_t>(said, capacity_bytes);
  return silent == 0 ? 0 : static_cast<std::uint32_t>(left / silent);
}

}  // namespace

std::uint32_t class_capacity(const TrafficClass& one, std::span<const TrafficClass> classes,
                             std::uint32_t capacity_bytes) {
  return one.capacity_bytes != 0 ? one.capacity_bytes : even_part(classes, capacity_bytes);
}

ClassCounters& ClassCounters::operator+=(const ClassCounters& other) {
  for (const auto& figure : class_figures) {
    this->*figure.member += other.*figure.member;
  }
  return *this;
}

ClassQueues::ClassQueues(std::span<const TrafficClass> classes, std::uint32_t capacity_bytes)
    : capacity_bytes_(capacity_bytes) {
  for (std::size_t i = 0; i < classes.size(); ++i) {
    auto& queue = queues_.emplace_back(Queue{classes[i]});
    queue.config.capacity_bytes = class_capacity(classes[i], classes, capacity_bytes);
    queue.packets_max = std::max<std::uint64_t>(queue.config.capacity_bytes / buffer_bytes_min, 64);
    queue.shaper.configure(queue.config.rate_bps);
    if (queue.config.codepoints.empty()) {
      class_of_.fill(static_cast<std::uint8_t>(i));
    }
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    for (const auto codepoint : classes[i].codepoints) {
      class_of_[codepoint.value] = static_cast<std::uint8_t>(i);
    }
  }
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

ClassQueues::Verdict ClassQueues::enqueue(PacketPtr packet, Time now) {
  auto& queue = queues_[class_of_[codepoint_of(*packet)]];
  const auto bytes = packet->frame_bytes();
  if (queue.bytes + bytes > queue.config.capacity_bytes ||
      queue.waiting.size() >= queue.packets_max) {
    ++queue.counters.tail_dropped;
    return Verdict::dropped;
  }
  const bool marked = queue.wants_mark() && mark_congestion(*packet);
  queue.counters.ecn_marked += marked ? 1 : 0;
  queue.bytes += bytes;
  packet->queued_at = now;
  queue.waiting.push(std::move(packet));
  ++packets_;
  return marked ? Verdict::marked : Verdict::taken;
}

PacketPtr ClassQueues::take(Queue& queue) {
  auto packet = queue.waiting.pop();
  const auto bytes = packet->frame_bytes();
  queue.bytes -= bytes;
  --packets_;
  queue.counters.tx_packets += 1;
  queue.counters.tx_bytes += bytes;
  if (queue.shaper.on()) {
    const auto ready = std::max(packet->queued_at, queue.shaper.opens());
    queue.shaper.occupy(bytes, packet->queued_at);
    packet->queued_at = ready;
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
    return queue.config.strict && queue.may_go(now);
  });
  return found == queues_.end() ? nullptr : take(*found);
}

void ClassQueues::advance() {
  turn_ = (turn_ + 1) % queues_.size();
  granted_ = false;
}

PacketPtr ClassQueues::next_by_weight(Time now) {
  const auto takes_part = [&](const Queue& queue) {
    return !queue.config.strict && queue.may_go(now);
  };
  if (std::none_of(queues_.begin(), queues_.end(), takes_part)) {
    return nullptr;
  }
  for (;;) {
    auto& queue = queues_[turn_];
    if (!takes_part(queue)) {
      queue.deficit = 0;  // a class with nothing to send saves nothing for later
      advance();
      continue;
    }
    if (!granted_) {
      queue.deficit += quantum * queue.config.weight;
      granted_ = true;
    }
    if (const auto cost = line_bytes(queue.waiting.front()->frame_bytes()); cost <= queue.deficit) {
      queue.deficit -= cost;
      return take(queue);
    }
    advance();
  }
}

Time ClassQueues::deadline() const {
  auto earliest = never;
  for (const auto& queue : queues_) {
    if (!queue.waiting.empty()) {
      earliest = std::min(earliest, queue.shaper.opens());
    }
  }
  return earliest;
}

PacketList ClassQueues::take_all() {
  PacketList all;
  for (auto& queue : queues_) {
    all.append(std::move(queue.waiting));
    queue.bytes = 0;
  }
  packets_ = 0;
  return all;
}

void ClassQueues::inherit(const ClassQueues& other) {
  for (auto& queue : queues_) {
    const auto same =
        std::find_if(other.queues_.begin(), other.queues_.end(),
                     [&](const Queue& before) { return before.config.name == queue.config.name; });
    if (same != other.queues_.end()) {
      queue.counters = same->counters;
    }
  }
}

std::uint64_t ClassQueues::occupied_bytes() const {
  std::uint64_t most = 0;
  for (const auto& queue : queues_) {
    const auto taken = std::max(
        queue.bytes, queue.waiting.size() * queue.config.capacity_bytes / queue.packets_max);
    most = std::max(most, queue.config.capacity_bytes == 0
                              ? std::uint64_t{0}
                              : taken * capacity_bytes_ / queue.config.capacity_bytes);
  }
  return most;
}

std::vector<ClassRow> ClassQueues::rows() const {
  std::vector<ClassRow> rows;
  for (const auto& queue : queues_) {
    rows.push_back({queue.config.name, queue.waiting.size(), queue.bytes, queue.counters});
  }
  return rows;
}

}  // namespace tributary::forwarding
