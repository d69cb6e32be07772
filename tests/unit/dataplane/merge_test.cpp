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

}  // namespace
}  // namespace tributary::dataplane
