// SPDX-License-Identifier: BSD-3-Clause
#include "engines/canary/partitions.h"

#include <algorithm>

#include "wire/canary.h"

namespace tributary::canary {

Partitions::Partitions(std::uint32_t count, std::uint32_t slots)
    : count_(std::min({count, count_max, slots})), size_(count_ == 0 ? 0 : slots / count_) {}

std::uint32_t Partitions::part_of(std::uint64_t job) const {
  const auto* end = parts_.data() + count_;
  const auto* at =
      std::find_if(parts_.data(), end, [job](const Part& part) { return part.job == job; });
  return at == end ? none : static_cast<std::uint32_t>(at - parts_.data());
}

std::uint32_t Partitions::slot_of(std::uint32_t job, std::uint32_t id) const {
  const auto part = part_of(job);
  return part == none ? none : part * size_ + wire::canary_sequence(id) % size_;
}

bool Partitions::admit(const Applicant& applicant, Time now, Duration silence) {
  const auto& [job, port, reserved] = applicant;
  if (part_of(job) != none) {
    return true;
  }
  Part* free = nullptr;
  std::uint32_t opened = 0;
  for (auto at = reserved; at < count_; ++at) {
    auto& part = parts_[at];
    if (part.is_free(now, silence)) {
      free = free == nullptr ? &part : free;
    } else if (port != no_port && part.opener == port) {
      ++opened;
    }
  }
  if (free == nullptr || opened >= std::max((count_ - reserved) / 2, 1u)) {
    return false;
  }
  *free = {job, port, 0, now};
  return true;
}

void Partitions::add(std::uint32_t slot, Time now) {
  auto& part = parts_[slot / size_];
  ++part.descriptors;
  part.last_begun = now;
}

}  // namespace tributary::canary
