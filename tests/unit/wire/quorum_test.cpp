// SPDX-License-Identifier: BSD-3-Clause
#include "wire/quorum.h"

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

TEST(QuorumOf, RoundsUpToWholeRanks) {
  EXPECT_EQ(quorum_of(0.8, 5), 4u);
  EXPECT_EQ(quorum_of(0.8, 8), 7u);
  EXPECT_EQ(quorum_of(0.81, 5), 5u);
  EXPECT_EQ(quorum_of(0.1 * 3, 10), 3u);
  EXPECT_EQ(quorum_of(1, 7), 7u);
}

TEST(QuorumOf, HasOneRankAtLeast) {
  for (const std::uint32_t ranks : {1u, 2u, 1024u}) {
    EXPECT_GE(quorum_of(quorum_share_least, ranks), 1u);
  }
}

}  // namespace
}  // namespace tributary::wire
