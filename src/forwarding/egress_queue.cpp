// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/egress_queue.h"

#include <algorithm>
#include <utility>

#include "forwarding/codepoint.h"
#include "wire/ethernet.h"
#include "wire/vlan.h"

namespace tributary::forwarding {
namespace {

// No packet of network control is longer, so longer frames need no look into their headers.
constexpr std::uint32_t network_control_bytes_max = 128;
constexpr std::uint8_t network_control = 48;  // DSCP: class selector 6

}  // namespace

void EgressQueue::configure(const QueueConfig& config) {
  auto frames = take_all();
  config_ = config;
  shaper_.configure(config.rate_bps);
  put_back(std::move(frames));
}

void EgressQueue::guard(std::span<PortBuffer> buffers, PortIndex port, const FlowPlan& plan) {
  auto frames = take_all();
  const auto before = std::move(gate_);
  gate_ = plan.active() ? std::make_unique<FlowGate>(buffers, port, plan) : nullptr;
  if (gate_ != nullptr && before != nullptr) {
    gate_->inherit(*before);
  }
  put_back(std::move(frames));
}

// What waits is in one queue, or in those of the classes that there are now. Urgent frames are in
// none of the classes.
void EgressQueue::put_back(PacketList frames) {
  count_buffers();
  const auto before = std::move(classes_);
  if (!config_.classes.empty()) {
    classes_ = std::make_unique<ClassQueues>(config_.classes, config_.capacity_bytes, gate_.get());
    if (before != nullptr) {
      classes_->inherit(*before);
    }
  }
  is_plain_ = gate_ == nullptr && classes_ == nullptr;
  while (auto frame = frames.pop()) {
    put_back(std::move(frame));
  }
}

// The frame waited before, and is counted in `bytes_`. It has been let in, and marked if it was to
// be.
void EgressQueue::put_back(PacketPtr frame) {
  if (classes_ != nullptr && !is_urgent(*frame)) {
    classes_->put_back(std::move(frame));
  } else if (classes_ == nullptr && gate_ != nullptr && is_urgent(*frame)) {
    gate_->put_urgent(std::move(frame));
  } else {
    if (classes_ == nullptr && gate_ != nullptr) {
      gate_->charge(*frame);
    }
    waiting_.push(std::move(frame));
  }
}

// Neighbours that obey are silent long before small frames take all buffers. Only what is then on
// its way has to find room, and it comes by a line, with the line's overhead.
void EgressQueue::count_buffers() {
  const std::uint64_t least =
      gate_ != nullptr ? line_bytes(wire::ethernet_min_frame_bytes) : buffer_bytes_min;
  buffers_max_ = std::max<std::uint64_t>(config_.capacity_bytes / least, 64);
  buffer_share_ = config_.capacity_bytes / buffers_max_;
}

PacketList EgressQueue::take_all() {
  if (gate_ != nullptr && classes_ == nullptr) {
    return gate_->take_all(waiting_);
  }
  auto all = std::move(waiting_);
  if (classes_ != nullptr) {
    all.append(classes_->take_all());
  }
  return all;
}

bool EgressQueue::is_network_control(const Packet& frame) {
  if (frame.length > network_control_bytes_max) {
    return false;
  }
  wire::Cursor cursor(frame.bytes());
  return wire::take_link_headers(cursor) == wire::ethertype::mac_control ||
         codepoint_of(frame) == network_control;
}

std::uint64_t EgressQueue::passing_bytes(const PacketList& run, std::size_t max) const {
  if (!is_plain_ || shaper_.on() || !waiting_.empty()) {
    return 0;
  }
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  for (const auto* frame = run.front(); frame != nullptr && count < max; frame = frame->next) {
    if (is_urgent(*frame)) {
      return 0;
    }
    bytes += frame->frame_bytes();
    ++count;
  }
  const bool marks =
      config_.ecn_threshold_packets > 0 && count > config_.ecn_threshold_packets + std::size_t{1};
  return marks || count > buffers_max_ || bytes > config_.capacity_bytes ? 0 : bytes;
}

// Urgent frames go before all others, but not before each other: a BFD session that is told of an
// older state behind a newer one would take it for a failure.
void EgressQueue::put_first(PacketPtr packet, Time now) {
  bytes_ += packet->frame_bytes();
  packet->queued_at = now;
  if (gate_ != nullptr && classes_ == nullptr) {
    gate_->put_urgent(std::move(packet));
    return;
  }
  PacketList first;
  while (!waiting_.empty() && is_urgent(*waiting_.front())) {
    first.push(waiting_.pop());
  }
  first.push(std::move(packet));
  first.append(std::move(waiting_));
  waiting_ = std::move(first);
}

void EgressQueue::enqueue_classed(PacketPtr packet, Time now) {
  const auto bytes = packet->frame_bytes();
  const auto verdict = classes_->enqueue(std::move(packet), now);
  tail_dropped_ += verdict == ClassQueues::Verdict::dropped ? 1 : 0;
  ecn_marked_ += verdict == ClassQueues::Verdict::marked ? 1 : 0;
  bytes_ += verdict == ClassQueues::Verdict::dropped ? 0 : bytes;
}

void EgressQueue::enqueue_guarded(PacketPtr packet, Time now) {
  const auto frame_bytes = packet->frame_bytes();
  if (bytes_ + frame_bytes > config_.capacity_bytes || packets() >= buffers_max_ ||
      !gate_->admits(*packet)) {
    ++tail_dropped_;
    return;
  }
  if (config_.ecn_threshold_packets > 0 && packets() > config_.ecn_threshold_packets) {
    mark(*packet);
  }
  bytes_ += frame_bytes;
  packet->queued_at = now;
  gate_->charge(*packet);
  waiting_.push(std::move(packet));
}

void EgressQueue::mark(Packet& packet) {
  ecn_marked_ += mark_congestion(packet) ? 1 : 0;
}

void EgressQueue::dequeue_shaped(Time now, PacketList& out, std::size_t max) {
  for (std::size_t i = 0; i < max && !waiting_.empty(); ++i) {
    if (shaper_.opens() > now) {
      return;
    }
    const auto& frame = *waiting_.front();
    shaper_.occupy(frame.frame_bytes(), frame.queued_at);
    bytes_ -= frame.frame_bytes();
    out.push(waiting_.pop());
  }
}

void EgressQueue::dequeue_in_turn(Time now, PacketList& out, std::size_t max) {
  const auto known = look(now);
  for (std::size_t i = 0; i < max && shaper_.opens() <= (has_urgent() ? now : known); ++i) {
    auto frame = next(known);
    if (!frame) {
      return;
    }
    if (shaper_.on()) {
      const auto opened = gate_ != nullptr ? gate_->opened() : Time{};
      shaper_.occupy(frame->frame_bytes(), std::max(frame->queued_at, opened));
    }
    bytes_ -= frame->frame_bytes();
    out.push(std::move(frame));
  }
}

// Takes note of what the neighbour wants, and returns until when that is known: a line does not
// pause because nobody looks, but the neighbour may have asked for silence meanwhile.
Time EgressQueue::look(Time now) {
  if (gate_ == nullptr) {
    return now;
  }
  gate_->look(now, pauses_);
  return std::min(now, heard_ + unheard_max);
}

// What keeps the network running is not stopped, whatever the neighbour asked for.
bool EgressQueue::has_urgent() const {
  return classes_ != nullptr ? !waiting_.empty() : gate_ != nullptr && gate_->has_urgent();
}

PacketPtr EgressQueue::next(Time now) {
  if (classes_ == nullptr) {
    return gate_->next(waiting_);
  }
  return waiting_.empty() ? classes_->next(now) : waiting_.pop();
}

void EgressQueue::watch(Time now) {
  if (gate_ == nullptr) {
    return;
  }
  gate_->look(now, pauses_);
  auto dropped = classes_ != nullptr ? classes_->overdue(now) : gate_->overdue(now, waiting_);
  pauses_.dropped += dropped.size();
  while (const auto frame = dropped.pop()) {
    bytes_ -= frame->frame_bytes();
  }
}

void EgressQueue::clear() {
  take_all().clear();
  bytes_ = 0;
}

}  // namespace tributary::forwarding
