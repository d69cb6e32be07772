// SPDX-License-Identifier: BSD-3-Clause
#include "host/rtt_estimator.h"

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using namespace std::chrono_literals;

TEST(RttEstimator, StartsWithTheInitialTimeout) {
  const RttEstimator rtt({.rto_initial = 70ms});
  EXPECT_FALSE(rtt.measured());
  EXPECT_EQ(rtt.timeout(0), 70ms);
}

TEST(RttEstimator, FollowsRfc6298) {
  RttEstimator rtt({.rto_min = 1ms, .rto_max = 10s});
  rtt.sample(80ms);
  EXPECT_EQ(rtt.smoothed(), 80ms);
  EXPECT_EQ(rtt.timeout(0), 80ms + 4 * 40ms);
  rtt.sample(120ms);
  EXPECT_EQ(rtt.smoothed(), 85ms);             // 7/8 * 80 + 1/8 * 120
  EXPECT_EQ(rtt.timeout(0), 85ms + 4 * 40ms);  // 3/4 * 40 + 1/4 * |80 - 120|
}

TEST(RttEstimator, BacksOffWithinItsBounds) {
  RttEstimator rtt({.rto_min = 5ms, .rto_max = 50ms});
  for (int i = 0; i < 100; ++i) {
    rtt.sample(100us);
  }
  EXPECT_EQ(rtt.timeout(0), 5ms);
  EXPECT_EQ(rtt.timeout(1), 10ms);
  EXPECT_EQ(rtt.timeout(3), 40ms);
  EXPECT_EQ(rtt.timeout(4), 50ms);
  EXPECT_EQ(rtt.timeout(255), 50ms);
}

// Averages have forgotten it after two dozen round trips.
TEST(RttEstimator, RemembersWhatTookLongest) {
  RttEstimator rtt({.rto_min = 5ms, .slowest_max = 40ms});
  const auto samples = [&rtt](int count, Duration each) {
    for (int i = 0; i < count; ++i) {
      rtt.sample(each);
    }
  };
  samples(100, 1ms);
  EXPECT_EQ(rtt.timeout(0), 5ms);
  samples(1, 20ms);
  samples(50, 1ms);
  EXPECT_GT(rtt.timeout(0), 22ms);
  EXPECT_LT(rtt.timeout(0), 25ms);
  samples(2000, 1ms);
  EXPECT_EQ(rtt.timeout(0), 5ms);
  samples(1, 70ms);
  samples(50, 1ms);
  EXPECT_EQ(rtt.timeout(0), 40ms) << "and no longer";
}

}  // namespace
}  // namespace tributary::host
