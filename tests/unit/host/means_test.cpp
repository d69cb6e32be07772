// SPDX-License-Identifier: BSD-3-Clause
#include "host/means.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

constexpr Means by_carrier{By::carrier, false};
constexpr Means by_plan{By::ring, true};

TEST(LargestPiece, CountsForTheWholeCall) {
  LargestPiece largest(by_carrier);
  largest.begin(by_plan, 4096);
  EXPECT_EQ(largest.means(), by_plan) << "no piece has gone as the whole call would";
  largest.begin({By::ring, false}, 100);
  largest.begin(by_carrier, 4096);
  EXPECT_EQ(largest.means(), by_plan);
  largest.begin(by_carrier, 4097);
  EXPECT_EQ(largest.means(), by_carrier);
}

TEST(LargestPiece, IsTheCallWhereNoneIsBegun) {
  EXPECT_EQ(LargestPiece(by_plan).means(), by_plan);
}

}  // namespace
}  // namespace tributary::host::test
