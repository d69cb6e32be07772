// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/tags.h"

#include "host/siphash.h"

namespace tributary::host {

std::uint64_t MessageTags::of(std::uint32_t rank) const {
  return siphash(key_, HashPurpose::message, message_, rank);
}

std::uint64_t MessageTags::total(std::uint32_t world_size) const {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    sum += of(rank);
  }
  return sum;
}

}  // namespace tributary::host
