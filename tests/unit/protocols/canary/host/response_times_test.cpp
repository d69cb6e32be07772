// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/response_times.h"

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using namespace std::chrono_literals;

TEST(ResponseTimes, TheReorderingWindowWidensWhenRequestsWereNeedlessAndNarrowsWhenTheyWereNot) {
  ResponseTimes rtt(RtoBounds{});
  for (int i = 0; i < 100; ++i) {
    rtt.sample(8ms);
  }
  Time now{1s};
  EXPECT_EQ(rtt.reordering_window(), 2ms);
  rtt.asked_needlessly(now);
  EXPECT_EQ(rtt.reordering_window(), 4ms);
  rtt.asked_needlessly(now + 1ms);
  EXPECT_EQ(rtt.reordering_window(), 4ms) << "once per round trip";
  for (int i = 0; i < 5; ++i) {
    rtt.asked_needlessly(now += 10ms);
  }
  EXPECT_EQ(rtt.reordering_window(), 8ms) << "a whole round trip at most";
  for (int i = 0; i < 15; ++i) {
    rtt.asked_rightly();
  }
  EXPECT_EQ(rtt.reordering_window(), 8ms);
  rtt.asked_rightly();
  EXPECT_EQ(rtt.reordering_window(), 4ms);
  for (int i = 0; i < 100; ++i) {
    rtt.asked_rightly();
  }
  EXPECT_EQ(rtt.reordering_window(), 1ms) << "an eighth at least";
}

}  // namespace
}  // namespace tributary::host
