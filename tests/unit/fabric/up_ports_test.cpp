// SPDX-License-Identifier: BSD-3-Clause
// Tests that reductions beside traffic that fills links gain by a choice among up-ports.
#include "unit/fabric/up_ports.h"

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

TEST(UpPorts, AdaptiveOnesCarryMoreThanEcmpAndMostWhereSpinesTellOfTheirQueues) {
  const auto& [heard, unheard, tree, trees, ecmp] = up_port_policies;
  double of_heard = 0;
  double of_unheard = 0;
  double of_trees = 0;
  double of_ecmp = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const UpPortCase congested{.bytes = 2 << 20, .seed = seed};
    const auto by_heard = goodput_of(heard, congested).value_or(0);
    const auto by_ecmp = goodput_of(ecmp, congested).value_or(0);
    EXPECT_GT(by_heard, by_ecmp * 1.05) << "seed " << seed;
    of_heard += by_heard;
    of_unheard += goodput_of(unheard, congested).value_or(0);
    of_trees += goodput_of(trees, congested).value_or(0);
    of_ecmp += by_ecmp;
  }
  EXPECT_GT(of_heard, of_ecmp * 1.15);
  EXPECT_GT(of_heard, of_unheard * 1.03);
  EXPECT_GT(of_unheard, of_ecmp * 1.05);
  EXPECT_GT(of_heard, of_trees * 1.4);
}

// The jitter of BFD is drawn from the seed, too.
TEST(UpPorts, ACaseReplays) {
  constexpr UpPortCase congested{.bytes = 256 << 10};
  const auto& heard = up_port_policies.front();
  const auto goodput = goodput_of(heard, congested);
  ASSERT_TRUE(goodput);
  EXPECT_EQ(goodput, goodput_of(heard, congested));
}

}  // namespace
}  // namespace tributary::test
