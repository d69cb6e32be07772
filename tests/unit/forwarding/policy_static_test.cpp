// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "unit/forwarding/choices.h"

namespace tributary::forwarding {
namespace {

std::size_t tree_of(Choices& choices, std::uint32_t block) {
  // The hash, which depends on the block, must not matter.
  return choices.choose(Policy::static_trees, {block * 0x51ed270bu, block});
}

TEST(StaticTrees, OneTreeTakesEveryBlock) {
  Choices choices(8);
  std::set<std::size_t> roots;
  for (std::uint32_t block = 0; block < 100; ++block) {
    roots.insert(tree_of(choices, block));
  }
  EXPECT_EQ(roots.size(), 1u);
}

TEST(StaticTrees, BlocksTakeTheTreesInTurnAndTheirRootsDiffer) {
  Choices choices(8);
  choices.config.trees = 4;
  std::set<std::size_t> roots;
  for (std::uint32_t block = 0; block < 100; ++block) {
    EXPECT_EQ(tree_of(choices, block), tree_of(choices, block % 4));
    roots.insert(tree_of(choices, block));
  }
  EXPECT_EQ(roots.size(), 4u);
}

TEST(StaticTrees, MoreTreesThanRootsShareThem) {
  Choices choices(3);
  choices.config.trees = 5;
  std::map<std::size_t, unsigned> hits;
  for (std::uint32_t block = 0; block < 5; ++block) {
    ++hits[tree_of(choices, block)];
    EXPECT_EQ(tree_of(choices, block + 5), tree_of(choices, block));
  }
  EXPECT_EQ(hits.size(), 3u);
}

TEST(StaticTrees, SwitchesWithTheSameSeedAndOrderAgreeWhateverTheirQueues) {
  Choices one(8, 42);
  Choices other(8, 42);
  one.config.trees = other.config.trees = 4;
  other.fill(static_cast<PortIndex>(tree_of(other, 0)), 1000);
  for (std::uint32_t block = 0; block < 100; ++block) {
    EXPECT_EQ(tree_of(one, block), tree_of(other, block));
  }
}

TEST(StaticTrees, TheSeedDrawsEveryRoot) {
  std::map<std::size_t, unsigned> hits;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    Choices choices(4, seed);
    ++hits[tree_of(choices, 0)];
  }
  ASSERT_EQ(hits.size(), 4u);
  for (const auto& [root, count] : hits) {
    EXPECT_NEAR(count, 200, 60) << root;
  }
}

TEST(StaticTrees, ATreeThatIsDownGivesItsBlocksToTheNext) {
  Choices choices(4);
  choices.config.trees = 3;
  const auto last = tree_of(choices, 2);
  choices.set_up(static_cast<PortIndex>(tree_of(choices, 1)), false);
  EXPECT_EQ(tree_of(choices, 1), last);
  EXPECT_EQ(tree_of(choices, 2), last);
}

TEST(StaticTrees, WhereNoTreeIsUpASpareRootServes) {
  Choices choices(4);
  choices.config.trees = 2;
  const auto first = tree_of(choices, 0);
  const auto second = tree_of(choices, 1);
  choices.set_up(static_cast<PortIndex>(first), false);
  EXPECT_EQ(tree_of(choices, 0), second);
  EXPECT_EQ(tree_of(choices, 1), second);
  choices.set_up(static_cast<PortIndex>(second), false);
  const auto spare = tree_of(choices, 0);
  EXPECT_NE(spare, first);
  EXPECT_NE(spare, second);
  choices.set_up(static_cast<PortIndex>(first), true);
  EXPECT_EQ(tree_of(choices, 0), first);
}

}  // namespace
}  // namespace tributary::forwarding
