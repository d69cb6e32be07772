// SPDX-License-Identifier: BSD-3-Clause
#include "totals.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::bench {
namespace {

using std::uint64_t;
using testing::ElementsAre;

CommunicatorStatistics statistics(uint64_t packets) {
  return {{{"collectives_by_ring", uint64_t{0}}, {"collectives_by_trees", uint64_t{2}}},
          {"trees",
           {{"ring", uint64_t{9}, Merge::same},
            {"window", packets + 3, Merge::least},
            {"packets_sent", packets},
            {"missing_by_rank", "1:5"}},
           {{{"group", "239.0.0.1"}, {"window", 2.5}, {"timeouts", uint64_t{0}}},
            {{"group", "239.0.0.2"}, {"window", 0.0}, {"timeouts", packets}}}}};
}

TEST(Totals, CountersAddUpOverRanks) {
  auto sums = numbers_of(statistics(5), Merge::sum);
  EXPECT_THAT(sums, ElementsAre(0, 2, 5));
  auto least = numbers_of(statistics(5), Merge::least);
  EXPECT_THAT(least, ElementsAre(8));
  sums = {0, 4, 12};
  least = {6};
  const auto totals = totals_of(statistics(5), sums, least);
  EXPECT_EQ(totals.all_ranks["collectives_by_trees"], 4u);
  EXPECT_EQ(totals.all_ranks["packets_sent"], 12u);
  EXPECT_EQ(totals.all_ranks["ring"], 9u) << "which all have";
  EXPECT_EQ(totals.all_ranks["window"], 6u) << "of which the least counts";
  EXPECT_EQ(totals.own.protocol, "trees");
  EXPECT_EQ(totals.own.figures["packets_sent"], 5u);
  EXPECT_EQ(totals.all_ranks.find("missing_by_rank"), nullptr) << "texts do not add up";
  EXPECT_EQ(totals.own.figures.value<std::string>("missing_by_rank"), "1:5");
}

TEST(Totals, LinesLeaveOutWhatIsNothing) {
  const auto own = statistics(5);
  const auto totals = totals_of(own, numbers_of(own, Merge::sum), numbers_of(own, Merge::least));
  EXPECT_THAT(lines_of(totals),
              ElementsAre("Figures, all ranks   : collectives_by_trees 2, ring 9, window 8, "
                          "packets_sent 5",
                          "Tree 0, rank 0       : group 239.0.0.1, window 2.5",
                          "Tree 1, rank 0       : group 239.0.0.2, timeouts 5"));
}

TEST(Totals, LinesAreNotTooLong) {
  std::vector<Figure> figures;
  for (int i = 10; i < 18; ++i) {
    figures.push_back({"packets_of_kind_" + std::to_string(i), uint64_t{123456}});
  }
  const auto lines = lines_of({Figures(figures), {}});
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0],
            "Figures, all ranks   : packets_of_kind_10 123456, packets_of_kind_11 123456,");
  EXPECT_EQ(lines[3],
            "                       packets_of_kind_16 123456, packets_of_kind_17 123456");
}

TEST(Totals, OfASingleRankThatDidNothingThereIsNothingToSay) {
  EXPECT_TRUE(lines_of({{{"collectives_by_ring", uint64_t{0}}}, {}}).empty());
}

}  // namespace
}  // namespace tributary::bench
