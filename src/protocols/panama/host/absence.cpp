// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/absence.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace tributary::host {
namespace {

template <typename Handle>
void for_each_missing(const wire::RankMask& mask, std::uint32_t world_size, Handle handle) {
  for (std::uint32_t i = 0; i < mask.words(); ++i) {
    for (auto absent = ~mask.word(i); absent != 0; absent &= absent - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(absent));
      const auto rank = i * wire::ranks_per_mask_word + bit;
      if (rank >= world_size) {
        return;
      }
      handle(rank);
    }
  }
}

bool has_mask(const PanamaAbsence::Stretch& stretch, wire::Bytes mask) {
  return std::equal(stretch.mask.begin(), stretch.mask.end(), mask.begin(), mask.end());
}

}  // namespace

// Ranks that are side by side take two hashes, however many they are: where they begin and where
// they are over.
std::uint64_t panama_tags_in(const JobKey& key, const PanamaPlace& place,
                             const wire::RankMask& mask) {
  std::uint64_t tags = 0;
  std::uint64_t before = 0;  // 1 if the last rank of the word before is there
  std::uint32_t first = 0;   // rank of the word
  for (std::size_t i = 0; i < mask.words(); ++i, first += wire::ranks_per_mask_word) {
    const auto word = mask.word(i);
    for (auto edges = word ^ (word << 1 | before); edges != 0; edges &= edges - 1) {
      const auto bit = std::countr_zero(edges);
      const auto sum = panama_tags_before(key, place, first + static_cast<std::uint32_t>(bit));
      tags += (word >> bit & 1) != 0 ? -sum : sum;
    }
    before = word >> (wire::ranks_per_mask_word - 1);
  }
  return tags + (before != 0 ? panama_tags_before(key, place, first) : 0);
}

PanamaRanks ranks_missing_in(const wire::RankMask& mask, std::uint32_t world_size) {
  PanamaRanks missing;
  for_each_missing(mask, world_size, [&](std::uint32_t rank) { missing.push_back(rank); });
  return missing;
}

void PanamaAbsence::note(std::size_t packet, const wire::RankMask& mask) {
  const auto world_size = static_cast<std::uint32_t>(counts_.size());
  for_each_missing(mask, world_size, [this](std::uint32_t rank) { ++counts_[rank]; });
  const auto bytes = mask.bytes();
  const auto next = stretches_.lower_bound(packet);
  auto own = next == stretches_.begin() ? stretches_.end() : std::prev(next);
  if (own == stretches_.end() || own->second.end != packet || !has_mask(own->second, bytes)) {
    own = stretches_.emplace_hint(next, packet, Stretch{packet, {bytes.begin(), bytes.end()}});
  }
  auto& stretch = own->second;
  ++stretch.end;
  if (next != stretches_.end() && next->first == stretch.end && has_mask(next->second, bytes)) {
    stretch.end = next->second.end;
    stretches_.erase(next);
  }
}

std::map<std::uint32_t, std::uint64_t> PanamaAbsence::by_rank() const {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (std::uint32_t rank = 0; rank < counts_.size(); ++rank) {
    if (counts_[rank] != 0) {
      counts.emplace_hint(counts.end(), rank, counts_[rank]);
    }
  }
  return counts;
}

}  // namespace tributary::host
