// SPDX-License-Identifier: BSD-3-Clause
#include "host/setup.h"

#include <chrono>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr Time start{1000s};

TEST(Setup, ByDefaultACollectiveLastsAsLongAsItMakesProgress) {
  auto deadline = deadline_of({}, start);
  EXPECT_EQ(deadline.due(), start + 30s);
  deadline.progress(start + 1h);
  EXPECT_EQ(deadline.due(), start + 1h + 30s);
  EXPECT_EQ(patience_of({}), 30s);
}

TEST(Setup, AHelloSaysWhetherHostsDouble) {
  CommunicatorOptions options;
  EXPECT_EQ(hello_of(options).never_doubles, 0);
  options.set("doubling", "off");
  EXPECT_EQ(hello_of(options).never_doubles, 1);
}

TEST(Setup, ADeadlineAloneLeavesTimeToStandStill) {
  CommunicatorOptions options;
  options.deadline = 2min;
  auto deadline = deadline_of(options, start);
  EXPECT_EQ(deadline.due(), start + 2min);
  deadline.progress(start + 119s);
  EXPECT_EQ(deadline.due(), start + 2min);
  EXPECT_EQ(patience_of(options), 2min);
}

TEST(Setup, OfADeadlineAndAStallTimeoutBothHold) {
  CommunicatorOptions options;
  options.deadline = 2min;
  options.stall_timeout = 50s;
  auto deadline = deadline_of(options, start);
  EXPECT_EQ(deadline.due(), start + 50s);
  deadline.progress(start + 100s);
  EXPECT_EQ(deadline.due(), start + 2min);
  EXPECT_EQ(patience_of(options), 50s);
}

TEST(Setup, RanksThatAreLateMayHaveLongerThanThoseThatAreGone) {
  CommunicatorOptions options;
  options.late_timeout = 30min;
  EXPECT_EQ(deadline_of(options, start).due(), start + 30min);
  EXPECT_EQ(stall_of(options), 30s);
  EXPECT_EQ(patience_of(options), 30s) << "to create";
  options.stall_timeout = 1h;
  EXPECT_EQ(deadline_of(options, start).due(), start + 1h) << "never less than that";
  options.deadline = 2min;
  EXPECT_EQ(deadline_of(options, start).due(), start + 2min);
  options.late_timeout = 0s;
  EXPECT_FALSE(check(options));
}

TEST(Setup, LimitsBeyondTheClocksArithmeticAreCut) {
  CommunicatorOptions options;
  options.deadline = options.stall_timeout = std::chrono::nanoseconds::max();
  const auto deadline = deadline_of(options, start);
  EXPECT_GE(deadline.due(), start + 24h * 365);
  EXPECT_LT(deadline.due(), never);
}

TEST(Setup, LimitsArePositive) {
  CommunicatorOptions options;
  EXPECT_TRUE(check(options));
  options.stall_timeout = 0s;
  ASSERT_FALSE(check(options));
  EXPECT_NE(check(options).error().message.find("stall timeout"), std::string::npos);
  options.stall_timeout.reset();
  options.deadline = -1s;
  EXPECT_FALSE(check(options));
}

TEST(Setup, ReproducibleSumsAreRefusedWhereTheyCannotBe) {
  CommunicatorOptions options;
  options.reproducible = true;
  options.world_size = 16384;
  EXPECT_TRUE(check(options));
  options.world_size = 16385;
  ASSERT_FALSE(check(options));
  EXPECT_NE(check(options).error().message.find("over up to 16384 ranks, not over 16385"),
            std::string::npos);
  options.world_size = 8;
  options.algorithm = "panama";
  options.set("trees", "239.192.0.1").set("share", "0.5");
  ASSERT_FALSE(check(options));
  EXPECT_NE(check(options).error().message.find("TRIBUTARY_SHARE"), std::string::npos);
  options.algorithm = "ring";
  EXPECT_TRUE(check(options)) << "which leaves nobody out";
}

// The parameters say which protocol is meant.
TEST(Setup, ParametersAreCheckedBeforeProtocolsSeeThem) {
  CommunicatorOptions options;
  options.algorithm = "none";
  options.set("share", "2");
  ASSERT_FALSE(check(options));
  EXPECT_EQ(check(options).error().message, "TRIBUTARY_SHARE=2 is not a share from 0.0001 to 1");
}

}  // namespace
}  // namespace tributary::host::test
