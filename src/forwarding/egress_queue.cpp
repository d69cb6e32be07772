// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/egress_queue.h"

#include <algorithm>
#include <utility>

#include "forwarding/occupancy.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::forwarding {
namespace {

constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;
// Longer frames need no look into their headers.
constexpr std::uint32_t network_control_bytes_max = 128;
constexpr std::uint8_t network_control = 48;  // DSCP: class selector 6

}  // namespace

std::uint64_t line_bytes(std::uint64_t frame_bytes) {
  return std::max<std::uint64_t>(frame_bytes, wire::ethernet_min_frame_bytes) +
         wire::ethernet_line_overhead_bytes;
}

bool mark_congestion(Packet& frame) {
  wire::MutableCursor cursor(frame.bytes());
  const auto* ethernet = cursor.take<wire::EthernetHeader>();
  if (ethernet == nullptr || ethernet->type.value() != wire::ethertype::ipv4) {
    return false;
  }
  auto* ip = cursor.take<wire::Ipv4Header>();
  if (ip == nullptr || ip->version() != 4 || (ip->tos & wire::ecn::mask) == wire::ecn::not_ect) {
    return false;
  }
  const auto first_word = [ip] {
    return static_cast<std::uint16_t>((ip->version_ihl << 8) | ip->tos);
  };
  const auto before = first_word();
  ip->tos = static_cast<std::uint8_t>(ip->tos | wire::ecn::ce);
  ip->checksum = wire::update_checksum(ip->checksum.value(), before, first_word());
  return true;
}

void EgressQueue::configure(const QueueConfig& config) {
  config_ = config;
  remainder_ = 0;
  count_buffers();
  if (config_.rate_bps > 0) {
    constexpr std::uint64_t two_frames_bits =
        std::uint64_t{2 * 8} * (1514 + wire::ethernet_line_overhead_bytes);
    const auto two_frames = two_frames_bits * nanoseconds_per_second / config_.rate_bps;
    allowance_ = std::max<Duration>(std::chrono::milliseconds(1),
                                    Duration(static_cast<Duration::rep>(two_frames)));
  }
}

// Neighbours that obey are silent long before small frames take all buffers: only what is then on
// its way has to find room, and comes by a line.
void EgressQueue::count_buffers() {
  const std::uint64_t least =
      gate_ != nullptr ? line_bytes(wire::ethernet_min_frame_bytes) : buffer_bytes_min;
  buffers_max_ = std::max<std::uint64_t>(config_.capacity_bytes / least, 64);
  buffer_share_ = config_.capacity_bytes / buffers_max_;
}

PacketList EgressQueue::take_all() {
  if (gate_ == nullptr) {
    return std::move(waiting_);
  }
  PacketList all;
  gate_->open();
  while (auto frame = gate_->next(waiting_)) {
    all.push(std::move(frame));
  }
  return all;
}

void EgressQueue::guard(std::span<PortBuffer> buffers, PortIndex port, const FlowPlan& plan) {
  waiting_ = take_all();
  gate_ = plan.active() ? std::make_unique<FlowGate>(buffers, port, plan) : nullptr;
  count_buffers();
  for (const auto* frame = waiting_.front(); gate_ && frame != nullptr; frame = frame->next) {
    gate_->charge(*frame);
  }
}

bool EgressQueue::is_network_control(const Packet& frame) {
  if (frame.length > network_control_bytes_max) {
    return false;
  }
  wire::Cursor cursor(frame.bytes());
  const auto* ethernet = cursor.take<wire::EthernetHeader>();
  if (ethernet != nullptr && ethernet->type.value() == wire::ethertype::mac_control) {
    return true;
  }
  const auto* ip = cursor.take<wire::Ipv4Header>();
  return ip != nullptr && ethernet->type.value() == wire::ethertype::ipv4 &&
         ip->tos >> 2 == network_control;
}

std::uint64_t EgressQueue::passing_bytes(const PacketList& run, std::size_t max) const {
  if (gate_ != nullptr || config_.rate_bps > 0 || !waiting_.empty()) {
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

void EgressQueue::put_first(PacketPtr packet, Time now) {
  bytes_ += packet->length;
  packet->queued_at = now;
  if (gate_ != nullptr) {
    gate_->put_urgent(std::move(packet));
  } else {
    waiting_.push_front(std::move(packet));
  }
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

void EgressQueue::occupy_line(const Packet& frame, Time ready) {
  const auto scaled = line_bytes(frame.frame_bytes()) * 8 * nanoseconds_per_second + remainder_;
  remainder_ = scaled % config_.rate_bps;
  line_free_ =
      std::max(line_free_, ready) + Duration(static_cast<Duration::rep>(scaled / config_.rate_bps));
}

void EgressQueue::dequeue_shaped(Time now, PacketList& out, std::size_t max) {
  for (std::size_t i = 0; i < max && !waiting_.empty(); ++i) {
    if (line_free_ - allowance_ > now) {
      return;
    }
    occupy_line(*waiting_.front(), waiting_.front()->queued_at);
    bytes_ -= waiting_.front()->frame_bytes();
    out.push(waiting_.pop());
  }
}

// A line does not pause because nobody looks; but the neighbour may have asked for silence
// meanwhile.
void EgressQueue::dequeue_guarded(Time now, PacketList& out, std::size_t max) {
  gate_->look(now, pauses_);
  const auto known = std::min(now, heard_ + unheard_max);
  for (std::size_t i = 0; i < max && line_opens() <= known; ++i) {
    auto frame = gate_->next(waiting_);
    if (!frame) {
      return;
    }
    if (config_.rate_bps > 0) {
      occupy_line(*frame, std::max(frame->queued_at, gate_->opened()));
    }
    bytes_ -= frame->frame_bytes();
    out.push(std::move(frame));
  }
}

void EgressQueue::watch(Time now) {
  if (gate_ == nullptr) {
    return;
  }
  gate_->look(now, pauses_);
  auto dropped = gate_->overdue(now, waiting_);
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
