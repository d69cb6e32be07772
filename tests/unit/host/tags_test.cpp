// SPDX-License-Identifier: BSD-3-Clause
#include "host/tags.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

// The key of the example in docs/reference/wire/tags.md.
constexpr JobKey tags_key = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr std::uint64_t packets_of_all_kinds[] = {
    0, 1, 7, 0xffffffff, std::uint64_t{3} << 32 | 7, 0xffffa1a2a3a4a5a6};

TEST(Tags, AreAsDocumented) {
  EXPECT_EQ(tag_of(tags_key, 7, 0), 0xfc89d5545641f1f9u);
  EXPECT_EQ(tag_of(tags_key, 7, 1), 0x2f8c1e4943041e32u);
  EXPECT_EQ(tag_of(tags_key, 7, 2), 0x4d293186d214c607u);
  EXPECT_EQ(tag_of(tags_key, 7, 3), 0x7d9000c5040f1759u);
  EXPECT_EQ(tags_of_all(tags_key, 7, 4), 0xf6cf25e96f69ed8bu);
}

TEST(Tags, OfAllRanksAddUpToThatOfAll) {
  for (const auto packet : packets_of_all_kinds) {
    std::uint64_t sum = 0;
    for (std::uint32_t rank = 0; rank < 1024; ++rank) {
      sum += tag_of(tags_key, packet, rank);
      ASSERT_EQ(sum, tags_of_all(tags_key, packet, rank + 1));
    }
  }
}

TEST(Tags, DependOnKeyPacketAndRank) {
  std::set<std::uint64_t> tags;
  for (const auto& key : {tags_key, key_of_call(tags_key, 1), JobKey{1}}) {
    for (const auto packet : packets_of_all_kinds) {
      for (const std::uint32_t rank : {0u, 1u, 2u, 65533u}) {
        tags.insert(tag_of(key, packet, rank));
      }
    }
  }
  EXPECT_EQ(tags.size(), 3u * 6 * 4);
}

// Counts in base 4 how often each of so many ranks is in a sum, and adds up.
std::uint64_t sum_of_chosen(const std::vector<std::uint64_t>& tags, std::uint32_t times) {
  std::uint64_t sum = 0;
  for (const auto tag : tags) {
    sum += times % 4 * tag;
    times /= 4;
  }
  return sum;
}

TEST(Tags, NoOtherChoiceOfRanksHasTheSumOfAll) {
  for (const auto packet : packets_of_all_kinds) {
    for (std::uint32_t world = 1; world <= 6; ++world) {
      std::vector<std::uint64_t> tags;
      for (std::uint32_t rank = 0; rank < world; ++rank) {
        tags.push_back(tag_of(tags_key, packet, rank));
      }
      const std::uint32_t end = 1u << 2 * world;
      const auto each_once = (end - 1) / 3;
      for (std::uint32_t times = 0; times < end; ++times) {
        ASSERT_EQ(sum_of_chosen(tags, times) == tags_of_all(tags_key, packet, world),
                  times == each_once);
      }
    }
  }
}

// The switch mixes up two blocks, attempts, calls or runs: some ranks are in the sum with the wrong
// one.
TEST(Tags, NoRankStandsInForItselfInAnotherPacket) {
  constexpr std::uint32_t world = 10;
  constexpr std::uint64_t packet = 7;
  struct Other {
    JobKey key;
    std::uint64_t packet;
  };
  const Other others[] = {{tags_key, packet + 1},
                          {tags_key, packet | 1u << 28},
                          {tags_key, packet | std::uint64_t{1} << 32},
                          {key_of_call(tags_key, 1), packet},
                          {JobKey{1}, packet}};
  for (const auto& other : others) {
    for (std::uint32_t exchanged = 0; exchanged < 1u << world; ++exchanged) {
      std::uint64_t sum = 0;
      for (std::uint32_t rank = 0; rank < world; ++rank) {
        sum += (exchanged >> rank & 1) != 0 ? tag_of(other.key, other.packet, rank)
                                            : tag_of(tags_key, packet, rank);
      }
      ASSERT_EQ(sum == tags_of_all(tags_key, packet, world), exchanged == 0);
    }
  }
}

enum class Fault { left_out, twice, forged, of_another_packet, of_another_call, of_the_next_rank };

std::uint64_t contributed(Fault fault, std::uint64_t packet, std::uint32_t rank,
                          std::uint32_t world, std::mt19937_64& random) {
  switch (fault) {
    case Fault::left_out:
      return 0;
    case Fault::twice:
      return 2 * tag_of(tags_key, packet, rank);
    case Fault::forged:
      return random();
    case Fault::of_another_packet:
      return tag_of(tags_key, packet + 1, rank);
    case Fault::of_another_call:
      return tag_of(key_of_call(tags_key, 1), packet, rank);
    case Fault::of_the_next_rank:
      break;
  }
  return tag_of(tags_key, packet, (rank + 1) % world);
}

// Some ranks, but not all, have faults: no combination of faults looks as if each rank were in
// once.
TEST(Tags, NoFaultsAreMadeUpForByOthers) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t end) { return static_cast<std::uint32_t>(random() % end); };
  for (unsigned turn = 0; turn < 2000; ++turn) {
    const auto packet = random();
    const auto world = 2 + below(turn % 20 == 0 ? 1023 : 15);
    std::vector<std::uint32_t> ranks(world);
    std::iota(ranks.begin(), ranks.end(), 0u);
    std::shuffle(ranks.begin(), ranks.end(), random);
    const auto faulty = 1 + below(world - 1);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < world; ++i) {
      sum += i < faulty
                 ? contributed(Fault{static_cast<int>(below(6))}, packet, ranks[i], world, random)
                 : tag_of(tags_key, packet, ranks[i]);
    }
    ASSERT_NE(sum, tags_of_all(tags_key, packet, world)) << world << " ranks, turn " << turn;
  }
}

// No bit of one rank's tag may depend on another's. Neighbours have a number in common, so they are
// the hardest case.
TEST(Tags, OfNeighboursHaveNothingInCommon) {
  constexpr unsigned packets = 4096;
  for (int bit = 0; bit < 64; ++bit) {
    unsigned set = 0;
    unsigned alike = 0;
    for (std::uint64_t packet = 0; packet < packets; ++packet) {
      const auto mine = tag_of(tags_key, packet, 5) >> bit & 1;
      set += mine != 0 ? 1 : 0;
      alike += mine == (tag_of(tags_key, packet, 6) >> bit & 1) ? 1 : 0;
    }
    EXPECT_NEAR(set, packets / 2, 200) << bit;  // six standard deviations
    EXPECT_NEAR(alike, packets / 2, 200) << bit;
  }
}

// Canary's switches recognise repeats by the low half.
TEST(Tags, DifferInTheirLowHalves) {
  for (const auto packet : packets_of_all_kinds) {
    std::set<std::uint32_t> halves;
    for (std::uint32_t rank = 0; rank < 1024; ++rank) {
      halves.insert(static_cast<std::uint32_t>(tag_of(tags_key, packet, rank)));
    }
    EXPECT_EQ(halves.size(), 1024u);
  }
}

}  // namespace
}  // namespace tributary::host::test
