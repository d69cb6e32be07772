// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/sparse_packets.h"

#include <array>
#include <cstdint>
#include <set>

#include <gtest/gtest.h>
#include <sodium/crypto_shorthash.h>

namespace tributary::host::test {
namespace {

constexpr JobKey sparse_key = {1, 2, 3, 4};

TEST(FlareSparseTags, OfAllShardsTogetherAreThatOfTheContribution) {
  for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{7} << 32 | 5}) {
    for (const std::uint32_t shards : {1u, 2u, 3u, 32u, 64u}) {
      std::uint64_t sum = 0;
      for (std::uint32_t shard = 0; shard < shards; ++shard) {
        sum += flare_shard_tag(sparse_key, block, 3, shard, shards);
      }
      EXPECT_EQ(sum, flare_sparse_tag(sparse_key, block, 3)) << shards;
    }
  }
}

TEST(FlareSparseTags, DifferByBlockRankAndShard) {
  std::set<std::uint64_t> tags;
  for (const std::uint64_t block :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32, std::uint64_t{1} << 47}) {
    for (const std::uint32_t rank : {0u, 1u, 65533u}) {
      for (const std::uint32_t shard : {0u, 1u, 62u, 63u}) {
        tags.insert(flare_shard_tag(sparse_key, block, rank, shard, 64));
      }
    }
  }
  EXPECT_EQ(tags.size(), 4u * 3 * 4);
}

std::uint64_t hash_of(const std::array<unsigned char, 12>& input) {
  unsigned char hash[8];
  crypto_shorthash(hash, input.data(), input.size(), sparse_key.data());
  std::uint64_t number = 0;
  for (int i = 7; i >= 0; --i) {
    number = number << 8 | hash[i];
  }
  return number;
}

// The twelve bytes that docs/reference/wire/flare.md names: number, low six bytes of the block,
// rank.
TEST(FlareSparseTags, AreThoseOfTheWireFormat) {
  constexpr std::uint64_t block = 0xffffa1a2a3a4a5a6;
  EXPECT_EQ(flare_shard_tag(sparse_key, block, 0x5678, 0x11, 0x20),
            hash_of({0, 0x12, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0, 0, 0x56, 0x78}));
  EXPECT_EQ(flare_sparse_total_tag(sparse_key, block, 0x5678),
            hash_of({0xff, 0xff, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0, 0, 0x56, 0x78}));
}

TEST(FlareSparseTags, OfAllRanksAreTheTotal) {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    for (std::uint32_t shard = 0; shard <= rank; ++shard) {
      sum += flare_shard_tag(sparse_key, 9, rank, shard, rank + 1);
    }
  }
  EXPECT_EQ(sum, flare_sparse_total_tag(sparse_key, 9, 5));
}

TEST(FlareSparseBlocksTest, TheLastOneStandsForTheRest) {
  FlareSparseBlocks blocks;
  blocks.first = 100;
  blocks.count = 250;
  blocks.span = 100;
  EXPECT_EQ(blocks.number(), 3u);
  EXPECT_EQ(blocks.end(), 103u);
  EXPECT_EQ(blocks.range(1).first, 100u);
  EXPECT_EQ(blocks.range(1).count, 100u);
  EXPECT_EQ(blocks.range(2).first, 200u);
  EXPECT_EQ(blocks.range(2).count, 50u);
  EXPECT_TRUE(blocks.has(102) && !blocks.has(103) && !blocks.has(99));
}

TEST(FlareSparseFull, LeavesRoomForTheLongerHeader) {
  EXPECT_EQ(flare_sparse_full(1408), 1376u);
  EXPECT_EQ(flare_sparse_full(96), 64u);
  EXPECT_EQ(flare_sparse_full(64), 0u);
}

}  // namespace
}  // namespace tributary::host::test
