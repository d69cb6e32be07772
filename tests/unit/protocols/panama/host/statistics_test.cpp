// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/statistics.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

TEST(PanamaStatistics, EachCounterIsOneFigure) {
  PanamaStatistics counted;
  counted.contributions_missing = 5;
  counted.ignored.count(host::Verdict::early);
  counted.ignored.count(host::Verdict::stale);
  counted.ignored.count(host::Verdict::taken);
  counted.fingerprint_rejections = 7;
  const auto told = figures_of(counted);
  EXPECT_EQ(told.protocol, "panama");
  EXPECT_TRUE(told.trees.empty());
  const auto others = sizeof counted.trees + sizeof counted.missing_by_rank;
  const auto counters = (sizeof counted - others) / sizeof(std::uint64_t);
  EXPECT_EQ(told.figures.size(), counters + 2) << "and what is ignored in all, and who is missing";
  EXPECT_EQ(told.figures["contributions_missing"], 5u);
  EXPECT_EQ(told.figures["ignored_early"], 1u);
  EXPECT_EQ(told.figures["ignored"], 9u);
}

TEST(PanamaStatistics, WhoIsMissingIsOneText) {
  PanamaStatistics counted;
  EXPECT_EQ(figures_of(counted).figures.value<std::string>("missing_by_rank"), "");
  counted.missing_by_rank = {{3, 120}, {5, 2}};
  EXPECT_EQ(figures_of(counted).figures.value<std::string>("missing_by_rank"), "3:120,5:2");
}

TEST(PanamaStatistics, EachTreeHasFiguresOfItsOwn) {
  PanamaStatistics counted;
  counted.trees.push_back({"239.0.0.1", 10, 1, 2, 8, 2, 4.5, 64, 0.25, 32});
  counted.trees.push_back({.group = "239.0.0.2"});
  const auto trees = figures_of(counted).trees;
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[0].value<std::string>("group"), "239.0.0.1");
  EXPECT_EQ(trees[0]["packets_sent"], 10u);
  EXPECT_EQ(trees[0]["retransmissions_sent"], 1u);
  EXPECT_EQ(trees[0]["timeouts"], 2u);
  EXPECT_EQ(trees[0]["results_received"], 8u);
  EXPECT_EQ(trees[0]["results_marked"], 2u);
  EXPECT_EQ(trees[0].value<double>("marked_share"), 0.25);
  EXPECT_EQ(trees[0].value<double>("window"), 4.5);
  EXPECT_EQ(trees[0].value<double>("ssthresh"), 64);
  EXPECT_EQ(trees[0].value<double>("alpha"), 0.25);
  EXPECT_EQ(trees[0]["window_cap"], 32u);
  EXPECT_EQ(trees[1].value<std::string>("group"), "239.0.0.2");
}

}  // namespace
}  // namespace tributary::test
