// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/absence.h"

#include <utility>

namespace tributary::host {

// Ranks that are missing side by side take two hashes, however many they are.
std::optional<PanamaRanks> missing_in(const JobKey& key, const PanamaPlace& place,
                                      const wire::RankMask& mask, std::uint64_t fingerprint,
                                      std::uint32_t world_size) {
  PanamaRanks missing;
  std::uint64_t tags = 0;  // of those in the mask
  bool was_there = false;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    const bool is_there = mask.has(rank);
    if (is_there != was_there) {
      const auto before = panama_tags_before(key, place, rank);
      tags += was_there ? before : -before;
    }
    if (!is_there) {
      missing.push_back(rank);
    }
    was_there = is_there;
  }
  tags += was_there ? panama_tags_before(key, place, world_size) : 0;
  return tags == fingerprint ? std::optional(std::move(missing)) : std::nullopt;
}

std::vector<std::byte> mask_without(const PanamaRanks& missing, std::uint32_t world_size) {
  std::vector<std::byte> mask(wire::rank_mask_bytes(world_size));
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    wire::set_rank(mask, rank, true);
  }
  for (const auto rank : missing) {
    wire::set_rank(mask, rank, false);
  }
  return mask;
}

}  // namespace tributary::host
