// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/statistics.h"

#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

TEST(CanaryStatistics, EachCounterIsOneFigure) {
  std::array<std::uint64_t, sizeof(CanaryStatistics) / sizeof(std::uint64_t)> counters{};
  std::iota(counters.begin(), counters.end(), 1000);
  const auto counted = std::bit_cast<CanaryStatistics>(counters);

  const auto told = figures_of(counted);
  EXPECT_EQ(told.protocol, "canary");
  std::set<std::string> names;
  std::set<std::uint64_t> values;
  for (const auto& figure : told.figures) {
    names.insert(figure.name);
    values.insert(std::get<std::uint64_t>(figure.value));
  }
  EXPECT_EQ(names.size(), told.figures.size());
  EXPECT_EQ(told.figures.size(), counters.size() + 1) << "and what is ignored in all";
  for (const auto counter : counters) {
    EXPECT_TRUE(values.contains(counter)) << counter;
  }
  EXPECT_EQ(told.figures["blocks_by_hosts"], counted.blocks_by_hosts);
  EXPECT_EQ(told.figures["ignored"], counted.ignored.total());
  for (const auto& figure : told.figures) {
    EXPECT_EQ(figure.merge, figure.name == "window" ? Merge::least : Merge::sum) << figure.name;
  }
}

}  // namespace
}  // namespace tributary::test
