// SPDX-License-Identifier: BSD-3-Clause
// Tests that all ranks get the right results on two levels of switches, also with loss and with
// switches that restart.
#include "network.h"

#include <tuple>

namespace tributary::flare {
namespace {

constexpr std::uint64_t blocks = 100;

class FlareNetwork : public ::testing::TestWithParam<std::tuple<std::uint32_t, bool>> {
 protected:
  std::uint32_t seed() const { return std::get<0>(GetParam()); }
  bool reproducible() const { return std::get<1>(GetParam()); }
};

void expect_balance(const Network& network) {
  for (const auto& node : network.switches) {
    EXPECT_TRUE(node.harness->ledger.balanced());
    EXPECT_LE(node.harness->figure("buffers_high_water"), buffers_of(node.config.trees[0]));
  }
}

TEST_P(FlareNetwork, WithoutLossNothingIsSentTwice) {
  Network network(seed(), 0, reproducible());
  network.begin_run(1, blocks);
  ASSERT_TRUE(network.run([] {}));
  EXPECT_EQ(network.wrong, 0u);
  for (const auto& node : network.switches) {
    EXPECT_EQ(node.harness->figure("results_total"), blocks);
    EXPECT_EQ(node.harness->figure("duplicates_total"), 0u);
    EXPECT_EQ(node.harness->figure("inquiries_sent_total"), 0u);
  }
  expect_balance(network);
}

TEST_P(FlareNetwork, WhatIsLostComesAgainInEachRun) {
  Network network(seed(), 0.05, reproducible());
  for (const std::uint32_t run : {11u, 22u, 33u}) {
    network.begin_run(run, blocks);
    ASSERT_TRUE(network.run([] {}));
  }
  EXPECT_EQ(network.wrong, 0u);
  expect_balance(network);
}

TEST_P(FlareNetwork, SwitchesThatForgetAreToldAgain) {
  Network network(seed(), 0.02, reproducible());
  std::uint32_t restarts = 0;
  const auto forget = [&] {
    if (network.random() % 400 == 0) {
      network.restart(network.random() % network.switches.size());
      ++restarts;
    }
  };
  network.begin_run(1, blocks);
  ASSERT_TRUE(network.run(forget));
  EXPECT_EQ(network.wrong, 0u);
  EXPECT_GT(restarts, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlareNetwork,
                         ::testing::Combine(::testing::Range(1u, 9u), ::testing::Bool()));

}  // namespace
}  // namespace tributary::flare
