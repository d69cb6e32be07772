// SPDX-License-Identifier: BSD-3-Clause
#include "host/loose/rounds.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "world.h"

namespace tributary::host::test {
namespace {

constexpr std::uint64_t always = 1'000'000;

LooseRule bsp(std::size_t layers) {
  return {true, true, false, 0, layers, always};
}
LooseRule ssp(std::uint64_t staleness, std::size_t proportion) {
  return {false, true, false, staleness, proportion, always};
}
LooseRule dropping(std::uint64_t staleness, std::size_t proportion) {
  return {false, true, true, staleness, proportion, always};
}
LooseRule asp(std::uint64_t catch_up) {
  return {false, false, false, 0, 1, catch_up};
}

using Ranks = std::vector<std::uint32_t>;

TEST(Rounds, BspAddsUpALayerWhenAllHaveIt) {
  World world(3, 2, bsp(2));
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    world.enter(rank, 0);
  }
  world.offer_all(0);
  world[1].offer(1);
  world[2].offer(0);
  world.round();
  EXPECT_EQ(world.sums(), "");
  EXPECT_EQ(world[0].awaited(), (Ranks{1, 2}));
  world[2].offer(1);
  world.round();
  EXPECT_EQ(world.sums(), "1: 0 1 2");
  EXPECT_EQ(world[0].awaited(), Ranks{1});
  world[1].offer(0);
  world.round();
  EXPECT_EQ(world.sums(), "0: 0 1 2");
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    EXPECT_FALSE(world[rank].is_inside());
    world.enter(rank, 1);
  }
}

TEST(Rounds, BspGoesOnWithoutWhoHasClosed) {
  World world(2, 1, bsp(1));
  world.enter(0, 0);
  world.offer_all(0);
  world[1].close();
  world.round();
  EXPECT_EQ(world.sums(), "0: 0");
}

TEST(Rounds, ColayersAreFormedInTheSameRoundOnAllRanks) {
  auto rule = bsp(1);
  rule.regroup = 2;
  World world(2, 1, rule);
  std::string formed;
  const auto round = [&] {
    world.round();
    EXPECT_EQ(world[0].regroups(), world[1].regroups());
    formed += world[0].regroups() ? std::to_string(world[0].colayers_from()) + " " : "- ";
  };
  for (std::uint64_t iteration = 0; iteration < 5; ++iteration) {
    world.enter(0, iteration);
    round();
    world.enter(1, iteration);
    world.offer_all(0);
    world.offer_all(1);
    round();
  }
  EXPECT_EQ(formed, "- - 2 - - - 4 - - - ");
}

// Others may have waited for the rank that offered last.
TEST(Rounds, WhatSumsTookIsTheLeastThatARankWaitedForThem) {
  World world(3, 1, ssp(1, 1));
  world.round();
  EXPECT_EQ(world[0].waited_us(), 0u);
  world.round({}, {300, 0, 200});
  EXPECT_EQ(world[0].waited_us(), 200u);
  EXPECT_EQ(world[2].waited_us(), 200u);
  EXPECT_FALSE(world[0].has_news(true)) << "it is nothing to come to a round for";
}

TEST(Rounds, ARankIsOwedASumUntilOthersHaveItsLayer) {
  World world(2, 1, bsp(1));
  world.enter(0, 0);
  world.enter(1, 0);
  EXPECT_FALSE(world[0].is_owed());
  world.offer_all(0);
  world.round();
  EXPECT_TRUE(world[0].is_owed());
  world.offer_all(1);
  world.round();
  EXPECT_FALSE(world[0].is_owed());
}

TEST(Rounds, ASumIsOfTheLatestIterationInIt) {
  World world(2, 1, ssp(1, 1));
  world.enter(0, 0);
  world.offer_all(0);
  world.round();
  EXPECT_EQ(world[1].sums().front().iteration, 0u);
  world.enter(0, 1);
  world.enter(1, 0);
  world.offer_all(0);
  world.offer_all(1);
  world.round();
  EXPECT_EQ(world.sums(), "0: 0 1");
  EXPECT_EQ(world[1].sums().front().iteration, 1u);
}

TEST(Rounds, SspAddsUpWhatThereIs) {
  World world(3, 2, ssp(1, 2));
  world.enter(0, 0);
  world.enter(2, 0);
  world.offer_all(0);
  world[2].offer(1);
  world.round();
  EXPECT_EQ(world.sums(), "0: 0, 1: 0 2");
  EXPECT_FALSE(world[0].is_inside());
  EXPECT_TRUE(world[2].is_inside());
}

// With one count of iterations two ranks would wait for each other to enter.
TEST(Rounds, SspWithoutStalenessGoesOn) {
  World world(2, 1, ssp(0, 1));
  for (std::uint64_t iteration = 0; iteration < 3; ++iteration) {
    world.enter(0, iteration);
    world.offer_all(0);
    world.round();
    EXPECT_FALSE(world[0].may_enter());
    EXPECT_EQ(world[0].awaited(), Ranks{1});
    world.enter(1, iteration);
    world.offer_all(1);
    world.round();
  }
}

