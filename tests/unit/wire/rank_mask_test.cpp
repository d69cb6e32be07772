// SPDX-License-Identifier: BSD-3-Clause
#include "wire/rank_mask.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

TEST(RankMask, HasAWordForEvery64Ranks) {
  EXPECT_EQ(rank_mask_bytes(1), 8u);
  EXPECT_EQ(rank_mask_bytes(64), 8u);
  EXPECT_EQ(rank_mask_bytes(65), 16u);
  EXPECT_EQ(rank_mask_bytes(1024), 128u);
}

TEST(RankMask, IsReadAtAnyOffset) {
  std::array<std::byte, 3 + 16> packet{};
  const auto bytes = MutableBytes(packet).last(16);
  for (const std::uint32_t rank : {0u, 9u, 63u, 64u, 99u}) {
    set_rank(bytes, rank, true);
  }
  set_rank(bytes, 9, false);
  const RankMask mask(bytes);
  EXPECT_EQ(packet[3], std::byte{1}) << "rank 0 is the first byte's lowest bit";
  EXPECT_EQ(mask.word(0), 1u | std::uint64_t{1} << 63);
  EXPECT_EQ(mask.words(), 2u);
  EXPECT_EQ(mask.count(), 4u);
  EXPECT_TRUE(mask.has(99));
  EXPECT_FALSE(mask.has(9));
  EXPECT_TRUE(mask.is_within(100));
  EXPECT_FALSE(mask.is_within(99));
  EXPECT_TRUE(mask.is_within(128)) << "no bit is beyond a whole word";
}

}  // namespace
}  // namespace tributary::wire
