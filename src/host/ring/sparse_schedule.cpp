// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/sparse_schedule.h"

#include <algorithm>
#include <utility>

#include "host/ring/sizes.h"
#include "host/sparse_sum.h"

namespace tributary::host {
SparseSchedule::SparseSchedule(const SparseBuffers& buffers, std::uint32_t rank,
                               std::uint32_t world_size)
    : count_(buffers.count),
      type_(buffers.type),
      rank_(rank),
      world_size_(world_size),
      steps_(2 * (world_size - 1)) {
  const std::size_t share = buffers.count / world_size;
  const std::size_t longer = buffers.count % world_size;  // chunks with one element more
  parts_.reserve(world_size);
  std::size_t first = 0;
  for (std::uint32_t chunk = 0; chunk < world_size; ++chunk) {
    const SparseRange range{first, share + (chunk < longer ? 1 : 0)};
    parts_.emplace_back(buffers, range);
    first += range.count;
  }
  expect_header();
}

wire::Bytes SparseSchedule::sendable() const {
  // Step s + 1 sends what step s received.
  if (send_step_ == steps_ || send_step_ > receive_step_) {
    return {};
  }
  return parts_[sent_chunk()].bytes().subspan(sent_);
}

void SparseSchedule::sent(std::size_t bytes) {
  sent_ += bytes;
  bytes_sent_ += bytes;
  if (sent_ == parts_[sent_chunk()].bytes().size()) {
    ++send_step_;
    sent_ = 0;
  }
}

// The sum of a chunk takes the place of what this rank sent of it before, which has gone round by
// then; a rank that sends it earlier has to wait.
wire::MutableBytes SparseSchedule::receivable() {
  if (!sound_ || receive_step_ == steps_ || overtakes()) {
    return {};
  }
  return wire::MutableBytes(incoming_).subspan(arrived_);
}

void SparseSchedule::received(std::size_t bytes) {
  arrived_ += bytes;
  if (arrived_ == SparsePart::header_bytes) {
    take_header();
  }
  if (sound_ && arrived_ == incoming_.size()) {
    take_part();
  }
}

// All of a part will come, whatever this rank does.
std::size_t SparseSchedule::worthwhile() {
  return std::clamp<std::size_t>(receivable().size(), 1, ring_worthwhile_max);
}

SparseElements SparseSchedule::sum() const {
  return joined(parts_, count_, type_);
}

void SparseSchedule::take_header() {
  const auto size = SparsePart::size_of(incoming_, parts_[received_chunk()].range(), type_);
  sound_ = size.has_value();
  incoming_.resize(size.value_or(arrived_));
}

void SparseSchedule::take_part() {
  auto& mine = parts_[received_chunk()];
  auto theirs = SparsePart::parse(std::move(incoming_), mine.range(), type_);
  sound_ = theirs.has_value();
  if (!sound_) {
    return;
  }
  if (receive_step_ < world_size_ - 1) {
    mine.add(*theirs);
  } else {
    mine = std::move(*theirs);
  }
  ++receive_step_;
  expect_header();
}

void SparseSchedule::expect_header() {
  incoming_.assign(SparsePart::header_bytes, std::byte{});
  arrived_ = 0;
}

}  // namespace tributary::host