TEST(Rounds, SspLetsNobodyBeFurtherAheadThanItsStaleness) {
  World world(3, 1, ssp(2, 1));
  world.enter(1, 0);
  for (std::uint64_t iteration = 0; iteration < 3; ++iteration) {
    world.iterate(0, iteration);
  }
  EXPECT_FALSE(world[0].may_enter());
  EXPECT_EQ(world[0].awaited(), (Ranks{1, 2}));
  world.iterate(2, 0);
  EXPECT_EQ(world[0].awaited(), Ranks{1});
  world[1].offer(0);
  world.round();
  world.iterate(0, 3);
}

TEST(Rounds, SspTakesAProportionOfTheLayersForAnIteration) {
  World world(2, 4, ssp(0, 3));
  world.enter(1, 0);
  world.iterate(0, 0);
  world[1].offer(0);
  world[1].offer(1);
  world.round();
  EXPECT_FALSE(world[0].may_enter());
  world[1].offer(3);
  world.round();
  world.iterate(0, 1);
  EXPECT_FALSE(world[0].may_enter());
}

TEST(Rounds, WhatIsStaleIsDroppedAndItsRankGoesOnWhereTheFastestIs) {
  World world(3, 2, dropping(1, 2));
  world.enter(2, 0);
  world[2].offer(1);
  for (const std::uint64_t iteration : {0u, 1u}) {
    world.iterate(1, iteration);
  }
  EXPECT_FALSE(world[2].was_dropped());
  world.enter(1, 2);
  world[2].offer(0);
  world.round();
  EXPECT_EQ(world.sums(), "");  // what rank 2 offers counts no more
  EXPECT_TRUE(world[2].was_dropped());
  EXPECT_TRUE(world[2].is_pulling());
  EXPECT_EQ(world[2].awaited(), Ranks{1});
  world.round();
  EXPECT_FALSE(world[1].giver());  // it is busy
  world.offer_all(1);
  world.round();
  EXPECT_FALSE(world[1].may_enter());  // it gives first
  world.round();
  EXPECT_EQ(world[2].giver(), 1u);
  EXPECT_FALSE(world[2].is_pulling());
  world.enter(1, 3);
  world.enter(2, 2);
}

TEST(Rounds, WhoHasTheProportionOfItsLayersInSumsIsNotDropped) {
  World world(2, 4, dropping(0, 2));
  world.enter(1, 0);
  world[1].offer(2);
  world[1].offer(3);
  world.iterate(0, 0);
  world.iterate(0, 1);
  world[1].offer(0);
  world.round();
  EXPECT_EQ(world.sums(), "0: 1");
  EXPECT_FALSE(world[1].was_dropped());
}

TEST(Rounds, AspNeverWaits) {
  World world(2, 1, asp(always));
  world.enter(1, 0);
  for (std::uint64_t iteration = 0; iteration < 100; ++iteration) {
    world.iterate(0, iteration);
  }
  world[1].offer(0);
  world.round();
  EXPECT_EQ(world.sums(), "0: 1");
}

TEST(Rounds, WhoMissesTooManySumsGetsParametersAndItsGradientCounts) {
  World world(2, 1, asp(3));
  world.enter(1, 0);
  world.round();
  for (std::uint64_t iteration = 0; iteration < 5; ++iteration) {
    world.iterate(0, iteration);
  }
  EXPECT_TRUE(world[1].is_pulling());
  world[1].offer(0);
  world.round();
  EXPECT_EQ(world.sums(), "0: 1");
  EXPECT_FALSE(world[1].may_enter());
  world.round();
  EXPECT_FALSE(world[0].giver());  // has just heard of it
  world.round();
  EXPECT_EQ(world[0].giver(), 0u);
  world.enter(1, 1);
}

// A rank does this where it evaluates its model.
TEST(Rounds, WhoMissesSumsBetweenIterationsGetsParametersAsWell) {
  World world(2, 1, asp(3));
  world.iterate(1, 0);
  for (std::uint64_t iteration = 0; iteration < 4; ++iteration) {
    world.iterate(0, iteration);
  }
  EXPECT_FALSE(world[1].is_pulling());
  world.enter(0, 4);
  world.round();
  EXPECT_TRUE(world[1].is_pulling());
  world[0].offer(0);
  world.round();
  world.round();
  EXPECT_EQ(world[1].giver(), 0u);
  world.round();
  EXPECT_FALSE(world[1].is_pulling());  // it is no further behind for that
  world.enter(1, 1);
}

