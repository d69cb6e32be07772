// SPDX-License-Identifier: BSD-3-Clause
// Tests that all ranks get the exact sums of sparse blocks on two levels of switches, also when
// packets are lost, doubled or late, and when switches restart in the middle of a block.
#include "sparse_network.h"

namespace tributary::flare {
namespace {

constexpr std::uint64_t sparse_blocks = 60;

class FlareSparseNetwork : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  // Expects that no switch had more buffers than are reserved, and that with the engines gone no
  // packet is out.
  static void expect_nothing_leaks(SparseNetwork& network) {
    network.now += 20s;
    for (auto& node : network.switches) {
      EXPECT_TRUE(node.harness->ledger.balanced());
      EXPECT_EQ(node.harness->ledger.lost(), 0u);
      EXPECT_LE(node.harness->figure("buffers_high_water"), buffers_of(node.config.trees[0]));
      node.harness->expire(network.now);
      EXPECT_EQ(node.harness->figure("buffers_in_use"), 0u);
      EXPECT_EQ(node.harness->figure("sparse_blocks_gathering"), 0u);
    }
    network.forget_packets();
    EXPECT_EQ(network.pool.outstanding(), 0u);
  }
};

TEST_P(FlareSparseNetwork, WithoutLossNothingIsSentTwice) {
  SparseNetwork network(GetParam(), {});
  network.begin_run(1, sparse_blocks);
  ASSERT_TRUE(network.run([] {}));
  EXPECT_EQ(network.wrong, 0u);
  for (std::size_t at = 0; at < network.switches.size(); ++at) {
    EXPECT_EQ(network.figure(at, "sparse_sums_total"), sparse_blocks);
    for (const auto* none : {"duplicates_total", "inquiries_sent_total", "sparse_restarts_total"}) {
      EXPECT_EQ(network.figure(at, none), 0u) << none;
    }
    EXPECT_EQ(network.figure(at, "sparse_spills_total") > 0, at != 0) << "the root has an array";
  }
  expect_nothing_leaks(network);
}

TEST_P(FlareSparseNetwork, WhatIsLostComesTwiceOrLateIsRightInEachRun) {
  SparseNetwork network(GetParam(), {.loss = 0.02, .duplication = 0.03, .reorders = true});
  for (const std::uint32_t run : {11u, 22u, 33u}) {
    network.begin_run(run, sparse_blocks);
    ASSERT_TRUE(network.run([] {}));
  }
  EXPECT_EQ(network.wrong, 0u);
  expect_nothing_leaks(network);
}

TEST_P(FlareSparseNetwork, SwitchesThatForgetAreToldAgain) {
  SparseNetwork network(GetParam(), {.loss = 0.01, .duplication = 0.01, .reorders = true});
  std::uint32_t restarts = 0;
  std::uint64_t begun_anew = 0;
  const auto forget = [&] {
    if (network.random() % 300 == 0) {
      const auto at = network.random() % network.switches.size();
      begun_anew += network.figure(at, "sparse_restarts_total");
      network.restart(at);
      ++restarts;
    }
  };
  network.begin_run(1, sparse_blocks);
  ASSERT_TRUE(network.run(forget));
  EXPECT_EQ(network.wrong, 0u);
  EXPECT_GT(restarts, 0u);
  EXPECT_GT(begun_anew, 0u);
  expect_nothing_leaks(network);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlareSparseNetwork, ::testing::Range(1u, 6u));

}  // namespace
}  // namespace tributary::flare
