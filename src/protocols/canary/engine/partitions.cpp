// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/partitions.h"

#include <algorithm>
#include <bit>

#include "protocols/canary/wire.h"

namespace tributary::canary {

Partitions::Partitions(std::uint32_t count, std::uint32_t slots)
    : count_(std::min({count, count_max, slots})),
      size_(count_ == 0 ? 0 : std::bit_floor(slots / count_)) {
  jobs_.fill(nobody);
}

std::uint32_t Partitions::part_of(std::uint64_t job) const {
  const auto* end = jobs_.data() + count_;
  const auto* at = std::find(jobs_.data(), end, job);
  return at == end ? none : static_cast<std::uint32_t>(at - jobs_.data());
}

std::uint32_t Partitions::slot_of(std::uint32_t job, std::uint32_t id) const {
  const auto part = part_of(job);
  return part == none ? none : part * size_ + wire::canary_sequence(id) % size_;
}

bool Partitions::admit(std::uint32_t job, std::uint32_t reserved, Time now, Duration silence) {
  if (part_of(job) != none) {
    return true;
  }
  for (auto part = reserved; part < count_; ++part) {
    const auto& [last_begun, descriptors] = parts_[part];
    if (jobs_[part] == nobody || (descriptors == 0 && last_begun + silence <= now)) {
      jobs_[part] = job;
      parts_[part] = {now, 0};
      return true;
    }
  }
  return false;
}

void Partitions::add(std::uint32_t slot, Time now) {
  auto& part = parts_[slot / size_];
  ++part.descriptors;
  part.last_begun = now;
}

}  // namespace tributary::canary
