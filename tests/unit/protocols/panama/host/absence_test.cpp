// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/absence.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

constexpr JobKey absence_key = {1, 2, 3};
constexpr PanamaPlace absence_place{.run = 1, .epoch = 2, .tree = 3, .vid = 4};

// Returns the fingerprint of a sum that has everybody in it but these.
std::uint64_t without(std::uint32_t world_size, const PanamaRanks& missing) {
  auto sum = panama_total_tag(absence_key, absence_place, world_size);
  for (const auto rank : missing) {
    sum -= panama_tag(absence_key, absence_place, rank);
  }
  return sum;
}

std::optional<PanamaRanks> found(const PanamaRanks& in_mask, std::uint64_t fingerprint,
                                 std::uint32_t world_size,
                                 const PanamaPlace& place = absence_place) {
  const auto mask = mask_without(in_mask, world_size);
  return missing_in(absence_key, place, wire::RankMask(mask), fingerprint, world_size);
}

TEST(PanamaAbsence, EveryChoiceOfMissingRanksIsProved) {
  constexpr std::uint32_t ranks = 8;
  for (std::uint32_t mask = 0; mask + 1 < 1u << ranks; ++mask) {
    PanamaRanks missing;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if ((mask >> rank & 1) != 0) {
        missing.push_back(rank);
      }
    }
    ASSERT_EQ(found(missing, without(ranks, missing), ranks), missing);
  }
}

TEST(PanamaAbsence, SoIsAnyNumberOfThemInALargeWorld) {
  std::mt19937 random(1);
  for (const std::uint32_t ranks : {65u, 128u, 1024u}) {
    for (const std::uint32_t count : {1u, 5u, ranks / 2, ranks - 1}) {
      PanamaRanks all(ranks);
      std::iota(all.begin(), all.end(), 0u);
      PanamaRanks missing;
      std::sample(all.begin(), all.end(), std::back_inserter(missing), count, random);
      EXPECT_EQ(found(missing, without(ranks, missing), ranks), missing) << ranks;
    }
  }
}

TEST(PanamaAbsence, AFingerprintOfOtherRanksThanTheMaskHasIsRefused) {
  const auto right = without(8, {5});
  EXPECT_EQ(found({5}, right + 1, 8), std::nullopt);
  EXPECT_EQ(found({6}, right, 8), std::nullopt);
  EXPECT_EQ(found({5, 6}, right, 8), std::nullopt);
  EXPECT_EQ(found({}, right, 8), std::nullopt);
  const auto doubled =
      right - panama_tag(absence_key, absence_place, 1) + panama_tag(absence_key, absence_place, 2);
  EXPECT_EQ(found({5}, doubled, 8), std::nullopt) << "rank 2 twice and rank 1 not at all";
  const PanamaPlace other{.run = 1, .epoch = 2, .tree = 3, .vid = 5};
  EXPECT_EQ(found({5}, right, 8, other), std::nullopt) << "it is another packet's";
  EXPECT_EQ(found({5}, right, 8), PanamaRanks{5});
}

}  // namespace
}  // namespace tributary::host::test
