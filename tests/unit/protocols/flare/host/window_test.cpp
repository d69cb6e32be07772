// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/window.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using namespace std::chrono_literals;

// The window of the first rank, whose order is the plain one: 8 blocks in flight, in groups of 4.
class FlareWindowTest : public testing::Test {
 protected:
  FlareWindowTest() { window_.begin(1000); }

  using Blocks = std::vector<std::uint32_t>;

  Blocks send() {
    Blocks blocks;
    while (const auto sending = window_.next(now_)) {
      blocks.push_back(sending->block);
    }
    return blocks;
  }
  void take(const Blocks& blocks) {
    for (const auto block : blocks) {
      ASSERT_EQ(window_.take(block, now_), Verdict::taken) << block;
    }
  }
  // Sends windows and gives their results, so that 24 is the next block.
  void measure() {
    for (int i = 0; i < 3; ++i) {
      const auto blocks = send();
      now_ += rtt;
      take(blocks);
    }
  }
  void wait(Duration duration) {
    now_ += duration;
    window_.expire(now_);
  }
  // Goes on until the timer runs out, a part of which is random, and returns the blocks that are
  // sent then.
  Blocks time_out() {
    wait(timer() - 1ns);
    EXPECT_TRUE(send().empty());
    wait(1ns);
    return send();
  }
  Duration timer() const { return window_.deadline() - now_; }
  void expect_first_timer(Duration least) const {
    EXPECT_GE(timer(), least);
    EXPECT_LT(timer(), least * 5 / 4);
  }

  static constexpr Duration rtt = 1ms;
  FlareWindow window_{FlarePlan{.group = {}, .window = 8}, FlareTuning{}, 0, 2, 4711};
  Time now_{1s};
};

