// SPDX-License-Identifier: BSD-3-Clause
#include "host/path_search.h"

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

constexpr std::uint32_t step = 32;

struct Searched {
  std::uint32_t found = 0;
  unsigned tried = 0;
};
Searched search_through(std::uint32_t path, std::uint32_t base, std::uint32_t full) {
  PathSearch search(base, full, step);
  Searched searched;
  while (const auto size = search.next()) {
    EXPECT_EQ(*size % step, 0u);
    EXPECT_LT(*size, full);
    search.note(*size <= path);
    ++searched.tried;
  }
  searched.found = search.found();
  return searched;
}

TEST(PathSearch, FindsTheLargestThatPasses) {
  for (const std::uint32_t full : {1408u, 4000u, 8896u}) {
    for (std::uint32_t path = 1120; path < full; ++path) {
      const auto searched = search_through(path, 1120, full);
      EXPECT_EQ(searched.found, path / step * step) << full;
      EXPECT_LE(searched.tried, 9u);
    }
  }
}

TEST(PathSearch, WhereNotEvenTheBasePassesItEndsAtOnce) {
  const auto searched = search_through(1119, 1120, 8896);
  EXPECT_EQ(searched.found, 0u);
  EXPECT_EQ(searched.tried, 1u);
}

TEST(PathSearch, BelowTheBaseNothingIsTried) {
  EXPECT_EQ(search_through(5000, 1120, 1120).tried, 0u);
  EXPECT_EQ(search_through(5000, 1120, 992).tried, 0u);
}

}  // namespace
}  // namespace tributary::host
