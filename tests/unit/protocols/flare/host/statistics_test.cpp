// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/statistics.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

TEST(FlareStatistics, EachCounterIsOneFigure) {
  FlareStatistics counted;
  counted.group = "239.0.0.1";
  counted.packets_sent = 10;
  counted.retransmissions_sent = 1;
  counted.timeouts = 2;
  counted.results_received = 8;
  counted.sparse_packets_sent = 4;
  counted.sparse_results_received = 3;
  counted.answers_sent = 5;
  counted.ignored.count(host::Verdict::early);
  counted.ignored.count(host::Verdict::stale);
  counted.ignored.count(host::Verdict::taken);
  counted.fingerprint_rejections = 7;
  const auto told = figures_of(counted);
  EXPECT_EQ(told.protocol, "flare");
  ASSERT_EQ(told.trees.size(), 1u);
  const auto& tree = told.trees.front();
  EXPECT_EQ(tree.value<std::string>("group"), "239.0.0.1");
  EXPECT_EQ(tree["packets_sent"], 10u);
  EXPECT_EQ(tree["retransmissions_sent"], 1u);
  EXPECT_EQ(tree["timeouts"], 2u);
  EXPECT_EQ(tree["results_received"], 8u);
  EXPECT_EQ(tree["sparse_packets_sent"], 4u);
  EXPECT_EQ(tree["sparse_results_received"], 3u);
  EXPECT_EQ(told.figures["answers_sent"], 5u);
  EXPECT_EQ(told.figures["ignored_early"], 1u);
  EXPECT_EQ(told.figures["ignored"], 9u);
  const auto counters = (sizeof counted - sizeof counted.group) / sizeof(std::uint64_t);
  EXPECT_EQ(told.figures.size() + tree.size(), counters + 2) << "the group, and what is ignored";
}

}  // namespace
}  // namespace tributary::test
