// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/stagger.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using Blocks = std::vector<std::uint32_t>;

// Returns all blocks that may be sent below the limit, in their order.
Blocks taken(Stagger& stagger, std::uint32_t limit) {
  Blocks blocks;
  while (const auto block = stagger.next(limit)) {
    blocks.push_back(*block);
  }
  return blocks;
}

Blocks order_of(std::uint32_t rank, std::uint32_t ranks, std::uint32_t window,
                std::uint32_t blocks) {
  Stagger stagger(rank, ranks, window);
  stagger.begin(blocks);
  return taken(stagger, blocks);
}

TEST(Stagger, EachRankBeginsAGroupAtAPlaceOfItsOwnAndGoesRound) {
  EXPECT_EQ(order_of(0, 2, 8, 10), (Blocks{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(order_of(1, 2, 8, 10), (Blocks{2, 3, 0, 1, 6, 7, 4, 5, 9, 8}));
  EXPECT_EQ(order_of(2, 4, 16, 8), (Blocks{4, 5, 6, 7, 0, 1, 2, 3}));
}

TEST(Stagger, MoreRanksThanBlocksShareTheirPlaces) {
  EXPECT_EQ(order_of(3, 8, 8, 4), (Blocks{1, 2, 3, 0}));
  EXPECT_EQ(order_of(7, 8, 8, 4), (Blocks{3, 0, 1, 2}));
  EXPECT_EQ(order_of(7, 8, 8, 1), (Blocks{0}));
}

TEST(Stagger, EveryBlockComesOnceAndNoGroupBeforeTheOneBeforeIt) {
  for (std::uint32_t ranks = 2; ranks <= 16; ++ranks) {
    for (const std::uint32_t window : {1u, 2u, 3u, 16u, 31u}) {
      for (const std::uint32_t blocks : {1u, 7u, 16u, 100u}) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          const Stagger any(rank, ranks, window);
          auto order = order_of(rank, ranks, window, blocks);
          EXPECT_TRUE(
              std::is_sorted(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
                return any.group_start(a) < any.group_start(b);
              }));
          std::sort(order.begin(), order.end());
          Blocks all(blocks);
          std::iota(all.begin(), all.end(), 0u);
          EXPECT_EQ(order, all) << rank << " of " << ranks << ", window " << window;
        }
      }
    }
  }
}

TEST(Stagger, WhatIsBeyondTheLimitDoesNotKeepBackWhatIsBelow) {
  Stagger stagger(1, 2, 8);
  stagger.begin(8);
  EXPECT_EQ(taken(stagger, 1), (Blocks{0}));
  EXPECT_EQ(taken(stagger, 3), (Blocks{2, 1}));
  EXPECT_EQ(taken(stagger, 7), (Blocks{3, 6, 4, 5})) << "and then the next group";
  EXPECT_EQ(taken(stagger, 8), (Blocks{7}));
  EXPECT_TRUE(taken(stagger, 8).empty());
}

TEST(Stagger, EachCollectiveBeginsAnew) {
  Stagger stagger(1, 2, 8);
  stagger.begin(3);
  EXPECT_EQ(stagger.next(3), 1u);
  stagger.begin(4);
  EXPECT_EQ(taken(stagger, 4), (Blocks{2, 3, 0, 1}));
}

}  // namespace
}  // namespace tributary::host
