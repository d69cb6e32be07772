// SPDX-License-Identifier: BSD-3-Clause
#include "host/canary_leader.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace tributary::host {
namespace {

// f32 accumulators of 16-bit elements take twice the payload's room.
constexpr std::size_t accumulator_growth = 2;

}  // namespace

CanaryLeader::CanaryLeader(const Job& job)
    : job_(job),
      slots_(Progress(job.window).span() / job.world_size() + 2),
      accumulator_stride_(job.payload_bytes * accumulator_growth),
      accumulators_(slots_.size() * accumulator_stride_) {
  answering_.reserve(slots_.size());
}

void CanaryLeader::begin(const Blocks& blocks) {
  for (auto& slot : slots_) {
    slot.state = State::free;
  }
  answering_.clear();
  failure_.reset();
  kernel_ = &reduce::kernel(blocks.type(), blocks.op());
}

Verdict CanaryLeader::take(const wire::CanaryHeader& header, wire::Bytes payload,
                           std::uint32_t block, const Blocks& blocks) {
  auto& slot = slots_[slot_index(block)];
  if (slot.state != State::free && slot.block != block) {
    return Verdict::early;  // no honest peer is that far ahead
  }
  if (slot.state == State::answering) {
    return Verdict::duplicate;
  }
  if (!agrees(header, job_, blocks, block)) {
    return Verdict::mismatch;
  }
  if (slot.state == State::free) {
    slot.state = State::collecting;
    slot.block = block;
    slot.contributions = 0;
    slot.fingerprint = 0;
    slot.replies.clear();
    slot.sent = 0;
  }
  add(slot, header, payload);
  if (slot.contributions >= job_.world_size() - 1) {
    finish(slot, blocks);
  }
  return Verdict::taken;
}

void CanaryLeader::add(Slot& slot, const wire::CanaryHeader& header, wire::Bytes payload) {
  const bool first = slot.contributions == 0;
  const auto apply = first ? kernel_->load : kernel_->accumulate;
  apply(accumulator(slot.block), payload.data(), header.elements.value());
  slot.contributions += header.counter.value();
  slot.fingerprint += header.fingerprint.value();
  slot.replies.push_back(reply_to(header));
}

CanaryLeader::Reply CanaryLeader::reply_to(const wire::CanaryHeader& header) {
  Reply reply;
  reply.child_address = header.child_address;
  reply.child_port = header.child_port;
  if (!header.bypass()) {
    reply.destination = header.child_address;
    reply.port = header.child_port;
    return reply;
  }
  reply.kind = wire::CanaryKind::restoration;
  reply.destination = header.switch_ipv4;
  reply.port = wire::canary_udp_port_first;  // a switch takes any port of the range
  reply.shard = header.shard;
  reply.children = header.children;
  reply.switch_address = header.switch_address;
  reply.child_mac = header.child_mac;
  return reply;
}

// Each of the other ranks must be in the sum exactly once; a counter alone would not notice one
// packet that came twice and another that was lost.
bool CanaryLeader::is_complete(const Slot& slot, const Blocks& blocks) {
  const auto expected_count = job_.world_size() - 1;
  if (slot.contributions != expected_count) {
    reject(slot.block, std::to_string(slot.contributions) + " contributions of " +
                           std::to_string(expected_count) + " ranks");
    return false;
  }
  std::uint64_t expected = 0;
  for (std::uint32_t rank = 0; rank < job_.world_size(); ++rank) {
    if (rank != job_.rank) {
      expected += contribution_tag(job_.key, blocks.id(slot.block), 0, rank);
    }
  }
  if (slot.fingerprint != expected) {
    reject(slot.block, "fingerprint of the contributions is wrong");
    return false;
  }
  return true;
}

void CanaryLeader::reject(std::uint32_t block, const std::string& reason) {
  failure_ = Error{Error::Code::mismatch,
                   "block " + std::to_string(block) + " (led by rank " + std::to_string(job_.rank) +
                       "): " + reason + "; a contribution was duplicated, or a foreign one added"};
}

void CanaryLeader::finish(Slot& slot, const Blocks& blocks) {
  if (!is_complete(slot, blocks)) {
    return;
  }
  const auto elements = blocks.elements(slot.block);
  auto* sum = accumulator(slot.block);
  kernel_->accumulate(sum, blocks.in(slot.block).data(), elements);
  kernel_->store(blocks.out(slot.block).data(), sum, elements);

  const auto bytes_less = [](const Reply& a, const Reply& b) {
    return std::memcmp(&a, &b, sizeof(Reply)) < 0;
  };
  const auto bytes_equal = [](const Reply& a, const Reply& b) {
    return std::memcmp(&a, &b, sizeof(Reply)) == 0;
  };
  auto& replies = slot.replies;
  std::sort(replies.begin(), replies.end(), bytes_less);
  replies.erase(std::unique(replies.begin(), replies.end(), bytes_equal), replies.end());
  slot.state = State::answering;
  answering_.push_back(slot.block);
}

Datagram CanaryLeader::answer(const Slot& slot, const Reply& reply, const Blocks& blocks) const {
  Datagram datagram{Endpoint{reply.destination, reply.port.value()},
                    header_of(job_, blocks, slot.block), blocks.out(slot.block)};
  auto& header = datagram.header;
  header.destination = reply.destination;
  header.counter = header.hosts;
  header.kind = reply.kind;
  header.flags |= wire::CanaryHeader::multicast_bit;
  header.fingerprint =
      slot.fingerprint + contribution_tag(job_.key, header.id.value(), header.attempt, job_.rank);
  if (reply.kind == wire::CanaryKind::restoration) {
    header.child_address = reply.child_address;
    header.child_port = reply.child_port;
    header.children = reply.children;
    header.shard = reply.shard;
    header.switch_address = reply.switch_address;
    header.switch_ipv4 = reply.destination;
    header.child_mac = reply.child_mac;
  }
  seal(header, datagram.payload);
  return datagram;
}

void CanaryLeader::poll(const Blocks& blocks, Progress& progress, Outbox& outbox) {
  std::size_t answered = 0;
  for (const auto block : answering_) {
    auto& slot = slots_[slot_index(block)];
    for (; slot.sent < slot.replies.size() && !outbox.full(); ++slot.sent) {
      outbox.push(answer(slot, slot.replies[slot.sent], blocks));
    }
    if (slot.sent < slot.replies.size()) {
      break;
    }
    slot.state = State::free;
    progress.complete(block);
    ++answered;
  }
  answering_.erase(answering_.begin(), answering_.begin() + static_cast<std::ptrdiff_t>(answered));
}

std::uint32_t CanaryLeader::contributions(std::uint32_t block) const {
  const auto& slot = slots_[slot_index(block)];
  return slot.state == State::collecting && slot.block == block ? slot.contributions : 0;
}

}  // namespace tributary::host
