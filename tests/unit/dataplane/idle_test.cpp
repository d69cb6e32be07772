// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/idle.h"

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

using control::IdlePolicy;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Time start{std::chrono::seconds(7)};

class Idle : public ::testing::Test {
 protected:
  // Does one round, and the sleep after it, which takes longer by `late`.
  Duration round(bool worked, Time deadline = never) {
    const auto sleep = governor.after_round(worked, now, deadline);
    now += sleep > Duration::zero() ? sleep + late : round_takes;
    return sleep;
  }
  // Returns the first sleep after empty rounds, and counts the time of these.
  Duration first_sleep(Time deadline = never) {
    const auto began = now;
    for (;;) {
      spun = now - began;
      if (const auto sleep = round(false, deadline); sleep > Duration::zero()) {
        return sleep;
      }
    }
  }

  IdleGovernor governor{IdlePolicy::adaptive};
  Time now = start;
  Duration round_takes = std::chrono::nanoseconds(100);
  Duration late = microseconds(20);
  Duration spun{};
};

TEST(IdleGovernor, PollNeverSleeps) {
  IdleGovernor governor(IdlePolicy::poll);
  for (int round = 0; round < 1000; ++round) {
    EXPECT_EQ(governor.after_round(false, start + microseconds(round), never), Duration::zero());
  }
}

TEST_F(Idle, RampsUpToTheMaximum) {
  auto sleep = first_sleep();
  EXPECT_EQ(sleep, IdleGovernor::sleep_first);
  for (int i = 0; i < 20; ++i) {
    const auto next = round(false);
    EXPECT_EQ(next, std::min<Duration>(sleep * 2, IdleGovernor::sleep_max));
    sleep = next;
  }
  EXPECT_EQ(sleep, IdleGovernor::sleep_max);
}

TEST_F(Idle, WhoIsWokenByWhatComesSleepsLonger) {
  first_sleep();
  Duration longest{};
  for (int i = 0; i < 20; ++i) {
    longest = governor.after_round(false, now, never, IdleGovernor::wait_max);
    now += longest;
  }
  EXPECT_EQ(longest, IdleGovernor::wait_max);
  EXPECT_EQ(governor.after_round(false, now, now + milliseconds(3), IdleGovernor::wait_max),
            milliseconds(3));
  now += milliseconds(3);
  EXPECT_EQ(round(false), IdleGovernor::sleep_max) << "where it has to look for itself again";
}

TEST_F(Idle, WorkEndsTheSpell) {
  first_sleep();
  round(false);
  EXPECT_EQ(round(true), Duration::zero());
  EXPECT_EQ(first_sleep(), IdleGovernor::sleep_first);
  EXPECT_GE(spun, IdleGovernor::spin_min);
}

TEST_F(Idle, SpinsForATimeHoweverLongRoundsTake) {
  first_sleep();
  EXPECT_EQ(spun, IdleGovernor::spin_min);
  round_takes = microseconds(10);
  round(true);
  first_sleep();
  EXPECT_EQ(spun, IdleGovernor::spin_min);
}

TEST_F(Idle, PausesOfASenderAreNotSleptThrough) {
  for (int burst = 0; burst < 100; ++burst) {
    round(true);
    for (const auto until = now + microseconds(90); now < until;) {
      EXPECT_EQ(round(false), Duration::zero());
    }
  }
}

// There is work in four of five rounds, then a pause.
TEST_F(Idle, AtLoadItDoesNotSleep) {
  for (int i = 0; i < 1'000'000; ++i) {
    round(i % 5 != 0);
  }
  first_sleep();
  EXPECT_GE(spun, microseconds(4000));
  EXPECT_LE(spun, IdleGovernor::memory);
}

TEST_F(Idle, AtLittleLoadItSleepsAsEver) {
  for (int i = 0; i < 1'000'000; ++i) {
    round(i % 5 == 0);
  }
  first_sleep();
  EXPECT_LE(spun, IdleGovernor::spin_min + round_takes);
}

TEST_F(Idle, ASleepIsTimeWithoutWork) {
  for (int i = 0; i < 1'000'000; ++i) {
    round(true);
  }
  first_sleep();
  round(false);
  now += milliseconds(100);
  round(true);
  first_sleep();
  EXPECT_LE(spun, IdleGovernor::spin_min + round_takes);
}

TEST_F(Idle, SpinsForAsLongAsSleepsAreLate) {
  late = microseconds(300);
  for (int i = 0; i < 100; ++i) {
    round(false);
  }
  first_sleep();
  for (int i = 0; i < 100; ++i) {
    round(false);
  }
  round(true);
  first_sleep();
  EXPECT_LE(std::chrono::abs(spun - late), microseconds(1));
}

TEST_F(Idle, OneLongAbsenceDoesNotMakeItSpinForEver) {
  late = std::chrono::seconds(1);
  first_sleep();
  late = Duration::zero();
  for (const auto until = now + IdleGovernor::contention_memory; now < until;) {
    round(false);
  }
  round(true);
  first_sleep();
  EXPECT_EQ(spun, IdleGovernor::spin_min);
}

TEST_F(Idle, WhereOthersWantTheCpuItSleepsAtOnce) {
  round(false);
  now += milliseconds(3);  // it was interrupted
  round(false);
  for (int burst = 0; burst < 10; ++burst) {
    round(true);
    EXPECT_EQ(first_sleep(), IdleGovernor::sleep_min_to_deadline);
    EXPECT_EQ(spun, Duration::zero());
  }
}

TEST_F(Idle, ASleepThatEndsFarTooLateTellsThatOthersWantTheCpu) {
  late = milliseconds(3);
  first_sleep();
  round(true);
  first_sleep();
  EXPECT_EQ(spun, Duration::zero());
}

TEST_F(Idle, AtLoadItSpinsALittleThoughOthersWantTheCpu) {
  for (int i = 0; i < 1'000'000; ++i) {
    round(true);
  }
  first_sleep();
  now += milliseconds(3);
  round(false);
  for (int i = 0; i < 100'000; ++i) {
    round(true);
  }
  first_sleep();
  EXPECT_EQ(spun, IdleGovernor::spin_min);
}

TEST_F(Idle, ARoundWithWorkThatWasInterruptedIsNoLoad) {
  round(true);
  now += milliseconds(50);
  round(true);
  first_sleep();
  EXPECT_LE(spun, IdleGovernor::spin_min + round_takes);
}

TEST_F(Idle, NeverSleepsPastADeadlineByMoreThanTheMinimum) {
  first_sleep();
  for (int i = 0; i < 20; ++i) {
    EXPECT_LE(round(false, now + microseconds(300)), microseconds(300));
  }
  EXPECT_EQ(round(false, now + microseconds(1)), IdleGovernor::sleep_min_to_deadline);
  EXPECT_EQ(round(false, now - microseconds(1)), IdleGovernor::sleep_min_to_deadline);
}

}  // namespace
}  // namespace tributary::dataplane
