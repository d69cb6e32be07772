// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/idle.h"

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

using control::IdlePolicy;
using std::chrono::microseconds;

constexpr Time now{std::chrono::seconds(7)};

// The sleep that ends a spell of empty rounds.
Duration first_sleep(IdleGovernor& governor, Time deadline = never) {
  for (unsigned round = 1; round < IdleGovernor::empty_rounds_before_sleep; ++round) {
    EXPECT_EQ(governor.after_round(false, now, deadline), Duration::zero());
  }
  return governor.after_round(false, now, deadline);
}

TEST(IdleGovernor, PollNeverSleeps) {
  IdleGovernor governor(IdlePolicy::poll);
  for (int round = 0; round < 1000; ++round) {
    EXPECT_EQ(governor.after_round(false, now, never), Duration::zero());
  }
}

TEST(IdleGovernor, RampsUpToTheMaximum) {
  IdleGovernor governor(IdlePolicy::adaptive);
  auto sleep = first_sleep(governor);
  EXPECT_EQ(sleep, IdleGovernor::sleep_first);
  for (int round = 0; round < 20; ++round) {
    const auto next = governor.after_round(false, now, never);
    EXPECT_EQ(next, std::min<Duration>(sleep * 2, IdleGovernor::sleep_max));
    sleep = next;
  }
  EXPECT_EQ(sleep, IdleGovernor::sleep_max);
}

TEST(IdleGovernor, WorkEndsTheSpell) {
  IdleGovernor governor(IdlePolicy::adaptive);
  first_sleep(governor);
  governor.after_round(false, now, never);
  EXPECT_EQ(governor.after_round(true, now, never), Duration::zero());
  EXPECT_EQ(first_sleep(governor), IdleGovernor::sleep_first);
}

TEST(IdleGovernor, NeverSleepsPastADeadlineByMoreThanTheMinimum) {
  IdleGovernor governor(IdlePolicy::adaptive);
  first_sleep(governor);
  for (int round = 0; round < 20; ++round) {
    EXPECT_LE(governor.after_round(false, now, now + microseconds(300)), microseconds(300));
  }
  EXPECT_EQ(governor.after_round(false, now, now + microseconds(1)),
            IdleGovernor::sleep_min_to_deadline);
  EXPECT_EQ(governor.after_round(false, now, now - microseconds(1)),
            IdleGovernor::sleep_min_to_deadline);
}

}  // namespace
}  // namespace tributary::dataplane
