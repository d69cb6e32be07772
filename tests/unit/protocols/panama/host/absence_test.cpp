// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/absence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>
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

// Returns the mask of all ranks but these.
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

// Returns who is missing by a mask if the fingerprint proves it.
std::optional<PanamaRanks> found(const PanamaRanks& in_mask, std::uint64_t fingerprint,
                                 std::uint32_t world_size,
                                 const PanamaPlace& place = absence_place) {
  const auto bytes = mask_without(in_mask, world_size);
  const wire::RankMask mask(bytes);
  const bool proved = panama_tags_in(absence_key, place, mask) == fingerprint;
  return proved ? std::optional(ranks_missing_in(mask, world_size)) : std::nullopt;
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
  for (const std::uint32_t ranks : {64u, 65u, 128u, 1024u}) {
    for (const std::uint32_t count : {1u, 5u, ranks / 2, ranks - 1}) {
      PanamaRanks all(ranks);
      std::iota(all.begin(), all.end(), 0u);
      PanamaRanks missing;
      std::sample(all.begin(), all.end(), std::back_inserter(missing), count, random);
      EXPECT_EQ(found(missing, without(ranks, missing), ranks), missing) << ranks;
    }
  }
}

TEST(PanamaAbsence, RanksSideBySideMayBeInTwoWordsOfTheMask) {
  for (const std::uint32_t ranks : {128u, 130u}) {
    for (const PanamaRanks& missing :
         {PanamaRanks{}, {63}, {64}, {63, 64}, {0, ranks - 1}, {62, 63, 64, 65, 127}}) {
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

constexpr std::uint32_t absence_ranks = 130;

void note(PanamaAbsence& absence, std::size_t packet, const PanamaRanks& missing) {
  absence.note(packet, wire::RankMask(mask_without(missing, absence_ranks)));
}

// A stretch: its first packet, where it ends, and who is missing.
using Told = std::tuple<std::size_t, std::size_t, PanamaRanks>;

std::vector<Told> told(const PanamaAbsence& absence) {
  std::vector<Told> all;
  for (const auto& [first, stretch] : absence.stretches()) {
    const auto missing = ranks_missing_in(wire::RankMask(stretch.mask), absence_ranks);
    all.emplace_back(first, stretch.end, missing);
  }
  return all;
}

TEST(PanamaAbsence, NeighboursThatLackTheSameRanksAreOneStretchInWhateverOrderTheyCome) {
  std::mt19937 random(1);
  std::vector<std::size_t> packets(60);
  std::iota(packets.begin(), packets.end(), 0u);
  packets.erase(packets.begin() + 45);  // lacks nobody
  for (int round = 0; round < 20; ++round) {
    PanamaAbsence absence(absence_ranks);
    std::shuffle(packets.begin(), packets.end(), random);
    for (const auto packet : packets) {
      note(absence, packet, packet < 20 ? PanamaRanks{129} : PanamaRanks{0, 64});
    }
    ASSERT_EQ(told(absence),
              (std::vector<Told>{{0, 20, {129}}, {20, 45, {0, 64}}, {46, 60, {0, 64}}}));
  }
}

TEST(PanamaAbsence, CountsWhoIsMissingInAllCalls) {
  PanamaAbsence absence(absence_ranks);
  note(absence, 0, {1, 63, 129});
  note(absence, 1, {63});
  absence.begin();
  EXPECT_TRUE(absence.stretches().empty());
  note(absence, 1, {63, 64});
  EXPECT_EQ(told(absence), (std::vector<Told>{{1, 2, {63, 64}}}));
  EXPECT_EQ(absence.by_rank(),
            (std::map<std::uint32_t, std::uint64_t>{{1, 1}, {63, 3}, {64, 1}, {129, 1}}));
}

}  // namespace
}  // namespace tributary::host::test
