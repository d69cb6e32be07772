// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/merge.h"

#include <chrono>
#include <optional>
#include <vector>

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

TEST(Merge, CoresThatHaveHeardOfATreeKnowItTogether) {
  const auto row = [](std::optional<Time> used, std::uint64_t blocks) {
    return engine::TreeStatus{
        9, 1, false, used, {{"contributions_total", blocks}, {"window", 64, Merge::maximum}}};
  };
  const auto at = [](int second) { return Time{} + std::chrono::seconds(second); };
  auto all = row({}, 0);
  merge_tree(all, row(at(5), 3));
  merge_tree(all, row({}, 7));  // what nobody has told it
  auto busy = row(at(4), 5);
  busy.active = true;
  merge_tree(all, busy);
  EXPECT_EQ(all.figures.at(0).value, 8u);
  EXPECT_EQ(all.figures.at(1).value, 64u);
  EXPECT_EQ(all.used, at(5));
  EXPECT_TRUE(all.active);
}

engine::StallStatus stall(std::uint32_t block, std::uint32_t attempt, bool sparse = false,
                          std::vector<std::uint16_t> missing = {}) {
  engine::StallStatus status;
  status.job = 9;
  status.block = block;
  status.attempt = attempt;
  status.sparse = sparse;
  status.missing = std::move(missing);
  return status;
}

TEST(Merge, OfAttemptsAtOneBlockTheOneThatTellsMoreIsKept) {
  Stalls stalls;
  merge_stall(stalls, 0, "canary", stall(42, 1));
  merge_stall(stalls, 0, "canary", stall(42, 2));
  EXPECT_EQ(stalls.begin()->second.attempt, 2u);
  merge_stall(stalls, 0, "canary", stall(42, 0, false, {3}));
  merge_stall(stalls, 0, "canary", stall(42, 3));
  ASSERT_EQ(stalls.size(), 1u);
  EXPECT_EQ(stalls.begin()->second.attempt, 0u);
}

// As where another program sends by the interface, and loses.
TEST(Merge, WhatAnInterfaceDropsLaterTakesNothingBackThatWasTold) {
  std::uint64_t told = 0;
  const auto after = [&](std::uint64_t sent, std::uint64_t unsent) {
    forwarding::PortCounters counters;
    counters.tx_packets = sent;
    take_off_unsent(counters, unsent, told);
    return std::pair(counters.tx_packets, counters.tx_device_dropped);
  };
  EXPECT_EQ(after(1000, 10), std::pair(990ul, 10ul));
  EXPECT_EQ(after(1000, 60), std::pair(990ul, 10ul));
  EXPECT_EQ(after(1030, 60), std::pair(990ul, 40ul));
  EXPECT_EQ(after(1100, 60), std::pair(1040ul, 60ul));
}

TEST(Merge, BlocksThatHaveAnythingElseInTheirNamesAreDifferent) {
  Stalls stalls;
  merge_stall(stalls, 0, "flare", stall(42, 0));
  merge_stall(stalls, 0, "flare", stall(42, 0, true));
  merge_stall(stalls, 0, "flare", stall(43, 0));
  merge_stall(stalls, 0, "panama", stall(42, 0));
  merge_stall(stalls, 1, "flare", stall(42, 0));
  EXPECT_EQ(stalls.size(), 5u);
}

}  // namespace
}  // namespace tributary::dataplane
