// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/siphash.h"

namespace tributary::host {

// Ranks add tags to the fingerprint of a packet, so that whoever has the call's key can tell that a
// sum has each of them once (docs/reference/wire/tags.md). What is drawn is not each tag, but the
// sum of the tags of the first ranks: so the sum of all takes no longer in a large world.
//
// Returns the sum of the tags of the ranks before `rank`, for the packet that this number names in
// its call.
inline std::uint64_t tags_before(const JobKey& key_of_call, std::uint64_t packet,
                                 std::uint32_t rank) {
  return rank == 0 ? 0 : siphash(key_of_call, packet, rank);
}

inline std::uint64_t tag_of(const JobKey& key_of_call, std::uint64_t packet, std::uint32_t rank) {
  return tags_before(key_of_call, packet, rank + 1) - tags_before(key_of_call, packet, rank);
}

inline std::uint64_t tags_of_all(const JobKey& key_of_call, std::uint64_t packet,
                                 std::uint32_t world_size) {
  return tags_before(key_of_call, packet, world_size);
}

}  // namespace tributary::host
