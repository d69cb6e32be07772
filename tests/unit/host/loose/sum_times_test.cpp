// SPDX-License-Identifier: BSD-3-Clause
#include "host/loose/sum_times.h"

#include <cstddef>

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

TEST(SumTimes, TakeTheLineOfWhatMostSumsTook) {
  SumTimes times;
  EXPECT_EQ(times.cost().element_s, 0);
  for (int i = 0; i < 50; ++i) {
    const auto elements = static_cast<std::size_t>(100 + 50 * (i % 4));
    const double held_up = i % 7 == 0 ? 5 : 0;
    times.add(elements, 0.3 + 0.002 * static_cast<double>(elements) + held_up);
  }
  EXPECT_NEAR(times.cost().fixed_s, 0.3, 0.001);
  EXPECT_NEAR(times.cost().element_s, 0.002, 0.00001);
}

// Otherwise groups that are all alike would make a sum seem to cost nothing by itself, and be
// given up, again and again.
TEST(SumTimes, RememberSumsOfOtherSizes) {
  SumTimes times;
  times.add(100, 0.5);
  for (int i = 0; i < 1000; ++i) {
    times.add(1000, 2.3);
  }
  EXPECT_NEAR(times.cost().fixed_s, 0.3, 0.001);
  EXPECT_NEAR(times.cost().element_s, 0.002, 0.00001);
}

TEST(SumTimes, ForgetASizeOfWhichThereWereNoSumsForEightGroupings) {
  SumTimes times;
  times.add(100, 60);
  for (int grouping = 0; grouping < 8; ++grouping) {
    times.add(1000, 2.3);
    times.grow_old();
  }
  EXPECT_GT(times.cost().fixed_s, 2);
  times.add(1000, 2.3);
  times.grow_old();
  EXPECT_NEAR(times.cost().fixed_s, 1.15, 0.001) << "half of what a large sum takes";
}

TEST(SumTimes, HalveWhatSumsOfOneSizeTook) {
  SumTimes times;
  times.add(100, 0.5);
  times.add(100, 0.5);
  EXPECT_DOUBLE_EQ(times.cost().fixed_s, 0.25);
  EXPECT_DOUBLE_EQ(times.cost().element_s, 0.0025);
}

TEST(SumTimes, LeaveOutATimeWithoutElements) {
  SumTimes times;
  times.add(0, 7);
  EXPECT_EQ(times.cost().element_s, 0);
  times.add(100, 0.5);
  EXPECT_DOUBLE_EQ(times.cost().element_s, 0.0025);
}

TEST(SumTimes, FollowANetworkThatChanges) {
  SumTimes times;
  for (const double slower : {1.0, 4.0}) {
    for (int i = 0; i < 20; ++i) {
      times.add(100, slower * 0.5);
      times.add(1000, slower * 2.3);
    }
  }
  EXPECT_NEAR(times.cost().fixed_s, 1.2, 0.001);
}

}  // namespace
}  // namespace tributary::host
