// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/expectations.h"

#include <gtest/gtest.h>

namespace tributary::canary {
namespace {

using namespace std::chrono_literals;

constexpr wire::Ipv4Address leader{10, 0, 0, 1};
constexpr wire::Ipv4Address other{10, 0, 1, 1};

TEST(Spread, FollowsRfc6298) {
  Spread spread;
  EXPECT_FALSE(spread.known());
  spread.add(800us);
  EXPECT_TRUE(spread.known());
  EXPECT_EQ(spread.bound(), 800us + 4 * 400us);
  spread.add(1600us);  // deviation 3/4 * 400 + 1/4 * 800, mean 7/8 * 800 + 1/8 * 1600
  EXPECT_EQ(spread.bound(), 900us + 4 * 500us);
}

TEST(Spread, SettlesOnWhatDoesNotChange) {
  Spread spread;
  spread.add(10ms);
  for (int i = 0; i < 100; ++i) {
    spread.add(1ms);
  }
  EXPECT_NEAR(static_cast<double>(spread.bound().count()), 1e6, 5e3);
}

TEST(Spread, RemembersWindowsOfBlocksIfItIsToldTo) {
  Spread brief;
  Spread windows;
  for (auto* spread : {&brief, &windows}) {
    spread->add(10ms);
    for (int i = 0; i < 32; ++i) {
      spread->add(1ms, spread == &brief ? Spread::Memory::brief : Spread::Memory::windows);
    }
  }
  EXPECT_LT(brief.bound(), 3ms);
  EXPECT_GT(windows.bound(), 10ms);
}

TEST(Spread, IsStretchedByWhatItDoesNotCover) {
  Spread spread;
  spread.add(100us);
  const auto before = spread.bound();
  spread.stretch(before);
  EXPECT_EQ(spread.bound(), before);
  spread.stretch(10ms);
  EXPECT_GE(spread.bound(), 10ms);
}

TEST(Expectations, NothingIsExpectedOfAStranger) {
  const Expectations expectations;
  EXPECT_EQ(expectations.of(0, wire::Ipv4Address{}).contributions, 0u);
  EXPECT_EQ(expectations.of(1, leader).contributions, 0u);
  EXPECT_FALSE(expectations.of(1, leader).spread.known());
}

TEST(Expectations, LearnsPerJobAndLeader) {
  Expectations expectations;
  expectations.learn(1, leader, false, {3, 5us});
  expectations.learn(1, other, false, {4, 5us});
  EXPECT_EQ(expectations.of(1, leader).contributions, 3u);
  EXPECT_EQ(expectations.of(1, other).contributions, 4u);
  EXPECT_EQ(expectations.of(2, leader).contributions, 0u);
}

TEST(Expectations, UnknownLeaderIsExpectedToBeLikeTheOthersButNotLikeAnOwnHost) {
  Expectations expectations;
  expectations.learn(1, leader, true, {7, 5us});
  EXPECT_EQ(expectations.of(1, other).contributions, 0u);
  expectations.learn(1, leader, false, {3, 5us});
  EXPECT_EQ(expectations.of(1, other).contributions, 3u);
}

// A spine gets more for leaders in its own pod than for those in others; a guess that is too high
// would have blocks wait.
TEST(Expectations, UnknownLeaderIsExpectedToGetTheFewestOfTheOthers) {
  constexpr wire::Ipv4Address unknown{10, 0, 2, 1};
  Expectations expectations;
  expectations.learn(1, leader, false, {3, 5us});
  expectations.learn(1, other, false, {9, 5us});
  EXPECT_EQ(expectations.of(1, other).contributions, 9u);
  EXPECT_EQ(expectations.of(1, unknown).contributions, 3u);
}

// Leaves move single blocks away from crowded queues: a spine sees the contributions of one leaf.
TEST(Expectations, SingleBlocksWithFewerDoNotCountForUnknownLeaders) {
  constexpr wire::Ipv4Address unknown{10, 0, 2, 1};
  Expectations expectations;
  for (int block = 0; block < 4096; ++block) {
    const bool single = block % 32 == 20;
    expectations.learn(1, leader, false, {single ? 1 + block / 32 % 4u : 9, 5us});
    ASSERT_EQ(expectations.of(1, unknown).contributions, 9u) << block;
  }
}

TEST(Expectations, ASixteenthOfTheBlocksCountsForUnknownLeaders) {
  constexpr wire::Ipv4Address unknown{10, 0, 2, 1};
  Expectations expectations;
  for (int block = 0; block < 4096; ++block) {
    expectations.learn(1, leader, false, {block % 16 == 0 ? 3u : 9, 5us});
  }
  EXPECT_EQ(expectations.of(1, unknown).contributions, 3u);
}

TEST(Expectations, TheFewestAreForgottenWhenTheyDoNotComeAgain) {
  constexpr wire::Ipv4Address unknown{10, 0, 2, 1};
  Expectations expectations;
  const auto learn = [&expectations](std::uint32_t contributions, int blocks) {
    for (int block = 0; block < blocks; ++block) {
      expectations.learn(1, leader, false, {contributions, 5us});
    }
  };
  learn(3, 4096);
  learn(9, 1024);
  EXPECT_EQ(expectations.of(1, unknown).contributions, 3u);
  learn(9, 2048);
  EXPECT_EQ(expectations.of(1, unknown).contributions, 9u);
  learn(3, 64);  // and are known again soon
  EXPECT_EQ(expectations.of(1, unknown).contributions, 3u);
}

TEST(Expectations, LateContributionTellsOfTheTimeAndNothingOfTheNumber) {
  Expectations expectations;
  expectations.learn_late(1, leader, 4ms);
  EXPECT_GE(expectations.of(1, leader).spread.bound(), 4ms);
  EXPECT_GE(expectations.of(1, other).spread.bound(), 4ms);
  EXPECT_EQ(expectations.of(1, leader).contributions, 0u);
  expectations.learn(1, leader, false, {3, 5us});
  expectations.learn_late(1, other, 40ms);
  EXPECT_GE(expectations.of(1, other).spread.bound(), 40ms);
  EXPECT_EQ(expectations.of(1, other).contributions, 3u);
}

TEST(Expectations, BlockWithoutASpreadOfItsOwnTeachesTheNumber) {
  Expectations expectations;
  expectations.learn(1, leader, false, {3, 5us});
  expectations.learn(1, other, false, {2});
  EXPECT_EQ(expectations.of(1, other).contributions, 2u);
  EXPECT_EQ(expectations.of(1, other).spread.bound(), expectations.of(1, leader).spread.bound());
}

}  // namespace
}  // namespace tributary::canary
