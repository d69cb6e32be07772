// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/ring_flow.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

namespace tributary::host {
namespace {

// A message is at least that long even if its chunk is shorter: something has to be sent.
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
  const auto world = job_.world_size();
  const auto element = wire::element_bytes(call.buffers.type);
  const auto chunk_bytes = (call.buffers.count + world - 1) / world * element;
  const auto per_step = (chunk_bytes + plan_.message_bytes() - 1) / plan_.message_bytes();
  const auto messages = std::size_t{2} * (world - 1) * per_step;
  if (messages > std::numeric_limits<std::uint32_t>::max() - end_) {
    return fail(Error::Code::invalid_argument,
                "the connection has no numbers left for so many messages: make a new communicator, "
                "or messages longer (TRIBUTARY_NETREDUCE_MESSAGE)");
  }
  call_ = call;
  kernel_ = &reduce::kernel(call.buffers.type, call.buffers.op);
  chunk_bytes_ = chunk_bytes;
  messages_per_step_ = static_cast<std::uint32_t>(per_step);
  first_ = end_;
  end_ += static_cast<std::uint32_t>(messages);
  wide_.resize(kernel_->in_place ? 0
                                 : plan_.message_bytes() / element * kernel_->accumulator_bytes);
  return post_more().and_then([this] { return take_early(); });
}

// No rank ends a collective that another one has not begun, so all early messages are of this one.
Result<void> RingFlow::take_early() {
  const auto early = std::exchange(early_, {});
  Result<void> done;
  for (auto message = early.begin(); message != early.end() && done; ++message) {
    done = take_next(*message);
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

// From the second step on, what is sent is what came in the step before.
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
  if (!broken_.empty()) {
    return {};
  }
  if (message != received_ + early_.size() || bytes > plan_.message_bytes()) {
    return mismatch();
  }
  const auto slot = link_.received_slot(message % plan_.slots()).first(bytes);
  if (received_ == end_) {
    early_.emplace_back(slot.begin(), slot.end());
    return {};
  }
  return take_next(slot);
}

Result<void> RingFlow::take_next(wire::Bytes message) {
  if (!fits(message.size())) {
    return mismatch();
  }
  take(message);
  return post_more();
}

// Returns whether the next message of the rank before has so many bytes, if that rank made the same
// call.
bool RingFlow::fits(std::size_t bytes) const {
  return received_ < end_ &&
         bytes ==
             std::max(piece_of(received_, job_.rank + job_.world_size() - 1).bytes, filler_bytes);
}

// From here on nothing that comes can be told apart, so no further call is taken.
tl::unexpected<Error> RingFlow::mismatch() {
  broken_ =
      "what the rank before sends is not as long as this rank's call has it: do all ranks call "
      "the same collectives, with the same count?";
  return fail(Error::Code::mismatch, broken_);
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
         " did not come from the rank before, which is late or gone, or RoCE packets (UDP port "
         "4791) are lost on the way";
}

}  // namespace tributary::host
