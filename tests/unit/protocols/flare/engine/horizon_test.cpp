// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/horizon.h"

#include <limits>

#include "sparse_fixture.h"

namespace tributary::flare {
namespace {

// The window is 4: the tree has 8 slots, in which the blocks of 8 flows are.
class FlareHorizon : public SparseTest {
 protected:
  static constexpr std::uint64_t far = std::uint64_t{1} << 62;

  // A faulty rank sends a block for each slot.
  void spoil(const TreeConfig& tree, PortIndex child) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      feed(from(tree, child, far + i));
    }
  }
};

TEST_F(FlareHorizon, NoBlockGivesWayToOneThatCannotBeInFlight) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  feed(from(tree, 0, 1));
  for (std::uint64_t i = 0; i < 8; ++i) {
    expect_drop(from(tree, 1, far + i), drop::window);
  }
  EXPECT_EQ(feed(from(tree, 1, 1)).size(), 2u);
}

// While nothing is in flight, numbers may be left out; but what comes of it proves nothing.
TEST_F(FlareHorizon, BlocksInFlightTakeTheirSlotsBack) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  now += 1s;
  spoil(tree, 1);
  EXPECT_EQ(harness->figure("blocks_gathering"), 8u);
  for (std::uint64_t block = 1; block < 20; ++block) {
    EXPECT_EQ(round(tree, block).size(), 2u) << block;
    expect_drop(from(tree, 1, far + block), drop::window);
  }
  EXPECT_EQ(harness->drops(drop::stale), 0u);
}

// What was in flight around the first packet still is when somebody tells the result of an old
// block.
TEST_F(FlareHorizon, AnOldResultIsNoBoundAfterARestart) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  feed(from(tree, 0, 27));
  feed(as_result(from(tree, 0, 22)), Ints{1});
  feed(from(tree, 0, 31));
  EXPECT_EQ(harness->figure("blocks_gathering"), 2u);
  EXPECT_EQ(harness->drops(drop::window), 0u);
}

TEST_F(FlareHorizon, AResultProvesThatAWindowBehindItIsNothingToWaitFor) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 20);
  expect_drop(from(tree, 0, 16), drop::stale);
  feed(from(tree, 0, 17));
  EXPECT_EQ(harness->figure("blocks_gathering"), 1u) << "all but this one may be there";
  expect_drop(from(tree, 0, 29), drop::window);
  feed(from(tree, 0, 28));
  EXPECT_EQ(harness->figure("blocks_gathering"), 2u) << "a core may own one flow of eight";
}

// With a small window some blocks that cannot be in flight look as if they were.
TEST_F(FlareHorizon, OfTwoBlocksOfASlotTheFirstKeepsItForASecond) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 20);
  feed(from(tree, 0, 19));
  expect_drop(from(tree, 1, 27), drop::window);
  feed(from(tree, 1, 26));
  expect_drop(from(tree, 0, 18), drop::stale);
  EXPECT_EQ(round(tree, 19).size(), 2u);
  now += 1s;
  EXPECT_EQ(round(tree, 18).size(), 2u) << "it is in flight, and 26 is a faulty rank's";
}

TEST_F(FlareHorizon, ASwitchThatHasForgottenAllTakesUpWhatComes) {
  const auto tree = root_of(2);
  start({tree});
  feed(from(tree, 0, far));
  feed(from(tree, 1, far - 7));
  feed(from(tree, 1, far + 7));
  EXPECT_EQ(harness->figure("blocks_gathering"), 3u);
  expect_drop(from(tree, 1, far + 8), drop::window);
  expect_drop(from(tree, 1, far - 8), drop::stale);
}

// It was a stranger's block, perhaps.
TEST_F(FlareHorizon, TheFirstBlockOfAllIsNotBelievedForEver) {
  const auto tree = root_of(2);
  start({tree});
  spoil(tree, 1);
  expect_drop(from(tree, 0, 7), drop::stale);
  now += 1s;
  for (std::uint64_t block = 7; block < 20; ++block) {
    EXPECT_EQ(round(tree, block).size(), 2u) << block;
  }
}

TEST_F(FlareHorizon, ARunThatBeginsWhereOneGoesOnBeginsWithItsFirstBlocks) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 1000);
  feed(of_run(from(tree, 1, 67), 2));
  expect_drop(of_run(from(tree, 1, 68), 2), drop::window);
  EXPECT_EQ(round(tree, 2, 2).size(), 2u) << "whatever came first";
}

TEST_F(FlareHorizon, AfterSilenceNumbersMayBeLeftOut) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  feed(from(tree, 0, 1));
  now += 999ms;
  expect_drop(from(tree, 0, 500), drop::window);
  now += 1ms;
  for (std::uint64_t block = 500; block < 520; ++block) {
    EXPECT_EQ(round(tree, block).size(), 2u) << block;
  }
  expect_drop(from(tree, 1, 1), drop::stale);
}

TEST_F(FlareHorizon, WhatIsInFlightAndComesAgainIsNoSilence) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  for (int i = 0; i < 10; ++i) {
    feed(again(from(tree, 0, 1)));
    now += 500ms;
    expect_drop(from(tree, 1, 500), drop::window);
  }
}

TEST_F(FlareHorizon, ResultsAndInquiriesAreNotTakenBeyondItEither) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  EXPECT_EQ(feed(as_result(from(tree, 0))).size(), 2u);
  expect_drop(as_result(from(tree, 0, far)), drop::window);
  expect_drop(about(from(tree, 0, far)), drop::window, {});
}

TEST_F(FlareHorizon, ThereIsOneForSparseBlocks) {
  const auto tree = with_sparse_window(root_of(2));
  start({tree});
  sparse_round(tree, 0);
  feed(sparse_from(tree, 0, 1));
  for (std::uint64_t i = 0; i < 4; ++i) {
    expect_drop(sparse_from(tree, 1, far + i), drop::window);
  }
  EXPECT_EQ(feed(sparse_from(tree, 1, 1)).size(), 2u);
  EXPECT_EQ(round(tree, 7).size(), 2u) << "dense blocks have numbers of their own";
}

TEST_F(FlareHorizon, NumbersDoNotGoRound) {
  const auto tree = root_of(2);
  start({tree});
  const auto last = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(round(tree, last).size(), 2u);
  expect_drop(from(tree, 0, 0), drop::stale);
  EXPECT_EQ(round(tree, last - 1).size(), 2u);
}

}  // namespace
}  // namespace tributary::flare
