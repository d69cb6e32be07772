// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/statistics.h"

#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

TEST(NetReduceStatistics, EachCounterIsOneFigure) {
  std::array<std::uint64_t, sizeof(RoceStatistics) / sizeof(std::uint64_t)> counters{};
  std::iota(counters.begin(), counters.end(), 1000);

  const auto told = figures_of({9, 2000, std::bit_cast<RoceStatistics>(counters)});
  EXPECT_EQ(told.protocol, "netreduce");
  std::set<std::uint64_t> values;
  for (const auto& figure : told.figures) {
    values.insert(std::get<std::uint64_t>(figure.value));
  }
  EXPECT_EQ(told.figures.size(), counters.size() + 2) << "the ring, and its messages";
  for (const auto counter : counters) {
    EXPECT_TRUE(values.contains(counter)) << counter;
  }
  EXPECT_EQ(told.figures["ring"], 9u);
  EXPECT_EQ(told.figures.find("ring")->merge, Merge::same);
  EXPECT_EQ(told.figures["messages_sent"], 2000u);
}

}  // namespace
}  // namespace tributary::test
