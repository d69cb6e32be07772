// SPDX-License-Identifier: BSD-3-Clause
#include "host/congestion_window.h"

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

constexpr std::uint32_t plenty = 10'000;

// Gives a whole window of results, of which the first `marked` are marked.
void round(CongestionWindow& window, std::uint32_t marked, std::uint32_t cap = plenty) {
  const auto size = window.size();
  for (std::uint32_t i = 0; i < size; ++i) {
    window.result(i < marked, cap);
  }
}

CongestionWindow window_of_32() {
  CongestionWindow window(true);
  for (int i = 0; i < 4; ++i) {
    round(window, 0);
  }
  return window;
}

TEST(CongestionWindow, StartsWithTwoAndDoublesUpToTheThreshold) {
  CongestionWindow window(true);
  EXPECT_EQ(window.size(), 2u);
  EXPECT_EQ(window.ssthresh(), 64);
  EXPECT_EQ(window.alpha(), 1);
  for (const auto size : {4u, 8u, 16u, 32u, 64u, 65u, 66u}) {
    round(window, 0);
    EXPECT_EQ(window.size(), size);
  }
}

TEST(CongestionWindow, GrowsOnlyWhenAWholeWindowIsIn) {
  CongestionWindow window(true);
  round(window, 0);
  for (int i = 0; i < 3; ++i) {
    window.result(false, plenty);
    EXPECT_EQ(window.size(), 4u);
  }
  window.result(false, plenty);
  EXPECT_EQ(window.size(), 8u);
}

TEST(CongestionWindow, ShrinksByHalfOfTheMarkedShare) {
  auto window = window_of_32();
  ASSERT_EQ(window.size(), 32u);
  const double unmarked = 15.0 * 15 * 15 * 15 / (16.0 * 16 * 16 * 16);
  EXPECT_DOUBLE_EQ(window.alpha(), unmarked);
  round(window, 8);
  const double alpha = unmarked * 15 / 16 + 8.0 / 32 / 16;
  EXPECT_DOUBLE_EQ(window.alpha(), alpha);
  EXPECT_DOUBLE_EQ(window.cwnd(), 32 * (1 - alpha / 2));
  EXPECT_DOUBLE_EQ(window.ssthresh(), window.cwnd());
  const auto before = window.cwnd();
  round(window, 0);  // beyond the threshold: one by one, and from marks that are counted anew
  EXPECT_DOUBLE_EQ(window.cwnd(), before + 1);
}

TEST(CongestionWindow, NeverFallsBelowOne) {
  CongestionWindow window(true);
  for (int i = 0; i < 100; ++i) {
    round(window, window.size());
    EXPECT_GE(window.size(), 1u);
  }
  EXPECT_EQ(window.size(), 1u);
  EXPECT_NEAR(window.alpha(), 1, 1e-9);
  window.result(false, 0);
  EXPECT_EQ(window.size(), 1u) << "whatever a switch says";
}

TEST(CongestionWindow, TheCapHoldsAtOnce) {
  auto window = window_of_32();
  window.result(false, 5);
  EXPECT_EQ(window.size(), 5u);
  EXPECT_EQ(window.cap(), 5u);
  for (int i = 0; i < 20; ++i) {
    window.result(false, 7);
    EXPECT_LE(window.size(), 7u);
  }
  EXPECT_EQ(window.size(), 7u) << "and is followed when it rises";
}

TEST(CongestionWindow, GrowsOnlyIfSomebodyWaitedForIt) {
  CongestionWindow window(true);
  window.result(false, plenty, false);
  window.result(false, plenty, false);
  EXPECT_EQ(window.size(), 2u);
  window.result(false, plenty, true);
  window.result(false, plenty, false);
  EXPECT_EQ(window.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    window.result(true, plenty, false);
  }
  EXPECT_LT(window.size(), 4u) << "it yields in any case";
}

// Packets that were on the way when the window yielded met the same queue.
TEST(CongestionWindow, ByRoundTripsYieldsOnceToWhatIsOnTheWay) {
  for (const bool whole : {false, true}) {
    CongestionWindow window(true, {.start = 16, .whole_round_trips = whole});
    for (int i = 0; i < 16; ++i) {
      window.result(true, plenty);
    }
    EXPECT_EQ(window.size(), 8u);
    for (int i = 0; i < 8; ++i) {
      window.result(true, plenty);
    }
    EXPECT_EQ(window.size(), whole ? 8u : 4u);
    for (int i = 0; i < 8; ++i) {
      window.result(true, plenty);
    }
    EXPECT_EQ(window.size(), whole ? 4u : 1u);
  }
}

TEST(CongestionWindow, MayStartElsewhere) {
  CongestionWindow window(true, {.start = 16, .ssthresh = 1e9});
  for (const auto size : {32u, 64u, 128u, 256u}) {
    round(window, 0);
    EXPECT_EQ(window.size(), size);
  }
  window.restart();
  EXPECT_EQ(window.size(), 16u);
}

TEST(CongestionWindow, StartsAgainWithWhatItLearned) {
  CongestionWindow window(true);
  round(window, 0);
  round(window, 4);
  const auto alpha = window.alpha();
  const auto threshold = window.ssthresh();
  window.result(true, plenty);
  window.restart();
  EXPECT_EQ(window.size(), 2u);
  EXPECT_EQ(window.alpha(), alpha);
  EXPECT_EQ(window.ssthresh(), threshold);
}

TEST(CongestionWindow, GoesOnWhereItWasUnlessTheFirstResultIsMarked) {
  for (const bool marked : {false, true}) {
    auto window = window_of_32();
    window.restart();
    window.restart();  // nothing came meanwhile
    EXPECT_EQ(window.size(), 2u);
    window.result(marked, plenty);
    EXPECT_EQ(window.size(), marked ? 2u : 32u);
    window.result(false, plenty);
    EXPECT_LE(window.size(), 32u) << "it went on once";
  }
}

TEST(CongestionWindow, TheRoomThatIsLeftAtTheEndTellsNothingOfTheNetwork) {
  auto window = window_of_32();
  window.result(false, 2, false);
  EXPECT_EQ(window.size(), 2u);
  window.restart();
  EXPECT_EQ(window.size(), 2u);
  window.result(false, plenty);
  EXPECT_EQ(window.size(), 32u);
}

TEST(CongestionWindow, GoesOnWithinTheCapOnly) {
  auto window = window_of_32();
  window.restart();
  window.result(false, 9);
  EXPECT_EQ(window.size(), 9u);
}

TEST(CongestionWindow, WithoutCongestionControlItIsWhatSwitchesHaveRoomFor) {
  CongestionWindow window(false);
  EXPECT_EQ(window.size(), 2u);
  window.result(true, 300);
  EXPECT_EQ(window.size(), 300u);
  window.result(true, 20);
  EXPECT_EQ(window.size(), 20u);
}

}  // namespace
}  // namespace tributary::host
