// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/doubling.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "host/reduce_into.h"

namespace tributary::host {

namespace {

using StepKind = DoublingStep::Kind;

// Vectors begin there in their buffers, as handlers want them aligned.
constexpr std::size_t vector_offset = 32;
static_assert(vector_offset >= sizeof(RingAnnouncement));

}  // namespace

std::vector<DoublingStep> doubling_steps(std::uint32_t rank, std::uint32_t world_size) {
  const auto size = std::bit_floor(world_size);  // of those that double
  const auto paired = 2 * (world_size - size);   // ranks below it are pairs
  if (rank < paired && rank % 2 == 0) {
    return {{rank + 1, StepKind::give}, {rank + 1, StepKind::take}};
  }
  std::vector<DoublingStep> steps;
  const bool adds_for_both = rank < paired;
  if (adds_for_both) {
    steps.push_back({rank - 1, StepKind::add});
  }
  const auto place = adds_for_both ? rank / 2 : rank - paired / 2;  // among those that double
  for (std::uint32_t distance = 1; distance < size; distance *= 2) {
    const auto peer = place ^ distance;
    steps.push_back({peer < paired / 2 ? 2 * peer + 1 : peer + paired / 2, StepKind::exchange});
  }
  if (adds_for_both) {
    steps.push_back({rank - 1, StepKind::give});
  }
  return steps;
}

Result<void> Exchange::check(const std::string& who) const {
  if (received_ < RingAnnouncement::common_bytes) {
    return {};
  }
  RingAnnouncement theirs;
  const auto known = std::min(received_, mine_.bytes().size());
  std::memcpy(&theirs, theirs_.data(), known);
  return agree(theirs, mine_, who).and_then([&]() -> Result<void> {
    return known == sizeof theirs ? agree_on_mark(theirs, mine_, who) : Result<void>();
  });
}

DoublingSchedule::DoublingSchedule(const RingAnnouncement& mine, const Buffers& buffers,
                                   std::size_t grain)
    : mine_(mine),
      buffers_(buffers),
      kernel_(reduce::kernel(buffers.type, buffers.op)),
      grain_(grain),
      begin_(vector_offset - mine.bytes().size()),
      ours_(vector_offset + buffers.bytes()),
      theirs_(ours_.size()) {
  std::ranges::copy(mine.bytes(), ours_.begin() + static_cast<std::ptrdiff_t>(begin_));
  if (buffers.count != 0) {
    std::memcpy(ours_.data() + vector_offset, buffers.in, buffers.bytes());
  }
}

Exchange DoublingSchedule::exchange(const DoublingStep& step) {
  const auto ours = wire::Bytes(ours_).subspan(begin_);
  const auto theirs = wire::MutableBytes(theirs_).subspan(begin_);
  return {mine_, step.sends() ? ours : wire::Bytes(),
          step.receives() ? theirs : wire::MutableBytes()};
}

void DoublingSchedule::complete(const DoublingStep& step, std::uint32_t rank) {
  if (step.kind == StepKind::give) {
    return;
  }
  if (step.kind != StepKind::take && rank < step.peer) {
    return add(ours_, theirs_);
  }
  if (step.kind != StepKind::take) {
    add(theirs_, ours_);
  }
  std::swap(ours_, theirs_);  // their announcements are alike
}

// Adds each grain by itself.
void DoublingSchedule::add(std::vector<std::byte>& target,
                           const std::vector<std::byte>& source) const {
  const auto element_bytes = wire::element_bytes(buffers_.type);
  const auto together = grain_ == 1 ? buffers_.count : grain_;
  for (std::size_t at = 0; at < buffers_.count; at += together) {
    const auto offset = vector_offset + at * element_bytes;
    reduce_into(kernel_, element_bytes, target.data() + offset, source.data() + offset,
                std::min(together, buffers_.count - at));
  }
}

void DoublingSchedule::finish() const {
  if (buffers_.count != 0) {
    std::memcpy(buffers_.out, ours_.data() + vector_offset, buffers_.bytes());
  }
}

}  // namespace tributary::host
