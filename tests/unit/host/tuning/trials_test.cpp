// SPDX-License-Identifier: BSD-3-Clause
#include "host/tuning/trials.h"

#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::tuning::test {
namespace {

using namespace std::chrono_literals;

// Returns the trials where one repetition takes `time_of(trial)`.
template <typename TimeOf>
std::vector<std::pair<Means, std::size_t>> tried(Trials& trials, TimeOf time_of) {
  std::vector<std::pair<Means, std::size_t>> all;
  while (const auto trial = trials.next()) {
    all.emplace_back(trial->means, trial->bytes);
    trials.note(*trial, time_of(*trial) * repetitions, time_of(*trial));
  }
  return all;
}

TEST(Trials, AllSizesAreTriedWhereThereIsTimeForThem) {
  Trials trials(8, 50ms);
  const auto all = tried(trials, [](const Trial&) { return 100us; });
  EXPECT_EQ(all.size(), 13u);
  EXPECT_EQ(trials.taken(), 13 * 300us);
  EXPECT_EQ(trials.costs().largest(Means::carrier), std::size_t{2} << 20);
  EXPECT_EQ(trials.costs().largest(Means::doubling), std::size_t{256} << 10);
  EXPECT_EQ(trials.costs().largest(Means::ring), std::size_t{2} << 20);
}

TEST(Trials, NoTimeMeansNone) {
  Trials trials(8, 0ms);
  EXPECT_FALSE(trials.next());
}

// At 1 Gbit/s a size that may take too long is left out before it begins.
TEST(Trials, TakeNoLongerThanTheyMay) {
  Trials trials(8, 50ms);
  const auto time_of = [](const Trial& trial) {
    return 100us + std::chrono::nanoseconds(trial.bytes * 10);
  };
  const auto all = tried(trials, time_of);
  EXPECT_LE(trials.taken(), 50ms);
  EXPECT_EQ(trials.costs().largest(Means::carrier), std::size_t{256} << 10);
  EXPECT_LT(all.size(), 13u);
}

TEST(Trials, OneThatTakesAllTheTimeIsTheLast) {
  Trials trials(8, 50ms);
  const auto all = tried(trials, [](const Trial&) { return 1s; });
  EXPECT_EQ(all.size(), 1u);
}

// Thousands of steps would take too long, which the latency of doubling shows.
TEST(Trials, ALongRingIsNotEvenTried) {
  Trials trials(4000, 50ms);
  const auto all = tried(trials, [](const Trial&) { return 400us; });
  for (const auto& [means, bytes] : all) {
    EXPECT_NE(means, Means::ring) << bytes;
  }
  EXPECT_EQ(all.size(), 9u);
}

}  // namespace
}  // namespace tributary::host::tuning::test
