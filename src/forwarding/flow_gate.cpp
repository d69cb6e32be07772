// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/flow_gate.h"

#include <algorithm>
#include <numeric>

#include "forwarding/occupancy.h"

namespace tributary::forwarding {
namespace {

// A small frame is charged as a whole buffer, because it takes one.
std::uint64_t charge_of(const Packet& frame) {
  return std::max(frame.frame_bytes(), buffer_bytes_min);
}

}  // namespace

FlowGate::FlowGate(std::span<PortBuffer> buffers, PortIndex port, const FlowPlan& plan)
    : buffers_(buffers),
      port_(port),
      guarded_(plan.ports.size()),
      priorities_(plan.priorities),
      by_class_(plan.by_class),
      others_max_(plan.others_bytes) {
  for (std::size_t i = 0; i < guarded_.size(); ++i) {
    guarded_[i] = plan.guards(static_cast<PortIndex>(i)) ? plan.ports[i].classes : Priorities{0};
  }
}

bool FlowGate::admits(const Packet& frame) const {
  if (is_guarded(frame)) {
    return true;
  }
  const auto charge = charge_of(frame);
  const auto all = std::accumulate(others_.begin(), others_.end(), charge);
  return all <= others_max_ && (!by_class_ || others_[class_of(frame)] + charge <= others_max_ / 2);
}

void FlowGate::charge(const Packet& frame) {
  if (is_guarded(frame)) {
    buffers_[frame.ingress].charge(class_of(frame), charge_of(frame));
  } else {
    others_[class_of(frame)] += charge_of(frame);
  }
}

void FlowGate::discharge(const Packet& frame) {
  if (is_guarded(frame)) {
    buffers_[frame.ingress].discharge(class_of(frame), charge_of(frame));
  } else {
    others_[class_of(frame)] -= charge_of(frame);
  }
}

Time FlowGate::silent_until(std::size_t priority) const {
  const auto& own = buffers_[port_];
  if (priority != no_priority) {
    return own.silent(priority);
  }
  auto earliest = own.silent(0);
  for (std::size_t other = 1; other < wire::priority_classes; ++other) {
    earliest = std::min(earliest, own.silent(other));
  }
  return earliest;
}

void FlowGate::look(Time now, PauseCounters& counters) {
  PriorityBits stopped = 0;
  Time latest{};
  for (std::size_t priority = 0; priority <= no_priority; ++priority) {
    const auto until = silent_until(priority);
    const bool stop = until > now;
    stopped = static_cast<PriorityBits>(stopped | (stop ? 1u << priority : 0u));
    if (stops(priority)) {
      latest = std::max(latest, until);
      opened_ = stop ? opened_ : std::max(opened_, until);
    } else if (stop) {
      stopped_since_[priority] = now;
    }
  }
  if (stopped_ != 0) {
    counters.paused += std::max(looked_, std::min(now, latest)) - looked_;
  }
  stopped_ = stopped;
  looked_ = now;
}

void FlowGate::inherit(const FlowGate& before) {
  stopped_ = before.stopped_;
  stopped_since_ = before.stopped_since_;
  opened_ = before.opened_;
  looked_ = before.looked_;
}

PacketList FlowGate::take_all(PacketList& waiting) {
  const auto stopped = std::exchange(stopped_, PriorityBits{0});
  PacketList all;
  while (auto frame = next(waiting)) {
    all.push(std::move(frame));
  }
  stopped_ = stopped;
  return all;
}

std::size_t FlowGate::oldest_aside() const {
  std::size_t oldest = none;
  for (std::size_t priority = 0; aside_packets_ > 0 && priority < none; ++priority) {
    if (aside_[priority].empty() || stops(priority)) {
      continue;
    }
    if (oldest == none || aside_[priority].front()->queued_at < aside_[oldest].front()->queued_at) {
      oldest = priority;
    }
  }
  return oldest;
}

PacketPtr FlowGate::take_aside(std::size_t priority) {
  --aside_packets_;
  return aside_[priority].pop();
}

PacketPtr FlowGate::next(PacketList& waiting) {
  if (auto frame = urgent_.pop()) {
    return frame;
  }
  PacketPtr frame;
  if (const auto oldest = oldest_aside(); oldest != none) {
    frame = take_aside(oldest);
  } else if (!stops(no_priority)) {
    frame = waiting.pop();
  }
  while (frame && stopped_ != 0) {
    const auto behind = priority(*frame);
    if (!stops(behind)) {
      break;
    }
    aside_[behind].push(std::move(frame));
    ++aside_packets_;
    frame = waiting.pop();
  }
  if (frame) {
    discharge(*frame);
  }
  return frame;
}

FlowGate::PriorityBits FlowGate::late_priorities(Time now) {
  PriorityBits late = 0;
  for (std::size_t priority = 0; priority <= no_priority; ++priority) {
    if (stops(priority) && now - stopped_since_[priority] >= pause_watchdog) {
      late = static_cast<PriorityBits>(late | 1u << priority);
      stopped_since_[priority] = now;
    }
  }
  return late;
}

PacketList FlowGate::overdue(Time now, PacketList& waiting) {
  const auto late = late_priorities(now);
  PacketList dropped;
  if (late == 0) {
    return dropped;
  }
  PacketList kept;
  while (auto frame = waiting.pop()) {
    (is_among(late, priority(*frame)) ? dropped : kept).push(std::move(frame));
  }
  waiting = std::move(kept);
  for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
    while (is_among(late, priority) && !aside_[priority].empty()) {
      dropped.push(take_aside(priority));
    }
  }
  for (const auto* frame = dropped.front(); frame != nullptr; frame = frame->next) {
    discharge(*frame);
  }
  return dropped;
}

Time FlowGate::stop_ends() const {
  Time end = never;
  for (std::size_t priority = 0; priority <= no_priority; ++priority) {
    if (stops(priority)) {
      end = std::min({end, silent_until(priority), stopped_since_[priority] + pause_watchdog});
    }
  }
  return end;
}

Time FlowGate::deadline(const PacketList& waiting, Time line) const {
  const bool may_go =
      !urgent_.empty() || oldest_aside() != none || (!waiting.empty() && !stops(no_priority));
  if (may_go) {
    return line;
  }
  return waiting.empty() && aside_packets_ == 0 ? never : stop_ends();
}

}  // namespace tributary::forwarding
