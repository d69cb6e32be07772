// SPDX-License-Identifier: BSD-3-Clause
// Tests buffers: how many a block needs, when it releases them, and what happens when there are
// none.
#include "fixture.h"

namespace tributary::flare {
namespace {

using Halves = std::vector<std::uint16_t>;

class FlareMemory : public FlareTest {
 protected:
  std::uint64_t in_use() const { return harness->figure("buffers_in_use"); }
};

TEST_F(FlareMemory, ABlockHasASingleBufferOrOneForEachChildThatWaits) {
  auto tree = root_of(4);
  start({tree});
  feed(from(tree, 1));
  feed(from(tree, 2));
  EXPECT_EQ(in_use(), 1u);
  tree.reproducible = true;
  start({tree});
  feed(from(tree, 1));
  feed(from(tree, 2));
  EXPECT_EQ(in_use(), 2u);
  feed(from(tree, 3));
  EXPECT_EQ(in_use(), 2u) << "2 and 3 are together";
  feed(from(tree, 0));
  EXPECT_EQ(in_use(), 1u) << "the result is kept";
  EXPECT_EQ(harness->figure("buffers_high_water"), 3u);
}

TEST_F(FlareMemory, HalvesTakeTwoBuffersUntilTheyAreAddedUp) {
  const auto tree = root_of(2);
  start({tree});
  auto spec = from(tree, 0);
  spec.type = wire::ElementType::f16;
  feed(spec, Halves{0x3c00});
  EXPECT_EQ(in_use(), 2u);
  spec.ingress = 1;
  EXPECT_EQ(feed(spec, Halves{0x3c00}).size(), 2u);
  EXPECT_EQ(in_use(), 1u);
}

TEST_F(FlareMemory, WhatFindsNoBufferIsDroppedAndARepeatMendsIt) {
  const auto tree = root_of(2);
  start({tree});
  auto spec = from(tree, 0);
  spec.type = wire::ElementType::f16;
  auto packet = test::make_flare(pool, spec, Halves{0x3c00});
  auto all = drain();
  expect_drop(std::move(packet), DropReason::no_buffer);
  EXPECT_EQ(harness->figure("blocks_gathering"), 0u);
  EXPECT_EQ(in_use(), 0u);
  all.clear();
  feed(again(spec), Halves{0x3c00});
  spec.ingress = 1;
  const auto sent = feed(spec, Halves{0x3c00});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).elements<std::uint16_t>(), Halves{0x4000});
}

TEST_F(FlareMemory, WhatWaitsIsNotHarmedByOneThatFindsNoBuffer) {
  const auto tree = reproducible(root_of(2));
  start({tree});
  auto spec = from(tree, 0);
  spec.type = wire::ElementType::f16;
  feed(spec, Halves{0x3c00});
  spec.ingress = 1;
  auto packet = test::make_flare(pool, spec, Halves{0x3c00});
  auto all = drain();
  expect_drop(std::move(packet), DropReason::no_buffer);
  EXPECT_EQ(harness->figure("blocks_gathering"), 1u);
  all.clear();
  EXPECT_EQ(feed(again(spec), Halves{0x3c00}).size(), 2u);
}

TEST_F(FlareMemory, ACopyThatFindsNoBufferIsLostAlone) {
  const auto tree = root_of(3);
  start({tree});
  feed(from(tree, 0), Ints{1});
  feed(from(tree, 1), Ints{2});
  auto packet = test::make_flare(pool, from(tree, 2), Ints{3});
  auto all = drain();
  all.pop_back();
  const auto sent = feed(std::move(packet));
  EXPECT_EQ(ports_of(sent, FlareKind::result), (Ports{0, 1})) << "in the last one and the packet";
  EXPECT_EQ(harness->losses(DropReason::no_buffer), 1u);
  all.clear();
  EXPECT_EQ(ports_of(feed(again(from(tree, 2))), FlareKind::result), Ports{2});
}

TEST_F(FlareMemory, ASlotIsTakenOverByALaterBlock) {
  const auto tree = root_of(2);
  start({tree});
  const auto slots = std::uint64_t{2} * tree.window;
  for (std::uint64_t block = 0; block < slots; ++block) {
    EXPECT_EQ(round(tree, block).size(), 2u);
  }
  EXPECT_EQ(in_use(), slots) << "all results are kept";
  EXPECT_EQ(round(tree, slots).size(), 2u);
  EXPECT_EQ(in_use(), slots);
  feed(from(tree, 0, slots + 1));
  EXPECT_EQ(in_use(), slots) << "a buffer that fills, in place of a result";
  now += 1s;
  feed(from(tree, 0, 5 * slots + 1));
  EXPECT_EQ(in_use(), slots) << "what gathers is let go of, too";
  EXPECT_EQ(harness->figure("blocks_gathering"), 1u);
  feed(from(tree, 1, 5 * slots + 1));
  expect_drop(from(tree, 1, slots + 1), drop::stale);
}

