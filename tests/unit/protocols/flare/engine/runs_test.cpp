// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/runs.h"

#include "fixture.h"

namespace tributary::flare {
namespace {

TEST(Runs, TheLatestIsCurrentAndEightBeforeItAreOver) {
  Runs runs;
  EXPECT_FALSE(runs.is_current(0));
  EXPECT_FALSE(runs.is_over(0));
  for (std::uint32_t run = 100; run < 110; ++run) {
    runs.begin(run);
    EXPECT_TRUE(runs.is_current(run));
    runs.note_sum();
  }
  EXPECT_FALSE(runs.is_over(109));
  for (std::uint32_t run = 101; run < 109; ++run) {
    EXPECT_TRUE(runs.is_over(run)) << run;
  }
  EXPECT_FALSE(runs.is_over(100)) << "forgotten";
}

TEST(Runs, TheOneBeforeIsOverWhenTheCurrentOneHasASum) {
  Runs runs;
  runs.begin(1);
  runs.note_sum();
  runs.begin(2);
  EXPECT_TRUE(runs.was_before(1));
  EXPECT_FALSE(runs.is_over(1));
  runs.note_sum();
  EXPECT_FALSE(runs.was_before(1));
  EXPECT_TRUE(runs.is_over(1));
}

// A late packet does not continue a run.
TEST(Runs, OneThatNeverHadASumEndsNone) {
  Runs runs;
  runs.begin(1);
  runs.note_sum();
  runs.begin(2);
  runs.begin(3);
  EXPECT_TRUE(runs.was_before(1));
  runs.begin(1);
  EXPECT_TRUE(runs.is_current(1));
  runs.note_sum();
  EXPECT_FALSE(runs.is_over(2));
  EXPECT_FALSE(runs.is_over(3));
  runs.begin(4);
  EXPECT_TRUE(runs.was_before(1));
}

class RunsOfATree : public FlareTest {};

TEST_F(RunsOfATree, ANewRunBeginsAtItsFirstBlocksAndEndsTheLast) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  feed(from(tree, 0, 1), Ints{5});
  feed(of_run(from(tree, 0), 2), Ints{10});
  EXPECT_EQ(harness->figure("blocks_gathering"), 1u) << "what gathered was let go of";
  EXPECT_EQ(harness->figure("buffers_in_use"), 1u);
  const auto sent = feed(of_run(from(tree, 1), 2), Ints{20});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).ints(), Ints{30});
  EXPECT_EQ(Seen(sent[0]).header().run.value(), 2u);
}

TEST_F(RunsOfATree, PacketsOfARunThatIsOverAreDropped) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  round(tree, 0, 2);
  expect_drop(from(tree, 0), drop::stale_run);
  expect_drop(again(from(tree, 0)), drop::stale_run);
  expect_drop(as_result(from(tree, 0)), drop::stale_run);
  expect_drop(about(from(tree, 0)), drop::stale_run, {});
  EXPECT_EQ(feed(of_run(as_result(from(tree, 0)), 2)).size(), 2u) << "the new one goes on";
}

// The first block that comes to a core is of one of its flows, and may be the last one of a window.
TEST_F(RunsOfATree, ANewRunMayBeginAsFarOnAsACoreMayNotHaveSeenIt) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  const auto limit = std::uint64_t{tree.window} + wire::flare_flows;
  expect_drop(of_run(from(tree, 0, limit), 2), drop::window);
  EXPECT_EQ(round(tree, 1).size(), 2u) << "nothing has changed";
  EXPECT_EQ(round(tree, limit - 1, 2).size(), 2u);
}

TEST_F(RunsOfATree, NothingButAContributionBeginsARunWhereOneGoesOn) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  expect_drop(of_run(as_result(from(tree, 0)), 2), drop::stale_run);
  expect_drop(of_run(as_result(from(tree, 0), 1), 2), drop::stale_run);
  expect_drop(of_run(about(from(tree, 0)), 2), drop::stale_run, {});
  EXPECT_EQ(feed(as_result(from(tree, 0))).size(), 2u);
}

TEST_F(RunsOfATree, ASwitchThatStartsInTheMiddleTakesTheRunThatComes) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  EXPECT_EQ(round(tree, 5000).size(), 1u);
  start({tree});
  EXPECT_EQ(feed(as_result(from(tree, 0, 5000))).size(), 2u);
  EXPECT_EQ(round(tree, 5001).size(), 1u);
}

// This happens when all ranks refused the first calls: their blocks are left out.
TEST_F(RunsOfATree, AfterSilenceARunMayBeginAnywhere) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  now += 999ms;
  expect_drop(of_run(from(tree, 0, 5000), 2), drop::window);
  now += 1ms;
  EXPECT_EQ(round(tree, 5000, 2).size(), 2u);
  expect_drop(from(tree, 0, 1), drop::stale_run);
}

// The switch knows nothing of the run of a packet that comes late, and takes it up first.
TEST_F(RunsOfATree, TheRunThatGoesOnComesBack) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  feed(of_run(from(tree, 0), 2), Ints{5});
  expect_drop(from(tree, 0, 1), drop::stale_run);
  now += 1s;
  EXPECT_EQ(round(tree, 1).size(), 2u);
  now += 1s;
  EXPECT_EQ(round(tree, 0, 2).size(), 2u) << "it may have been no stray";
  now += 1s;
  expect_drop(from(tree, 0, 2), drop::stale_run);
}

TEST_F(RunsOfATree, AfterALongSilenceAllRunsAreForgotten) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  round(tree, 0, 2);
  expect_drop(from(tree, 0, 1), drop::stale_run);
  now += 10s;
  harness->expire(now);
  EXPECT_EQ(round(tree, 1).size(), 2u);
}

}  // namespace
}  // namespace tributary::flare
