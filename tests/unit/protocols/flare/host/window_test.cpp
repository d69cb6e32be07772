// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/window.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using namespace std::chrono_literals;

// Of the first rank, whose order is the plain one: 8 blocks in flight, in groups of 4.
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
  // Windows that are sent and have their results, so that 24 is the next block.
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

  static constexpr Duration rtt = 1ms;
  FlareWindow window_{FlarePlan{.group = {}, .window = 8}, FlareTuning{}, 0, 2};
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
  EXPECT_EQ(window_.deadline() - now_, 20ms);
  wait(20ms - 1ns);
  EXPECT_TRUE(send().empty());
  wait(1ns);
  EXPECT_EQ(send(), (Blocks{0}));
  EXPECT_EQ(window_.deadline() - now_, 40ms) << "nothing has come";
  take({0});
  EXPECT_EQ(send(), (Blocks{8}));
  EXPECT_EQ(window_.deadline() - now_, 20ms);
  wait(20ms);
  EXPECT_EQ(send(), (Blocks{1, 2}));
  EXPECT_EQ(window_.timeouts(), 2u);
}

// They lost the same packets in the same queue, and would lose them there again.
TEST(FlareWindow, RanksWhoseTimersRanOutTogetherDoNotRepeatTogetherAgain) {
  constexpr std::uint32_t ranks = 8;
  const Time start{1s};
  std::vector<Time> due;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    FlareWindow window(FlarePlan{.group = {}, .window = 8}, FlareTuning{}, rank, ranks);
    window.begin(8);
    while (window.next(start)) {
    }
    EXPECT_EQ(window.deadline(), start + 20ms) << "nothing was lost yet";
    window.expire(start + 20ms);
    due.push_back(window.deadline());
  }
  std::sort(due.begin(), due.end());
  for (std::uint32_t i = 1; i < ranks; ++i) {
    EXPECT_GE(due[i] - due[i - 1], 1ms);
  }
  EXPECT_GE(due.front(), start + 20ms + 30ms);
  EXPECT_EQ(due.back(), start + 20ms + 40ms);
}

// The others may have begun only just now.
TEST_F(FlareWindowTest, WhatIsSentBeforeTheFirstResultIsNotTimed) {
  for (int i = 0; i < 2; ++i) {
    window_.begin(8);
    const auto blocks = send();
    EXPECT_EQ(window_.deadline() - now_, 20ms);
    now_ += 1s;
    take(blocks);
  }
}

TEST_F(FlareWindowTest, AResultOfTheSameGroupOvertakesNothing) {
  measure();
  send();
  now_ += rtt;
  take({27, 26, 25});
  EXPECT_EQ(window_.deadline() - now_, 10ms);
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
  EXPECT_EQ(window_.deadline() - now_, 10ms);
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
  EXPECT_EQ(window_.deadline() - now_, 10ms) << "that was sent before";
  wait(10ms);
  EXPECT_EQ(send(), (Blocks{27}));
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
  EXPECT_EQ(window_.deadline() - now_, 10ms);
}

}  // namespace
}  // namespace tributary::host
