// SPDX-License-Identifier: BSD-3-Clause
#include "engine/waiting_blocks.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::engine {
namespace {

using namespace std::chrono_literals;

struct TreeOfBlocks {
  TreePlace place;
  std::vector<WaitingBlock> blocks;

  const TreePlace& config() const { return place; }
  std::uint64_t key() const { return place.job; }
};

std::vector<WaitingBlock> waiting_in(const TreeOfBlocks& tree) {
  return tree.blocks;
}

constexpr Time now{2s};

// Job 5 has two blocks, one of which has waited for long, and job 6 has one.
TreeTable<TreeOfBlocks> two_trees() {
  TreePlace place;
  place.job = 5;
  place.group = wire::Ipv4Address(0xefc00001);
  place.children = {7, 3, 9};
  place.workers = 12;
  TreeTable<TreeOfBlocks> trees;
  trees.add(std::make_unique<TreeOfBlocks>(
      TreeOfBlocks{place, {{40, 8, 0b101, now - 10ms, 2, true}, {41, 4, 0b010, now - 600ms}}}));
  place.job = 6;
  trees.add(std::make_unique<TreeOfBlocks>(TreeOfBlocks{place, {{1, 4, 0b001, now - 1s}}}));
  return trees;
}

TEST(WaitingBlocks, AreDescribedWithThePortsByWhichContributionsCame) {
  const auto trees = two_trees();
  const auto rows = descriptors_of(trees, waiting_in, now, 10);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].job, 5u);
  EXPECT_EQ(rows[0].id, 40u);
  EXPECT_EQ(rows[0].counter, 8u);
  EXPECT_EQ(rows[0].hosts, 12u);
  EXPECT_EQ(rows[0].age, 10ms);
  EXPECT_EQ(rows[0].leader, wire::Ipv4Address(0xefc00001));
  EXPECT_EQ(rows[0].children, (std::vector<PortIndex>{7, 9}));
  EXPECT_TRUE(rows[0].sparse);
  EXPECT_FALSE(rows[1].sparse);
  EXPECT_EQ(rows[2].job, 6u);
}

TEST(WaitingBlocks, ThatWaitForLongAreStalledAtThePortsThatAreMissing) {
  const auto trees = two_trees();
  const auto rows = stalls_of(trees, waiting_in, now, 10);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].job, 5u);
  EXPECT_EQ(rows[1].block, 41u);
  EXPECT_EQ(rows[1].contributions, 4u);
  EXPECT_EQ(rows[1].hosts, 12u);
  EXPECT_EQ(rows[1].waiting, 600ms);
  EXPECT_EQ(rows[1].missing_ports, (std::vector<PortIndex>{7, 9}));
  EXPECT_EQ(stalls_of(trees, waiting_in, now - 550ms, 10).size(), 0u);
}

TEST(WaitingBlocks, AreNoMoreThanWereAskedFor) {
  const auto trees = two_trees();
  EXPECT_EQ(descriptors_of(trees, waiting_in, now, 2).size(), 2u);
  EXPECT_EQ(stalls_of(trees, waiting_in, now, 1).size(), 1u);
}

TEST(WaitingBlocks, ThatWaitLongestAreNotLeftOut) {
  const auto trees = two_trees();
  const auto rows = stalls_of(trees, waiting_in, now, 1);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].job, 6u);  // of the last tree
}

}  // namespace
}  // namespace tributary::engine
