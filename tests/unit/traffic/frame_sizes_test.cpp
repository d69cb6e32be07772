// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/frame_sizes.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace tributary::traffic {
namespace {

TEST(FrameSizes, FixedSizeCountsTheCheckSequence) {
  auto sizes = FrameSizes::parse("64");
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->next_bytes(), 60u);
  EXPECT_EQ(sizes->next_bytes(), 60u);
  EXPECT_EQ(sizes->largest_bytes(), 60u);
}

TEST(FrameSizes, RangeHasEverySizeOnceInEachCycle) {
  for (const auto& [first, last] : {std::pair{64u, 1518u}, {100u, 101u}, {9000u, 9018u}}) {
    auto sizes = FrameSizes::parse(std::to_string(first) + "-" + std::to_string(last));
    ASSERT_TRUE(sizes);
    std::set<std::uint32_t> seen;
    for (std::uint32_t i = first; i <= last; ++i) {
      seen.insert(sizes->next_bytes());
    }
    EXPECT_EQ(seen.size(), last - first + 1);
    EXPECT_EQ(*seen.begin(), first - 4);
    EXPECT_EQ(*seen.rbegin(), last - 4);
  }
}

TEST(FrameSizes, ImixIsSevenToFourToOne) {
  auto sizes = FrameSizes::parse("imix");
  ASSERT_TRUE(sizes);
  std::map<std::uint32_t, int> seen;
  for (int i = 0; i < 24; ++i) {
    ++seen[sizes->next_bytes()];
  }
  EXPECT_EQ(seen, (std::map<std::uint32_t, int>{{60, 14}, {566, 8}, {1514, 2}}));
}

TEST(FrameSizes, NoneIsBelowTheSmallest) {
  EXPECT_FALSE(FrameSizes::parse("81", 82));
  EXPECT_EQ(FrameSizes::parse("82", 82)->next_bytes(), 78u);
  std::map<std::uint32_t, int> seen;
  auto sizes = FrameSizes::parse("imix", 82);
  for (int i = 0; i < 12; ++i) {
    ++seen[sizes->next_bytes()];
  }
  EXPECT_EQ(seen, (std::map<std::uint32_t, int>{{78, 7}, {566, 4}, {1514, 1}}));
}

TEST(FrameSizes, RefusesWithAHint) {
  for (const char* text :
       {"", "63", "9019", "100-99", "64-", "-64", "64-1518-9000", "big", "64 "}) {
    const auto sizes = FrameSizes::parse(text);
    ASSERT_FALSE(sizes) << text;
    EXPECT_NE(sizes.error().find("imix"), std::string::npos);
  }
}

}  // namespace
}  // namespace tributary::traffic