// The memory that is reserved for a tree is rounded up in the same way.
TEST_F(FlareMemory, ATreeHasTwoWindowsOfSlotsRoundedUpToAPowerOfTwo) {
  auto tree = root_of(2);
  tree.window = 5;
  EXPECT_EQ(buffers_of(tree), 16 * buffers_per_sum_max);
  start({tree});
  for (std::uint64_t block = 0; block < 17; ++block) {
    EXPECT_EQ(round(tree, block).size(), 2u);
  }
  EXPECT_EQ(in_use(), 16u);
  expect_drop(again(from(tree, 0, 0)), drop::stale);
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 1))), FlareKind::result), Ports{0});
}

TEST_F(FlareMemory, ATreeThatIsSilentLetsGoOfAllItHas) {
  const auto a = root_of(2, 7);
  const auto b = root_of(2, 8);
  start({a, b});
  EXPECT_EQ(engine->deadline(), never);
  round(a, 0);
  feed(from(a, 0, 1));
  now += 5s;
  round(b, 0);
  EXPECT_EQ(in_use(), 3u);
  EXPECT_EQ(harness->figure("trees_active"), 2u);
  EXPECT_LE(engine->deadline(), now + 1s);
  now += 5s;
  harness->expire(now);
  EXPECT_EQ(in_use(), 1u) << "of the other tree";
  EXPECT_EQ(harness->figure("blocks_gathering"), 0u);
  EXPECT_EQ(harness->figure("trees_active"), 1u);
  EXPECT_LE(engine->deadline(), now + 1s);
  now += 5s;
  harness->expire(now);
  EXPECT_EQ(in_use(), 0u);
  EXPECT_EQ(engine->deadline(), never);
  EXPECT_EQ(ports_of(feed(again(from(a, 0, 1))), FlareKind::inquiry), Ports{1});
  EXPECT_EQ(feed(from(a, 1, 1)).size(), 2u) << "it goes on";
}

TEST_F(FlareMemory, TreesComeAndGoAndTheOthersKeepTheirBlocks) {
  const auto a = root_of(2, 7);
  const auto b = root_of(2, 8);
  start({a, b});
  feed(from(a, 0), Ints{1});
  feed(from(b, 0), Ints{1});
  const auto c = root_of(2, 9);
  config.trees = {b, c};
  EXPECT_TRUE(engine->reconfigure(config));
  EXPECT_EQ(in_use(), 1u);
  expect_drop(from(a, 1), drop::no_tree);
  EXPECT_EQ(feed(from(b, 1)).size(), 2u);
  EXPECT_EQ(round(c, 0).size(), 2u);
  EXPECT_EQ(harness->figure("contributions_total"), 5u) << "with those of the tree that is gone";
  config.trees = {reproducible(b), c};
  EXPECT_TRUE(engine->reconfigure(config));
  EXPECT_EQ(ports_of(feed(again(from(b, 1))), FlareKind::inquiry), Ports{0}) << "it is another one";
}

TEST_F(FlareMemory, OperatorsSeeWhatGathersAndWhoIsMissing) {
  const auto tree = root_of(3);
  start({tree});
  round(tree, 4);
  feed(from(tree, 1, 5));
  now += 1s;
  const auto rows = engine->descriptors(now, 10);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].job, 7u);
  EXPECT_EQ(rows[0].id, 5u);
  EXPECT_EQ(rows[0].counter, 1u);
  EXPECT_EQ(rows[0].hosts, 3u);
  EXPECT_EQ(rows[0].age, 1s);
  EXPECT_EQ(rows[0].children, Ports{1});
  EXPECT_TRUE(engine->descriptors(now, 0).empty());
  const auto stalls = engine->stalled(now, 10);
  ASSERT_EQ(stalls.size(), 1u);
  EXPECT_EQ(stalls[0].block, 5u);
  EXPECT_EQ(stalls[0].waiting, 1s);
  EXPECT_EQ(stalls[0].missing_ports, (Ports{0, 2}));
  EXPECT_TRUE(engine->stalled(now - 600ms, 10).empty());
  const auto jobs = engine->jobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].contributions, 4u);
  EXPECT_EQ(jobs[0].results, 1u);
  EXPECT_EQ(jobs[0].descriptors, 1u);
  const auto trees = engine->trees();
  ASSERT_EQ(trees.size(), 1u);
  EXPECT_TRUE(trees[0].active);
  EXPECT_EQ(trees[0].used, now - 1s);
  EXPECT_EQ(figure_of(trees[0], "window"), 4u);
  EXPECT_EQ(figure_of(trees[0], "blocks_gathering"), 1u);
}

}  // namespace
}  // namespace tributary::flare
