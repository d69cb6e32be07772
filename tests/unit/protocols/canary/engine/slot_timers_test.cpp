// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/slot_timers.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace tributary::canary {
namespace {

TEST(SlotTimers, EmptyHasNothingDue) {
  SlotTimers timers(4);
  EXPECT_EQ(timers.first(), SlotTimers::none);
  EXPECT_EQ(timers.first_expiry(), never);
}

// Compares timers that start, stop and expire in any order with a sorted map.
TEST(SlotTimers, FirstIsAlwaysTheOneThatExpiresFirst) {
  constexpr std::uint32_t slots = 200;
  SlotTimers timers(slots);
  std::map<std::uint32_t, Time> running;
  std::multiset<Time> expiries;
  std::mt19937 random(1);
  for (int step = 0; step < 100'000; ++step) {
    const auto slot = static_cast<std::uint32_t>(random() % slots);
    if (const auto known = running.find(slot); known != running.end()) {
      timers.stop(slot);
      expiries.erase(expiries.find(known->second));
      running.erase(known);
    } else {
      const Time expiry{Duration{random() % 1000}};
      timers.start(slot, expiry);
      running[slot] = expiry;
      expiries.insert(expiry);
    }
    ASSERT_EQ(timers.first_expiry(), expiries.empty() ? never : *expiries.begin());
    if (!running.empty()) {
      ASSERT_EQ(running.at(timers.first()), timers.first_expiry());
    }
  }
}

}  // namespace
}  // namespace tributary::canary
