// SPDX-License-Identifier: BSD-3-Clause
// Tests buffers of sparse blocks: there are never more than are reserved, and none is lost.
#include "sparse_fixture.h"

namespace tributary::flare {
namespace {

class SparseMemory : public SparseTest {
 protected:
  std::uint64_t in_use() const { return harness->figure("buffers_in_use"); }

  // Feeds a child's contribution with every offset, without its last shard.
  void fill(const TreeConfig& tree, PortIndex child, std::uint64_t block) {
    for (std::uint8_t shard = 0; shard < 52; ++shard) {
      Pairs pairs;
      for (std::uint16_t i = 0; i < 10 && shard * 10 + i < 512; ++i) {
        pairs.emplace_back(static_cast<std::uint16_t>(shard * 10 + i), 1);
      }
      feed(as_shard(sparse_from(tree, child, block), shard), pairs);
    }
  }
  void fill_result(const TreeConfig& tree, std::uint64_t block, std::uint64_t edition) {
    for (std::uint8_t shard = 0; shard < 31; ++shard) {
      feed(as_result(sparse_from(tree, 0, block), shard, 32, edition));
    }
  }
};

TEST_F(SparseMemory, NoMoreIsInUseThanIsSetAside) {
  const auto tree = with_sparse_window(leaf_of(2, 4), 3);
  start({tree});
  const std::uint64_t slots = 8;
  EXPECT_EQ(buffers_of(tree) - buffers_of(leaf_of(2, 4)), slots * buffers_per_sparse_block_max);
  for (std::uint64_t block = 0; block < slots; ++block) {
    fill(tree, 0, block);
    fill_result(tree, block, 7);
  }
  EXPECT_EQ(in_use(), slots * (16 + 32 + 31)) << "spills, the array, and of a result";
  for (std::uint64_t block = 0; block < slots; ++block) {
    for (const auto child : tree.children) {
      const std::uint8_t last = child == 0 ? 52 : 0;
      feed(as_shard(sparse_from(tree, child, block), last, static_cast<std::uint8_t>(last + 1)));
    }
  }
  EXPECT_EQ(harness->figure("sparse_sums_total"), slots);
  EXPECT_LE(in_use(), slots * (16 + 32 + 31)) << "runs of which all was spilled are left out";
  EXPECT_LE(harness->figure("buffers_high_water"), slots * buffers_per_sparse_block_max);
  for (std::uint64_t block = 0; block < slots; ++block) {
    feed(as_result(sparse_from(tree, 0, block), 31, 32, 7));
  }
  EXPECT_EQ(in_use(), slots * 32) << "the result alone";
}

TEST_F(SparseMemory, ALaterBlockTakesTheSlotOver) {
  const auto tree = with_sparse_window(root_of(2));
  start({tree});
  for (std::uint64_t block = 0; block < 4; ++block) {
    EXPECT_EQ(sparse_round(tree, block).size(), 2u);
  }
  EXPECT_EQ(in_use(), 4u);
  EXPECT_EQ(sparse_round(tree, 4).size(), 2u);
  EXPECT_EQ(in_use(), 4u);
  now += 1s;
  feed(sparse_from(tree, 0, 1001));
  EXPECT_EQ(in_use(), 3u + 32) << "after a gap in the numbers";
  expect_drop(sparse_from(tree, 1, 1), drop::stale);
  EXPECT_EQ(sparse_ports_of(feed(again(sparse_from(tree, 0, 2))), FlareKind::result), Ports{0});
}

TEST_F(SparseMemory, ATreeThatIsSilentLetsGoOfAllItHas) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  fill(tree, 0, 0);
  fill_result(tree, 0, 7);
  sparse_round(tree, 1);
  EXPECT_GT(in_use(), 0u);
  EXPECT_EQ(harness->figure("trees_active"), 1u);
  now += 10s;
  harness->expire(now);
  EXPECT_EQ(in_use(), 0u);
  EXPECT_EQ(harness->figure("sparse_blocks_gathering"), 0u);
  EXPECT_EQ(engine->deadline(), never);
  EXPECT_EQ(sparse_round(tree, 2).size(), 1u) << "it goes on";
}

TEST_F(SparseMemory, ATreeThatGoesTakesItsBlocksWithIt) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  fill(tree, 0, 0);
  config.trees = {};
  EXPECT_TRUE(engine->reconfigure(config));
  EXPECT_EQ(in_use(), 0u);
  EXPECT_GT(harness->figure("sparse_spills_total"), 0u) << "is not forgotten";
}

TEST_F(SparseMemory, OperatorsSeeWhatGathersAndWhoIsMissing) {
  const auto tree = with_sparse_window(root_of(3));
  start({tree});
  sparse_round(tree, 4);
  feed(sparse_from(tree, 1, 5));
  feed(as_shard(sparse_from(tree, 2, 5), 0));
  now += 1s;
  const auto rows = engine->descriptors(now, 10);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].id, 5u);
  EXPECT_EQ(rows[0].counter, 1u);
  EXPECT_EQ(rows[0].age, 1s);
  EXPECT_EQ(rows[0].children, Ports{1});
  const auto stalls = engine->stalled(now, 10);
  ASSERT_EQ(stalls.size(), 1u);
  EXPECT_EQ(stalls[0].missing_ports, (Ports{0, 2})) << "of whom something is missing";
  EXPECT_EQ(engine->jobs().at(0).contributions, 5u);
  EXPECT_EQ(engine->jobs().at(0).descriptors, 1u);
  const auto status = engine->trees().at(0);
  EXPECT_EQ(figure_of(status, "sparse_window"), 2u);
  EXPECT_EQ(figure_of(status, "sparse_blocks_gathering"), 1u);
  EXPECT_EQ(figure_of(status, "blocks_gathering"), 0u);
}

TEST_F(SparseMemory, OperatorsTellDenseBlocksFromSparseOnesOfTheSameNumber) {
  const auto tree = with_sparse_window(root_of(2));
  start({tree});
  feed(from(tree, 0, 1));
  feed(sparse_from(tree, 1, 1));
  now += 1s;
  const auto rows = engine->descriptors(now, 10);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_FALSE(rows[0].sparse);
  EXPECT_TRUE(rows[1].sparse);
  const auto stalls = engine->stalled(now, 10);
  ASSERT_EQ(stalls.size(), 2u);
  EXPECT_FALSE(stalls[0].sparse);
  EXPECT_EQ(stalls[0].missing_ports, Ports{1});
  EXPECT_TRUE(stalls[1].sparse);
  EXPECT_EQ(stalls[1].missing_ports, Ports{0});
}

}  // namespace
}  // namespace tributary::flare
