// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/tree_places.h"

#include <gtest/gtest.h>

namespace tributary::traffic {
namespace {

TEST(TreePlaces, KnowWhoIsWhere) {
  TreePlan plan;
  plan.workers = 3;
  plan.parent = 2;
  const TreePlaces places(plan, 6);
  for (std::uint32_t job = 0; job < 9; ++job) {
    std::size_t found = 0;
    for (std::size_t port = 0; port < 6; ++port) {
      if (const auto rank = places.rank_at(job, port)) {
        EXPECT_EQ(places.port_of(job, *rank), port);
        ++found;
      }
    }
    EXPECT_EQ(found, 3u);
    EXPECT_EQ(places.rank_at(job, 2), std::nullopt);
  }
}

}  // namespace
}  // namespace tributary::traffic
