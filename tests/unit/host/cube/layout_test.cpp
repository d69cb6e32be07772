// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/layout.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using Kind = CubeLayout::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CubeLayout, RanksOfASwitchDifferInOneDigit) {
  const auto layout = *CubeLayout::of(Kind::bcube, 7, 9, 2);  // (1, 2)
  EXPECT_EQ(layout.group_size(), 3u);
  EXPECT_THAT(layout.group(0), ElementsAre(6, 7, 8));
  EXPECT_THAT(layout.group(1), ElementsAre(1, 4, 7));
  EXPECT_EQ(layout.place(0), 1u);
  EXPECT_EQ(layout.place(1), 2u);
}

TEST(CubeLayout, EachPartBeginsWithAnotherInterface) {
  const auto layout = *CubeLayout::of(Kind::bcube, 0, 8, 3);
  EXPECT_THAT(layout.route(0), ElementsAre(0, 1, 2));
  EXPECT_THAT(layout.route(1), ElementsAre(1, 2, 0));
  EXPECT_THAT(layout.route(2), ElementsAre(2, 0, 1));
}

TEST(CubeLayout, NeighboursNameEachOther) {
  for (const auto& [kind, size, interfaces] :
       {std::tuple{Kind::bcube, 16u, 2u}, {Kind::bcube, 27u, 3u}, {Kind::mesh, 5u, 2u}}) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      for (const auto& [interface, peer, place] :
           CubeLayout::of(kind, rank, size, interfaces)->neighbours()) {
        const auto theirs = *CubeLayout::of(kind, peer, size, interfaces);
        EXPECT_EQ(theirs.place(interface), place);
        const auto group = theirs.group(interface);
        EXPECT_NE(std::ranges::find(group, rank), group.end());
      }
    }
  }
}

TEST(CubeLayout, InAMeshEveryInterfaceReachesAll) {
  const auto layout = *CubeLayout::of(Kind::mesh, 2, 5, 2);
  EXPECT_THAT(layout.group(1), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(layout.route(1), ElementsAre(1));
  EXPECT_EQ(layout.neighbours().size(), 8u);
}

TEST(CubeLayout, NumbersThatMakeNoBCubeAreRefused) {
  const auto six = CubeLayout::of(Kind::bcube, 0, 6, 2);
  ASSERT_FALSE(six);
  EXPECT_THAT(six.error().message,
              HasSubstr("with 2 interfaces a BCube has 4, 9, 16, ... ranks, not 6"));
  const auto none = CubeLayout::of(Kind::mesh, 0, 6, 5);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("1 to 4 interfaces, not 5"));
}

}  // namespace
}  // namespace tributary::host::test
