// SPDX-License-Identifier: BSD-3-Clause
#include "host/statistics.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

TEST(Figures, AreFoundByTheirNames) {
  const Figures figures{{"packets", std::uint64_t{7}}, {"window", 2.5}, {"group", "239.0.0.1"}};
  EXPECT_EQ(figures["packets"], 7u);
  EXPECT_EQ(figures.value<double>("window"), 2.5);
  EXPECT_EQ(figures.value<std::string>("group"), "239.0.0.1");
  EXPECT_EQ(figures.size(), 3u);
}

TEST(Figures, WhatIsNotThereIsNothing) {
  const Figures figures{{"window", 2.5}};
  EXPECT_EQ(figures.find("packets"), nullptr);
  EXPECT_EQ(figures["packets"], 0u);
  EXPECT_EQ(figures["window"], 0u) << "no whole number";
  EXPECT_EQ(figures.value<std::string>("window"), "");
}

TEST(Figures, ArePutTogetherAsWhatTheyAre) {
  EXPECT_EQ(merged(Merge::sum, 3, 4), 7u);
  EXPECT_EQ(merged(Merge::same, 4, 4), 4u);
  EXPECT_EQ(merged(Merge::least, 3, 4), 3u);
  EXPECT_EQ(merged(Merge::least, 4, 3), 3u);
}

TEST(CommunicatorStatistics, HaveGeneralFiguresAndThoseOfTheProtocol) {
  const CommunicatorStatistics statistics{
      {{"collectives_by_ring", std::uint64_t{2}}},
      {"canary", {{"requests_sent", std::uint64_t{3}}}, {}},
  };
  EXPECT_EQ(statistics["collectives_by_ring"], 2u);
  EXPECT_EQ(statistics["requests_sent"], 3u);
  EXPECT_EQ(statistics["messages_sent"], 0u);
}

}  // namespace
}  // namespace tributary::test
