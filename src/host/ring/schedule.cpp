// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/schedule.h"

#include <algorithm>
#include <cstring>

#include "host/reduce_into.h"
#include "host/ring/sizes.h"

namespace tributary::host {
RingSchedule::RingSchedule(const Buffers& buffers, std::uint32_t rank, std::uint32_t world_size,
                           std::size_t grain)
    : buffers_(buffers),
      kernel_(reduce::kernel(buffers.type, buffers.op)),
      element_bytes_(wire::element_bytes(buffers.type)),
      grain_(grain),
      send_(stream(rank, world_size)),
      receive_(stream((rank + world_size - 1) % world_size, world_size)),
      staging_(ring_staging_bytes) {
  if (buffers.in != buffers.out && buffers.count != 0) {
    std::memcpy(buffers.out, buffers.in, buffers.bytes());
  }
  // Leading chunks may be empty.
  sent(0);
  received(0);
}

std::vector<RingSchedule::Piece> RingSchedule::stream(std::uint32_t first_chunk,
                                                      std::uint32_t world_size) const {
  const std::size_t grains = (buffers_.count + grain_ - 1) / grain_;
  const std::size_t share = grains / world_size;
  const std::size_t longer = grains % world_size;  // chunks with one grain more
  const auto begin = [&](std::size_t chunk) {
    return std::min((chunk * share + std::min(chunk, longer)) * grain_, buffers_.count);
  };
  std::vector<Piece> pieces;
  std::uint64_t start = 0;
  for (std::uint32_t step = 0; step < 2 * (world_size - 1); ++step) {
    const std::size_t chunk = (first_chunk + 2 * world_size - step) % world_size;
    const std::size_t first = begin(chunk);
    const std::size_t count = begin(chunk + 1) - first;
    pieces.push_back({start, first * element_bytes_, count * element_bytes_});
    start += count * element_bytes_;
  }
  return pieces;
}

wire::Bytes RingSchedule::sendable() const {
  const auto& piece = send_[send_step_];
  // Step s + 1 sends what step s received, byte for byte.
  const auto available = send_.front().bytes + (received_ - staged_);
  const auto end = std::min(piece.start + piece.bytes, available);
  if (end <= sent_) {
    return {};
  }
  return {buffers_.out + piece.offset + (sent_ - piece.start), end - sent_};
}

void RingSchedule::sent(std::size_t bytes) {
  sent_ += bytes;
  while (send_step_ + 1 < send_.size() && sent_ == send_[send_step_ + 1].start) {
    ++send_step_;
  }
}

wire::MutableBytes RingSchedule::receivable() {
  const auto& piece = receive_[receive_step_];
  const auto left = piece.start + piece.bytes - received_;
  if (is_reduced(receive_step_)) {
    return {staging_.data() + staged_, std::min<std::size_t>(left, staging_.size() - staged_)};
  }
  return {buffers_.out + piece.offset + (received_ - piece.start), left};
}

void RingSchedule::received(std::size_t bytes) {
  const auto& piece = receive_[receive_step_];
  if (is_reduced(receive_step_)) {
    staged_ += bytes;
    reduce(piece, received_ - piece.start + bytes);
  }
  received_ += bytes;
  while (receive_step_ + 1 < receive_.size() && received_ == receive_[receive_step_ + 1].start) {
    ++receive_step_;
  }
}

// All ranks together have as many bytes under way as there are ranks times a chunk, until a rank
// has sent everything: then what is left is wholly on its way. With longer grains nobody knows as
// much.
std::size_t RingSchedule::worthwhile() const {
  const auto chunks = receive_.size() / 2 + 1;
  const auto shortest = grain_ == 1 ? buffers_.count / chunks * element_bytes_ : 0;
  const auto wanted = std::clamp<std::size_t>(shortest, 1, ring_worthwhile_max);
  return bytes_expected() - received_ < wanted ? 1 : wanted;
}

// Adds the whole grains in the staging buffer to the vector, each by itself. The last grain of the
// piece, of which `come` bytes have come, is added as short as it is; a grain that is cut stays.
void RingSchedule::reduce(const Piece& piece, std::uint64_t come) {
  const auto staged = staged_ / element_bytes_;
  const auto elements = come == piece.bytes ? staged : staged / grain_ * grain_;
  auto* const target = buffers_.out + piece.offset + (come - staged_);
  const auto together = grain_ == 1 ? elements : grain_;
  for (std::size_t at = 0; at < elements; at += together) {
    reduce_into(kernel_, element_bytes_, target + at * element_bytes_,
                staging_.data() + at * element_bytes_, std::min(together, elements - at));
  }
  const auto used = elements * element_bytes_;
  staged_ -= used;
  std::memmove(staging_.data(), staging_.data() + used, staged_);
}

}  // namespace tributary::host