TEST_F(FlareWindowTest, ReachesFromTheLowestBlockWithoutAResult) {
  EXPECT_EQ(send(), (Blocks{0, 1, 2, 3, 4, 5, 6, 7}));
  take({1, 2, 3, 4, 5, 6, 7});
  EXPECT_TRUE(send().empty());
  take({0});
  EXPECT_EQ(send(), (Blocks{8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST_F(FlareWindowTest, KnowsWhatWasSentAndWhatLacksItsResult) {
  send();
  take({1});
  EXPECT_TRUE(window_.sent(7));
  EXPECT_FALSE(window_.sent(8));
  EXPECT_TRUE(window_.lacks(0));
  EXPECT_FALSE(window_.lacks(1));
  EXPECT_FALSE(window_.lacks(8));
  EXPECT_EQ(window_.in_flight(), 7u);
  EXPECT_EQ(window_.begun(), 8u);
  EXPECT_EQ(window_.lowest_in_flight(3), (Blocks{0, 2, 3}));
  EXPECT_EQ(window_.take(1, now_), Verdict::duplicate);
}

TEST_F(FlareWindowTest, HasNothingToWaitForWhenAllIsDone) {
  window_.begin(3);
  EXPECT_EQ(window_.deadline(), never);
  EXPECT_EQ(send(), (Blocks{0, 1, 2}));
  EXPECT_NE(window_.deadline(), never);
  take({2, 0, 1});
  EXPECT_TRUE(window_.finished());
  EXPECT_EQ(window_.deadline(), never);
}

TEST_F(FlareWindowTest, WhatIsHeldWaitsForAResultOrTheTime) {
  window_.hold(2, now_ + 5ms);
  EXPECT_EQ(send(), (Blocks{0, 1}));
  EXPECT_EQ(window_.deadline() - now_, 5ms);
  take({1});
  EXPECT_EQ(send(), (Blocks{2, 3, 4, 5, 6, 7}));
  window_.begin(1000);
  window_.hold(0, now_ + 5ms);
  wait(5ms - 1ns);
  EXPECT_TRUE(send().empty());
  wait(1ns);
  EXPECT_EQ(send(), (Blocks{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(FlareWindowTest, ATimerSendsTheLowestAgainAndMoreWhenThatHelps) {
  send();
  expect_first_timer(20ms);
  EXPECT_EQ(time_out(), (Blocks{0}));
  EXPECT_GT(timer(), 30ms) << "nothing has come";
  EXPECT_LE(timer(), 40ms);
  take({0});
  EXPECT_EQ(send(), (Blocks{8}));
  expect_first_timer(20ms);
  EXPECT_EQ(time_out(), (Blocks{1, 2}));
  EXPECT_EQ(window_.timeouts(), 2u);
}

// Returns when the timers of one rank run out, after it has sent a window at time 0.
std::vector<Duration> expirations_of(std::uint64_t seed, std::size_t count) {
  FlareWindow window(FlarePlan{.group = {}, .window = 8}, FlareTuning{}, 0, 8, seed);
  window.begin(8);
  while (window.next(Time{})) {
  }
  std::vector<Duration> expirations;
  while (expirations.size() < count) {
    const auto due = window.deadline();
    expirations.push_back(due.time_since_epoch());
    window.expire(due);
  }
  return expirations;
}

// The ranks lost packets in the same queue, and would lose them there again.
TEST(FlareWindow, RanksWhoseTimersRunOutTogetherDoNotRepeatTogetherAgain) {
  constexpr std::size_t ranks = 64;
  constexpr std::size_t count = 12;
  constexpr Duration together = 10us;
  std::vector<std::vector<Duration>> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    all.push_back(expirations_of(rank, count));
  }
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    for (std::size_t other = 0; other < rank; ++other) {
      std::size_t in_step = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const auto apart = all[rank][i] - all[other][i];
        in_step += apart < together && -apart < together ? 1 : 0;
      }
      EXPECT_LE(in_step, 2u) << rank << " and " << other;
    }
  }
}

TEST(FlareWindow, DrawnPartsOfTimersHaveBounds) {
  constexpr Duration longest = RtoBounds{}.rto_max;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto expirations = expirations_of(seed, 8);
    EXPECT_GE(expirations[0], 20ms);
    EXPECT_LE(expirations[0], 25ms);
    Duration doubled = 20ms;
    for (std::size_t i = 1; i < expirations.size(); ++i) {
      doubled = std::min(2 * doubled, longest);
      EXPECT_GE(expirations[i] - expirations[i - 1], doubled * 3 / 4);
      EXPECT_LE(expirations[i] - expirations[i - 1], doubled);
    }
  }
}

// For this time a rank holds back packets that could take slots of results that others lack.
TEST(FlareWindow, NoTimerIsLongerThanTheLongest) {
  FlareTuning tuning;
  tuning.rto.rto_initial = tuning.rto.rto_max;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FlareWindow window(FlarePlan{.group = {}, .window = 8}, tuning, 0, 8, seed);
    window.begin(8);
    window.next(Time{});
    EXPECT_EQ(window.deadline().time_since_epoch(), tuning.rto.rto_max);
  }
}

TEST(FlareWindow, TheSameSeedDrawsTheSameTimers) {
  EXPECT_EQ(expirations_of(7, 20), expirations_of(7, 20));
  EXPECT_NE(expirations_of(7, 20), expirations_of(8, 20));
}

// The others may have begun only just now.
TEST_F(FlareWindowTest, WhatIsSentBeforeTheFirstResultIsNotTimed) {
  for (int i = 0; i < 2; ++i) {
    window_.begin(8);
    const auto blocks = send();
    expect_first_timer(20ms);
    now_ += 1s;
    take(blocks);
  }
}

TEST_F(FlareWindowTest, AResultOfTheSameGroupOvertakesNothing) {
  measure();
  send();
  now_ += rtt;
  take({27, 26, 25});
  expect_first_timer(10ms);
}

TEST_F(FlareWindowTest, WhatALaterGroupOvertookIsSentAgainAfterARoundTrip) {
  measure();
  send();
  now_ += rtt;
  take({25, 26, 28});
  EXPECT_EQ(window_.deadline() - now_, rtt);
  take({27});
  EXPECT_EQ(window_.deadline() - now_, rtt) << "24 is missing still";
  wait(rtt - 1ns);
  EXPECT_TRUE(send().empty());
  wait(1ns);
  EXPECT_EQ(send(), (Blocks{24}));
  EXPECT_EQ(window_.timeouts(), 0u);
}

TEST_F(FlareWindowTest, WhatOnlyCameLateIsNotSentAgain) {
  measure();
  send();
  now_ += rtt;
  take({25, 26, 27, 28, 24});
  EXPECT_EQ(send(), (Blocks{32, 33, 34, 35, 36}));
  expect_first_timer(10ms);
}

TEST_F(FlareWindowTest, WhatWasSentAgainHasToBeOvertakenAnew) {
  measure();
  send();
  now_ += rtt;
  take({24, 25, 26, 28, 29, 30, 31});
  EXPECT_EQ(send(), (Blocks{32, 33, 34}));
  wait(rtt);
  EXPECT_EQ(send(), (Blocks{27}));
  take({32});
  expect_first_timer(10ms);  // that was sent before
  EXPECT_EQ(time_out(), (Blocks{27}));
  EXPECT_EQ(window_.timeouts(), 1u);
}

TEST_F(FlareWindowTest, AnAnswerIsASendingThatTellsNothingOfTheNetwork) {
  measure();
  send();
  now_ += 1s;
  for (std::uint32_t block = 24; block < 32; ++block) {
    window_.note_answer(block, now_);
  }
  now_ += 1s;
  take({24, 25, 26, 27, 28, 29, 30, 31});
  send();
  expect_first_timer(10ms);
}

}  // namespace
}  // namespace tributary::host
