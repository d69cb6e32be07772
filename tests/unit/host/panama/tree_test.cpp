// SPDX-License-Identifier: BSD-3-Clause
#include "host/panama/tree.h"

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using namespace std::chrono_literals;

// A window of packets after the other, each with the same round trip.
class PanamaTreeTest : public testing::Test {
 protected:
  PanamaTreeTest() { tree_.begin(100'000); }

  void send_window() {
    while (tree_.next(now_)) {
    }
  }
  // The results of all that was sent but of the first `lost`.
  void round_trip(Duration rtt, std::uint32_t lost = 0) {
    send_window();
    now_ += rtt;
    const auto end = tree_.begun();
    for (auto vid = tree_.base() + lost; vid < end; ++vid) {
      ASSERT_EQ(tree_.take(vid, false, cap, now_), Verdict::taken);
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
  PanamaTree tree_{PanamaPlan{}, PanamaTuning{}};
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

}  // namespace
}  // namespace tributary::host
