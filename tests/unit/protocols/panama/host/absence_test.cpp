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

using Ranks = PanamaAbsence::Ranks;

constexpr JobKey absence_key = {1, 2, 3};
constexpr PanamaPlace absence_place{.run = 1, .epoch = 2, .tree = 3, .vid = 4};

// Returns the fingerprint of a sum that has everybody in it but these.
std::uint64_t without(std::uint32_t world_size, const Ranks& missing,
                      const PanamaPlace& place = absence_place) {
  auto sum = panama_total_tag(absence_key, place, world_size);
  for (const auto rank : missing) {
    sum -= panama_tag(absence_key, place, rank);
  }
  return sum;
}

std::optional<Ranks> found(PanamaAbsence& absence, std::uint64_t fingerprint, std::size_t missing,
                           const PanamaPlace& place = absence_place) {
  return absence.find(absence_key, place, fingerprint, static_cast<std::uint32_t>(missing));
}

TEST(PanamaAbsence, FindsEveryChoiceOfMissingRanks) {
  constexpr std::uint32_t ranks = 8;
  for (std::uint32_t mask = 1; mask + 1 < 1u << ranks; ++mask) {
    Ranks missing;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if ((mask >> rank & 1) != 0) {
        missing.push_back(rank);
      }
    }
    PanamaAbsence absence(ranks);
    ASSERT_EQ(found(absence, without(ranks, missing), missing.size()), missing);
  }
}

TEST(PanamaAbsence, FindsThemInLargeWorlds) {
  std::mt19937 random(1);
  for (const auto& [ranks, count] : {std::pair{1024u, 1u}, {1024u, 2u}, {256u, 3u}, {64u, 4u}}) {
    ASSERT_TRUE(PanamaAbsence::can_find(ranks, count));
    PanamaAbsence absence(ranks);
    for (int i = 0; i < 5; ++i) {
      Ranks all(ranks);
      std::iota(all.begin(), all.end(), 0u);
      Ranks missing;
      std::sample(all.begin(), all.end(), std::back_inserter(missing), count, random);
      EXPECT_EQ(found(absence, without(ranks, missing), count), missing) << ranks;
    }
  }
}

// The same ranks are late again and again; what was found once is not searched for.
TEST(PanamaAbsence, FollowsFromPacketToPacketWhoIsMissing) {
  PanamaAbsence absence(16);
  for (std::uint32_t vid = 0; vid < 100; ++vid) {
    const PanamaPlace place{.run = 1, .epoch = 2, .tree = 0, .vid = vid};
    const Ranks missing = vid % 3 == 0 ? Ranks{2} : vid % 3 == 1 ? Ranks{3, 9} : Ranks{3, 10};
    EXPECT_EQ(found(absence, without(16, missing, place), missing.size(), place), missing);
  }
  EXPECT_EQ(absence.searches(), 3u);
}

TEST(PanamaAbsence, AFingerprintOfNoRanksAsManyIsRefused) {
  PanamaAbsence absence(8);
  const auto right = without(8, {5});
  EXPECT_EQ(found(absence, right + 1, 1), std::nullopt);
  EXPECT_EQ(found(absence, right, 2), std::nullopt) << "one is missing, not two";
  EXPECT_EQ(found(absence, without(8, {5, 6}), 1), std::nullopt);
  const auto doubled =
      right - panama_tag(absence_key, absence_place, 1) + panama_tag(absence_key, absence_place, 2);
  EXPECT_EQ(found(absence, doubled, 1), std::nullopt) << "rank 2 twice and rank 1 not at all";
  const PanamaPlace other{.run = 1, .epoch = 2, .tree = 3, .vid = 5};
  EXPECT_EQ(found(absence, right, 1, other), std::nullopt) << "it is another packet's";
  EXPECT_EQ(found(absence, right, 1), Ranks{5});
}

TEST(PanamaAbsence, KnowsWhenThereAreTooManyChoices) {
  for (std::uint32_t ranks = 2; ranks <= 18; ++ranks) {
    EXPECT_TRUE(PanamaAbsence::can_find(ranks, ranks - 1)) << ranks;
  }
  EXPECT_TRUE(PanamaAbsence::can_find(65535, 2));
  EXPECT_FALSE(PanamaAbsence::can_find(1024, 3));
  EXPECT_FALSE(PanamaAbsence::can_find(64, 5));
  EXPECT_FALSE(PanamaAbsence::can_find(65535, 65534));
}

}  // namespace
}  // namespace tributary::host::test
