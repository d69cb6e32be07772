// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

using engine::Merge;
using testing::ElementsAre;
using testing::Pair;

TEST(Merge, FiguresOfCoresMergeAsTheyAreMarked) {
  std::vector<std::pair<std::string, std::uint64_t>> figures;
  for (const std::uint64_t value : {5u, 7u, 6u}) {
    merge_figure(figures, {"results_total", value});
    merge_figure(figures, {"packets_held_high_water", value, Merge::maximum});
    merge_figure(figures, {"wnd_cap", value, Merge::minimum});
  }
  EXPECT_THAT(figures, ElementsAre(Pair("results_total", 18), Pair("packets_held_high_water", 7),
                                   Pair("wnd_cap", 5)));
}

TEST(Merge, AJobHasTheHighWaterMarkOfOneCore) {
  engine::JobStatus row;
  for (const std::uint64_t value : {5u, 7u}) {
    engine::JobStatus job;
    job.job = 9;
    job.contributions = value;
    job.descriptors = value;
    job.descriptors_high_water = value;
    merge_job(row, job);
  }
  EXPECT_EQ(row.job, 9u);
  EXPECT_EQ(row.contributions, 12u);
  EXPECT_EQ(row.descriptors, 12u);
  EXPECT_EQ(row.descriptors_high_water, 7u);
}

}  // namespace
}  // namespace tributary::dataplane
