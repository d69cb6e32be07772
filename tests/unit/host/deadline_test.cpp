// SPDX-License-Identifier: BSD-3-Clause
#include "host/deadline.h"

#include <atomic>
#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr Time start{1000s};

TEST(Deadline, OfNothingNeverPasses) {
  const Deadline deadline;
  EXPECT_EQ(deadline.due(), never);
  EXPECT_FALSE(deadline.passed(start + 24h * 365));
}

TEST(Deadline, AFixedOneIsNotMovedByProgress) {
  Deadline deadline(start + 10s);
  deadline.begin(start);
  deadline.progress(start + 9s);
  EXPECT_EQ(deadline.due(), start + 10s);
  EXPECT_FALSE(deadline.passed(start + 9999ms));
  EXPECT_TRUE(deadline.passed(start + 10s));
  EXPECT_EQ(deadline.explain("barrier"), "barrier did not finish within its deadline of 10 s");
}

TEST(Deadline, AStallIsCountedFromTheLastProgress) {
  Deadline deadline(never, 1500ms);
  deadline.begin(start);
  EXPECT_EQ(deadline.due(), start + 1500ms);
  for (auto now = start; now < start + 1h; now += 1s) {
    ASSERT_FALSE(deadline.passed(now));
    deadline.progress(now);
  }
  EXPECT_TRUE(deadline.passed(start + 1h + 501ms));
  EXPECT_EQ(deadline.explain("allreduce"), "allreduce made no progress for 1.5 s");
}

TEST(Deadline, OfBothTheFirstCounts) {
  Deadline deadline(start + 60s, 30s);
  deadline.begin(start);
  EXPECT_EQ(deadline.due(), start + 30s);
  EXPECT_EQ(deadline.explain("reduce"), "reduce made no progress for 30 s");
  deadline.progress(start + 40s);
  EXPECT_EQ(deadline.due(), start + 60s);
  EXPECT_EQ(deadline.explain("reduce"), "reduce did not finish within its deadline of 60 s");
}

TEST(Deadline, OnceSomebodyIsGoneTheShorterStallCounts) {
  std::atomic<bool> gone = false;
  Deadline deadline(never, 30min);
  deadline.hurry_when(&gone, 30s);
  deadline.begin(start);
  const auto longer = deadline.longer_by(1s);
  EXPECT_EQ(deadline.due(), start + 30min);
  gone = true;
  EXPECT_EQ(deadline.due(), start + 30s);
  EXPECT_EQ(deadline.explain("allreduce"), "allreduce made no progress for 30 s");
  EXPECT_EQ(longer.due(), start + 31s);
}

TEST(Deadline, BeginsAnewWithEveryCollective) {
  Deadline deadline(never, 30s);
  deadline.begin(start);
  deadline.begin(start + 1h);
  EXPECT_EQ(deadline.due(), start + 1h + 30s);
}

TEST(Deadline, IsOfTheWholeWhoseStepsBeginOneAfterTheOther) {
  Deadline deadline(start + 5s);
  deadline.begin(start);
  deadline.begin(start + 3s);
  EXPECT_EQ(deadline.explain("allreduce"), "allreduce did not finish within its deadline of 5 s");
}

TEST(Deadline, WhoWaitsForSomebodyHasALittleLonger) {
  Deadline deadline(start + 60s, 30s);
  deadline.begin(start);
  auto longer = deadline.longer_by(1s);
  EXPECT_EQ(longer.due(), start + 31s);
  longer.progress(start + 50s);
  EXPECT_EQ(longer.due(), start + 61s);
  EXPECT_EQ(Deadline().longer_by(1s).due(), never);
}

TEST(Deadline, WhoWaitsForSomebodyWithTheSameLimitHasALittleLongerToo) {
  Limit limit;
  Deadline deadline(start + 60s, 30s);
  deadline.obey(&limit);
  deadline.begin(start);
  limit.bring_forward(start + 5s);
  EXPECT_EQ(deadline.longer_by(1s).due(), start + 6s);
  limit.lift();
  EXPECT_EQ(deadline.longer_by(1s).due(), start + 31s);
}

TEST(Deadline, APartMayBeGivenUpSooner) {
  const auto now = Clock::now();
  const Deadline deadline(now + 1h, 30s);
  auto part = deadline.no_later_than(now + 60s).impatient(5s);
  EXPECT_GE(part.due(), now + 5s);
  EXPECT_LT(part.due(), now + 60s);
  EXPECT_EQ(part.explain("allreduce"), "allreduce made no progress for 5 s");
  part.progress(now + 58s);
  EXPECT_EQ(part.due(), now + 60s) << "however well it goes";
  EXPECT_EQ(deadline.impatient(60s).explain("allreduce"), "allreduce made no progress for 30 s")
      << "never later than the whole";
}

TEST(Deadline, PassesWhenItIsGivenUp) {
  std::atomic<bool> given_up = false;
  Deadline deadline(never, 30s);
  deadline.obey(&given_up);
  deadline.begin(start);
  const auto copy = deadline;
  EXPECT_FALSE(copy.passed(start));
  given_up = true;
  EXPECT_TRUE(copy.passed(start));
  EXPECT_LT(copy.due(), start);
}

TEST(Deadline, CanBeBroughtForwardByOthers) {
  Limit limit;
  Deadline deadline(start + 60s, 30s);
  deadline.obey(&limit);
  deadline.begin(start);
  const auto copy = deadline;
  EXPECT_EQ(copy.due(), start + 30s);
  limit.bring_forward(start + 2s);
  limit.bring_forward(start + 5s);
  EXPECT_EQ(copy.due(), start + 2s) << "the earliest counts";
  EXPECT_EQ(copy.explain("reduce"),
            "reduce did not finish by the deadline of its request, 2 s after it began");
  limit.lift();
  EXPECT_EQ(copy.due(), start + 30s);
  EXPECT_EQ(copy.explain("reduce"), "reduce made no progress for 30 s");
}

TEST(Deadline, ShowsEveryProgressAndNothingElse) {
  std::uint64_t pulse = 0;
  Deadline deadline(never, 30s);
  deadline.show(&pulse);
  deadline.begin(start);
  EXPECT_EQ(pulse, 0u);
  deadline.progress(start);
  deadline.progress(start + 1s);
  EXPECT_EQ(pulse, 2u);
}

}  // namespace
}  // namespace tributary::host::test
