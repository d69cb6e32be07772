// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/tree.h"

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using namespace std::chrono_literals;

// Passes one window of packets after the other, each with the same round trip.
class PanamaTreeTest : public testing::Test {
 protected:
  PanamaTreeTest() { tree_.begin(100'000); }

  void send_window() {
    while (tree_.next(now_)) {
    }
  }
  // Gives the results of all packets that were sent, except of the first `lost`.
  void round_trip(Duration rtt, std::uint32_t lost = 0) {
    send_window();
    now_ += rtt;
    const auto end = tree_.begun();
    for (auto vid = tree_.base() + lost; vid < end; ++vid) {
      ASSERT_EQ(tree_.wants(vid), Verdict::taken);
      tree_.take(vid, false, cap, false, now_);
    }
  }
  void round_trips(int count, Duration rtt) {
    for (int i = 0; i < count; ++i) {
      round_trip(rtt);
    }
  }
  Duration timeout() {
    send_window();
    return tree_.deadline() - now_;
  }

  static constexpr std::uint32_t cap = 8;
  PanamaTree tree_{PanamaPlan{}, PanamaTuning{}, 0};
  Time now_{1s};
};

TEST_F(PanamaTreeTest, WhatAPauseHeldUpIsWaitedForTheNextTime) {
  round_trips(50, 1ms);
  EXPECT_EQ(timeout(), 10ms);
  round_trip(24ms);
  round_trips(10, 1ms);
  EXPECT_GT(timeout(), 24ms);
  round_trips(1000, 1ms);
  EXPECT_EQ(timeout(), 10ms);
}

TEST_F(PanamaTreeTest, WherePacketsGetLostNothingIsWaitedForLongerThanUsual) {
  round_trips(50, 1ms);
  round_trip(24ms);
  round_trips(10, 1ms);
  round_trip(1ms, 1);
  EXPECT_EQ(timeout(), 10ms);
}

// Otherwise the trees would push the same packets out of a queue each time.
TEST_F(PanamaTreeTest, TimersOfTreesThatRunOutTogetherDoNotRunInStep) {
  const auto next_timeout = [this](std::uint64_t salt) {
    tree_ = PanamaTree(PanamaPlan{}, PanamaTuning{}, salt);
    tree_.begin(4);
    send_window();
    now_ = tree_.deadline();
    tree_.expire(now_);
    return timeout();
  };
  const auto first = next_timeout(0x1234);
  EXPECT_NE(first, next_timeout(0x4321));
  EXPECT_GE(first, 200ms);
  EXPECT_LT(first, 225ms);
  tree_.take(0, false, cap, false, now_);
  EXPECT_EQ(timeout(), 100ms) << "of what comes in time";
}

TEST_F(PanamaTreeTest, ACallGoesOnWithTheWindowOfTheLastOneWhenItsFirstResultIsThere) {
  round_trips(5, 1ms);
  tree_.begin(64);
  round_trip(1ms);
  EXPECT_EQ(tree_.begun(), 2u) << "what every tree has room for";
  send_window();
  EXPECT_EQ(tree_.begun() - tree_.base(), cap);
}

TEST_F(PanamaTreeTest, CallsThatWaitForNoWindowLeaveItAsItIs) {
  for (int i = 0; i < 10; ++i) {
    tree_.begin(2);
    round_trip(1ms);
    EXPECT_EQ(tree_.window().size(), 2u);
  }
}

// Where a quorum is enough, the others may have gone on. Their switches answer inquiries.
TEST_F(PanamaTreeTest, WhoWasLeftOutAsksFromThenOnWithEveryPacket) {
  send_window();
  now_ = tree_.deadline();
  tree_.expire(now_);
  EXPECT_TRUE(tree_.next(now_)->again);
  tree_.take(0, false, cap, true, now_);
  for (auto sending = tree_.next(now_); sending; sending = tree_.next(now_)) {
    EXPECT_FALSE(sending->again);
    EXPECT_TRUE(sending->asks);
  }
  // Everybody is in this one, and so nobody is ahead.
  tree_.take(1, false, cap, false, now_);
  EXPECT_FALSE(tree_.next(now_)->asks);
}

TEST_F(PanamaTreeTest, WhatWasSummedBeforeALaterResultIsAskedFor) {
  tree_.take(1, false, cap, true, now_);
  EXPECT_TRUE(tree_.next(now_)->asks);
  tree_.take(0, false, cap, true, now_);
  const auto next = tree_.next(now_);
  EXPECT_EQ(next->vid, 2u);
  EXPECT_FALSE(next->asks);
}

}  // namespace
}  // namespace tributary::host
