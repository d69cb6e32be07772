// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/search.h"

#include <gtest/gtest.h>

namespace tributary::traffic {
namespace {

using Unit = Rate::Unit;

// Simulates a device that forwards `limit` packets a second, behind a generator that sends at most
// `reach`.
TrialResult measure(const Rate& rate, double limit, double reach) {
  TrialResult result;
  result.rate = rate;
  result.seconds = 1;
  const double sent = rate.is_unlimited() ? reach : std::min(rate.per_second, reach);
  result.counters.packets = result.counters.begun = static_cast<std::uint64_t>(sent);
  result.counters.done = static_cast<std::uint64_t>(std::min(sent, limit));
  return result;
}

Search search(const SearchPlan& plan, double limit, double reach) {
  Search found(plan);
  while (const auto rate = found.next()) {
    found.add(measure(*rate, limit, reach));
  }
  return found;
}

TEST(Search, FindsTheRateWithoutLoss) {
  for (const double limit : {300e3, 512e3, 999e3}) {
    const auto found = search({0, {Unit::packets, 1e6}}, limit, 1e9);
    ASSERT_NE(found.best(), nullptr);
    EXPECT_LE(found.best()->packets_per_second(), limit);
    EXPECT_GE(found.best()->packets_per_second(), limit - 10e3);
    EXPECT_LE(found.trials().size(), 9u);
  }
}

TEST(Search, AllowsTheGivenLoss) {
  const auto found = search({0.005, {Unit::packets, 1e6}, 0.0005}, 500e3, 1e9);
  ASSERT_NE(found.best(), nullptr);
  EXPECT_NEAR(found.best()->packets_per_second(), 500e3 / 0.995, 600);
}

TEST(Search, IsOverWhenTheHighestRatePasses) {
  const auto found = search({0, {Unit::packets, 1e6}}, 2e6, 1e9);
  EXPECT_EQ(found.trials().size(), 1u);
  EXPECT_EQ(found.best()->packets_per_second(), 1e6);
}

TEST(Search, BeginsWithWhatTheGeneratorReaches) {
  const auto found = search({0, {}}, 700e3, 1e6);
  ASSERT_NE(found.best(), nullptr);
  EXPECT_TRUE(found.trials()[0].rate.is_unlimited());
  EXPECT_NEAR(found.best()->packets_per_second(), 700e3, 10e3);
  EXPECT_EQ(search({0, {}}, 2e6, 1e6).best()->packets_per_second(), 1e6);
}

TEST(Search, EndsWithWhatTheGeneratorCanSend) {
  const auto found = search({0, {Unit::packets, 1e6}}, 1e9, 400e3);
  ASSERT_NE(found.best(), nullptr);
  EXPECT_EQ(found.best()->packets_per_second(), 400e3);
  EXPECT_LE(found.trials().size(), 16u);
}

// Every third trial is disturbed: a tenth of the packets are not sent at all.
TEST(Search, IsNotMisledByADisturbedGenerator) {
  for (const double limit : {300e3, 512e3, 999e3}) {
    Search found({0, {Unit::packets, 1e6}});
    int trial = 0;
    while (const auto rate = found.next()) {
      const double reach = ++trial % 3 == 0 ? rate->per_second * 0.9 : 1e9;
      found.add(measure(*rate, limit, reach));
    }
    ASSERT_NE(found.best(), nullptr);
    EXPECT_LE(found.best()->packets_per_second(), limit);
    EXPECT_GE(found.best()->packets_per_second(), limit * 0.97);
  }
}

TEST(Search, HasNoResultWhereEverythingLoses) {
  Search found({0, {Unit::packets, 1e6}});
  while (const auto rate = found.next()) {
    auto result = measure(*rate, 1e9, 1e9);
    --result.counters.done;
    found.add(result);
  }
  EXPECT_EQ(found.best(), nullptr);
  EXPECT_LE(found.trials().size(), 9u);
}

TEST(Search, EndsAtAWrongSum) {
  Search found({0, {Unit::packets, 1e6}});
  auto result = measure(*found.next(), 1e9, 1e9);
  result.wrong = 1;
  found.add(result);
  EXPECT_FALSE(found.next());
  EXPECT_EQ(found.best(), nullptr);
}

}  // namespace
}  // namespace tributary::traffic
