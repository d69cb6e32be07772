// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/chain.h"

#include <algorithm>
#include <cstring>

#include "host/ring/sizes.h"

namespace tributary::host {
RingChain::RingChain(Direction direction, const Buffers& buffers, std::uint32_t distance,
                     std::uint32_t world_size, std::size_t grain)
    : direction_(direction),
      buffers_(buffers),
      kernel_(reduce::kernel(buffers.type, buffers.op)),
      element_bytes_(wire::element_bytes(buffers.type)),
      grain_(grain) {
  const bool is_root = distance == 0;
  if (direction_ == Direction::to_root) {
    to_send_ = is_root ? 0 : buffers_.bytes();
    to_receive_ = distance == 1 % world_size ? 0 : buffers_.bytes();
  } else {
    to_send_ = distance == world_size - 1 ? 0 : buffers_.bytes();
    to_receive_ = is_root ? 0 : buffers_.bytes();
  }
  if (adds()) {
    staging_.resize(ring_staging_bytes);
    widened_.resize(ring_staging_bytes / element_bytes_ * kernel_.accumulator_bytes);
  }
}

wire::Bytes RingChain::sendable() const {
  if (to_send_ == 0) {
    return {};
  }
  if (adds()) {
    return {staging_.data() + sendable_, added_ - sendable_};
  }
  if (to_receive_ == 0) {  // where the chain begins
    return {buffers_.in + sent_, to_send_ - sent_};
  }
  return {buffers_.out + sent_, received_ - sent_};
}

void RingChain::sent(std::size_t bytes) {
  sent_ += bytes;
  if (!adds()) {
    return;
  }
  sendable_ += bytes;
  if (sendable_ == added_) {  // at most a grain that is cut is left
    std::memmove(staging_.data(), staging_.data() + added_, staged_ - added_);
    staged_ -= added_;
    sendable_ = added_ = 0;
  }
}

wire::MutableBytes RingChain::receivable() {
  const auto left = to_receive_ - received_;
  if (!adds()) {
    return {buffers_.out + received_, left};
  }
  return {staging_.data() + staged_, std::min(left, staging_.size() - staged_)};
}

void RingChain::received(std::size_t bytes) {
  received_ += bytes;
  if (adds()) {
    staged_ += bytes;
    add();
  }
}

std::size_t RingChain::worthwhile() {
  return std::clamp<std::size_t>(receivable().size(), 1, ring_worthwhile_max);
}

// Adds each grain by itself.
void RingChain::accumulate(std::size_t elements) {
  const auto together = grain_ == 1 ? elements : grain_;
  for (std::size_t at = 0; at < elements; at += together) {
    kernel_.accumulate(widened_.data() + at * kernel_.accumulator_bytes,
                       staging_.data() + added_ + at * element_bytes_,
                       std::min(together, elements - at));
  }
}

// Adds this rank's part to the whole grains that came, the last one of all as short as it is. The
// sums stay in place to be sent on, or go to `out` at the root.
void RingChain::add() {
  const auto whole = (staged_ - added_) / element_bytes_;
  const auto elements = received_ == to_receive_ ? whole : whole / grain_ * grain_;
  const auto bytes = elements * element_bytes_;
  const auto offset = received_ - (staged_ - added_);  // of the first of them in the vector
  kernel_.load(widened_.data(), buffers_.in + offset, elements);
  accumulate(elements);
  if (to_send_ != 0) {
    kernel_.store(staging_.data() + added_, widened_.data(), elements);
    added_ += bytes;
    return;
  }
  kernel_.store(buffers_.out + offset, widened_.data(), elements);
  staged_ -= bytes;
  std::memmove(staging_.data(), staging_.data() + bytes, staged_);
}

}  // namespace tributary::host