TEST(Rounds, TheMatrixSaysWhoseGradientsAreInSums) {
  World world(3, 2, ssp(5, 2));
  world.enter(1, 0);
  world[1].offer(1);
  world.iterate(0, 0);
  world.iterate(0, 1);
  const auto& gei = world[2].gei();
  EXPECT_EQ(gei.latest(), 1u);
  EXPECT_EQ((*gei.row(0))[0].ranks(), Ranks{0});
  EXPECT_EQ((*gei.row(0))[1].ranks(), (Ranks{0, 1}));
  EXPECT_EQ((*gei.row(1))[1].ranks(), Ranks{0});
  EXPECT_EQ(gei.row(2), nullptr);
  world.enter(0, 2);
  EXPECT_NE(world[0].gei().row(2), nullptr) << "no round was there yet";
}

TEST(Rounds, TheMatrixForgetsOldRows) {
  GeiMatrix gei(2, 1);
  gei.add(0, 0, 1);
  gei.extend_to(GeiMatrix::rows_max);
  EXPECT_EQ(gei.row(0), nullptr);
  EXPECT_EQ(gei.first(), 1u);
  gei.extend_to(5 * GeiMatrix::rows_max);
  EXPECT_EQ(gei.latest(), 5 * GeiMatrix::rows_max);
  gei.add(gei.latest(), 0, 1);
  EXPECT_EQ((*gei.row(gei.latest()))[0].ranks(), Ranks{1});
}

TEST(Rounds, AreOverWhenAllHaveClosed) {
  World world(2, 1, asp(1));
  world[0].close();
  world.round();
  EXPECT_FALSE(world[1].is_over());
  EXPECT_EQ(world[0].awaited(), Ranks{1});
  world.enter(1, 0);
  world[1].close();  // in the middle of it
  world.round();
  EXPECT_TRUE(world[0].is_over());
  EXPECT_TRUE(world[1].is_over());
}

// Rank 1 still applies a sum, which it may fail to do.
TEST(Rounds, AreNotOverBeforeWhoClosesHasAppliedItsSums) {
  World world(2, 1, bsp(1));
  world[0].close();
  world[1].close();
  world.round({1});
  EXPECT_FALSE(world[0].is_over());
  world.round({0});  // what was said is not taken back
  EXPECT_TRUE(world[0].is_over());
  EXPECT_TRUE(world[1].is_over());
}

// Rank 0 trains no more, and applies the sums of those that do.
TEST(Rounds, AreNotOverBeforeWhoHasClosedEarlierHasAppliedTheSumsOfOthers) {
  for (const auto& rule : {bsp(1), ssp(1, 1), dropping(1, 1), asp(1)}) {
    World world(2, 1, rule);
    world[0].close();
    world.round();
    world.enter(1, 0);
    world.offer_all(1);
    world.round();
    ASSERT_EQ(world.sums(), "0: 1");
    world[1].close();
    world.round({0});
    EXPECT_FALSE(world[0].is_over());
    EXPECT_FALSE(world[1].is_over());
    EXPECT_FALSE(world[0].has_news(false)) << "what it has not applied is nothing to hurry for";
    EXPECT_TRUE(world[0].has_news(true));
    world.round();
    EXPECT_TRUE(world[0].is_over());
    EXPECT_TRUE(world[1].is_over());
  }
}

// A rank closes while it still applies sums that came before it fell behind.
TEST(Rounds, AreNotOverBeforeWhoIsBehindHasParameters) {
  World world(2, 1, asp(1));
  world.enter(1, 0);
  for (std::uint64_t iteration = 0; iteration < 3; ++iteration) {
    world.iterate(0, iteration);
  }
  ASSERT_TRUE(world[1].is_pulling());
  world[0].close();
  world[1].close();
  world.round({1});
  EXPECT_FALSE(world[0].is_over());
  EXPECT_FALSE(world[1].is_over());
  world.round();
  world.round();
  EXPECT_EQ(world[1].giver(), 0u);
  EXPECT_FALSE(world[1].is_pulling());
  EXPECT_TRUE(world[0].is_over());
  EXPECT_TRUE(world[1].is_over());
}

TEST(Rounds, WordsThatNoRankHasAreRefused) {
  const auto refused = [](std::size_t word, std::uint64_t value) {
    Rounds rounds(0, 2, 1, asp(1));
    const auto words = rounds.speak(false);
    words[word] |= value;
    return !rounds.hear();
  };
  EXPECT_FALSE(refused(4, 1));  // rank 1 has entered one, ...
  EXPECT_TRUE(refused(0, 1));   // ... and this rank has not
  EXPECT_TRUE(refused(4, 2));
  EXPECT_TRUE(refused(5, 1));
  EXPECT_TRUE(refused(6, 1));  // wants
  EXPECT_FALSE(refused(6, 4));
  EXPECT_TRUE(refused(6, 8));  // it has applied all sums, and has not closed
  EXPECT_TRUE(refused(7, 1));  // a gradient of no iteration
}

}  // namespace
}  // namespace tributary::host::test
