// SPDX-License-Identifier: BSD-3-Clause
#include "host/netreduce/ring_flow.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace tributary::host {
namespace {

// Of a message whose chunk is shorter than the others: something has to be sent.
constexpr std::size_t filler_bytes = 8;

}  // namespace

RingFlow::RingFlow(Job job, const NetReducePlan& plan, Link& link)
    : job_(std::move(job)), plan_(plan), link_(link) {}

Result<void> RingFlow::begin(const Call& call) {
  assert(call.collective == Collective::allreduce);
  if (!broken_.empty()) {
    return fail(Error::Code::network, "make a new communicator: " + broken_);
  }
  if (call.buffers.count == 0) {
    return {};
  }
  call_ = call;
  kernel_ = &reduce::kernel(call.buffers.type, call.buffers.op);
  const auto world = job_.world_size();
  const auto element = wire::element_bytes(call.buffers.type);
  chunk_bytes_ = (call.buffers.count + world - 1) / world * element;
  messages_per_step_ = static_cast<std::uint32_t>((chunk_bytes_ + plan_.message_bytes() - 1) /
                                                  plan_.message_bytes());
  first_ = end_;
  end_ += 2 * (world - 1) * messages_per_step_;
  wide_.resize(kernel_->in_place ? 0
                                 : plan_.message_bytes() / element * kernel_->accumulator_bytes);
  auto early = std::exchange(early_, {});
  auto done = post_more();
  for (std::size_t i = 0; i < early.size() && done; ++i) {
    take(early[i]);
    done = post_more();
  }
  return done;
}

void RingFlow::abandon(const std::string& why) {
  if (running()) {
    broken_ = why;
    end_ = posted_ = received_;
  }
}

RingFlow::Piece RingFlow::piece_of(std::uint32_t message, std::uint32_t first_chunk) const {
  const auto world = job_.world_size();
  const auto chunk = (first_chunk + 2 * world - step_of(message)) % world;
  const auto within = std::size_t{(message - first_) % messages_per_step_} * plan_.message_bytes();
  const auto total = call_.buffers.bytes();
  const auto chunk_begin = std::min(chunk * chunk_bytes_, total);
  const auto chunk_end = std::min(chunk_begin + chunk_bytes_, total);
  const auto begin = std::min(chunk_begin + within, chunk_end);
  return {begin, std::min<std::size_t>(plan_.message_bytes(), chunk_end - begin)};
}

// What is sent in a step is what came in the step before.
Result<void> RingFlow::post_more() {
  while (posted_ < end_ && posted_ - acknowledged_ < plan_.slots() &&
         (step_of(posted_) == 0 || received_ + messages_per_step_ > posted_)) {
    const auto message = posted_++;
    const auto piece = piece_of(message, job_.rank);
    const auto slot = link_.send_slot(message % plan_.slots());
    const auto* const from =
        step_of(message) == 0 ? call_.buffers.in : static_cast<const std::byte*>(call_.buffers.out);
    std::memcpy(slot.data(), from + piece.offset, piece.bytes);
    if (auto posted =
            link_.post(message, static_cast<std::uint32_t>(std::max(piece.bytes, filler_bytes)));
        !posted) {
      return posted;
    }
  }
  return {};
}

Result<void> RingFlow::arrived(std::uint32_t message, std::uint32_t bytes) {
  const auto slot = link_.received_slot(message % plan_.slots()).first(bytes);
  if (!broken_.empty()) {
    return {};
  }
  if (received_ == end_) {
    early_.emplace_back(slot.begin(), slot.end());
    return {};
  }
  if (message != received_ ||
      bytes != std::max(piece_of(message, job_.rank + job_.world_size() - 1).bytes, filler_bytes)) {
    return fail(Error::Code::mismatch,
                "a message of the rank before has another length: do all "
                "ranks call the same collectives?");
  }
  take(slot);
  return post_more();
}

void RingFlow::take(wire::Bytes message) {
  const auto step = step_of(received_);
  const auto piece = piece_of(received_, job_.rank + job_.world_size() - 1);
  ++received_;
  auto* const out = call_.buffers.out + piece.offset;
  if (step + 1 < job_.world_size()) {
    add(call_.buffers.in + piece.offset, message.data(), out, piece.bytes);
  } else {
    std::memcpy(out, message.data(), piece.bytes);
  }
}

void RingFlow::add(const std::byte* mine, const std::byte* theirs, std::byte* sum,
                   std::size_t bytes) {
  const auto count = bytes / wire::element_bytes(call_.buffers.type);
  void* const accumulator = kernel_->in_place ? sum : wide_.data();
  kernel_->load(accumulator, mine, count);
  kernel_->accumulate(accumulator, theirs, count);
  if (!kernel_->in_place) {
    kernel_->store(sum, accumulator, count);
  }
}

Result<void> RingFlow::acknowledged(std::uint32_t messages) {
  acknowledged_ = messages;
  return post_more();
}

std::string RingFlow::diagnose() const {
  return "message " + std::to_string(received_ - first_) + " of " + std::to_string(end_ - first_) +
         " did not come from the rank before";
}

}  // namespace tributary::host
