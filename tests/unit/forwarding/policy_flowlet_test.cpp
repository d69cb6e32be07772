// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include <gtest/gtest.h>

#include "unit/forwarding/choices.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t same_slot = FlowletTable::slots;

TEST(Flowlet, BeginsAtTheLeastFilledPortOrElseWhereTheHashSays) {
  Choices choices(3);
  EXPECT_EQ(choices.choose(Policy::flowlet, flow_to(1, 3)), 1u);
  choices.fill(1, 100);
  choices.fill(2, 50);
  EXPECT_EQ(choices.choose(Policy::flowlet, flow_to(1, 3, 1)), 0u);
  EXPECT_EQ(choices.counters().flowlets, 2u);
  EXPECT_EQ(choices.counters().flowlets_moved, 0u);
}

TEST(Flowlet, BeginsAtTheQueueThatItsLineEmptiesFirst) {
  Choices choices(3);
  for (PortIndex port = 0; port < 3; ++port) {
    choices.pace(port, port == 2 ? 10'000'000'000 : 1'000'000'000);
  }
  choices.fill(0, 100);
  choices.fill(1, 100);
  choices.fill(2, 400);
  EXPECT_EQ(choices.choose(Policy::flowlet, flow_to(1, 3)), 2u);
}

TEST(Flowlet, StaysWithoutAPauseAndMovesAfterOne) {
  Choices choices(3);
  choices.config.flowlet_gap = 500us;
  const auto flow = flow_to(1, 3);
  EXPECT_EQ(choices.choose(Policy::flowlet, flow), 1u);
  choices.fill(1, 900);
  choices.fill(2, 10);
  for (int i = 0; i < 10; ++i) {
    choices.now += 500us;
    EXPECT_EQ(choices.choose(Policy::flowlet, flow), 1u) << "exactly the gap is no pause";
  }
  choices.now += 500us + 1ns;
  EXPECT_EQ(choices.choose(Policy::flowlet, flow), 0u);
  EXPECT_EQ(choices.counters().flowlets, 2u);
  EXPECT_EQ(choices.counters().flowlets_moved, 1u);
}

TEST(Flowlet, StaysAfterAPauseWhereNoOtherPortIsEmptier) {
  Choices choices(3);
  const auto flow = flow_to(1, 3);
  choices.fill(1, 10);
  EXPECT_EQ(choices.choose(Policy::flowlet, flow), 2u);
  choices.fill(1, 0);
  choices.now += 1s;
  EXPECT_EQ(choices.choose(Policy::flowlet, flow), 2u);
  EXPECT_EQ(choices.counters().flowlets_moved, 0u);
}

TEST(Flowlet, LeavesADownPortAtOnce) {
  Choices choices(3);
  const auto flow = flow_to(1, 3);
  EXPECT_EQ(choices.choose(Policy::flowlet, flow), 1u);
  choices.set_up(1, false);
  choices.fill(0, 10);
  EXPECT_EQ(choices.choose(Policy::flowlet, flow), 2u);
  choices.set_up(1, true);
  EXPECT_EQ(choices.choose(Policy::flowlet, flow), 2u) << "no pause yet";
  EXPECT_EQ(choices.counters().flowlets_moved, 1u);
}

TEST(Flowlet, AFlowWhoseSlotIsInUseGoesByItsHashUntilTheSlotIsFree) {
  Choices choices(3);
  const auto first = flow_to(1, 3);
  const Flow second{first.hash + same_slot, 0};
  EXPECT_EQ(choices.choose(Policy::flowlet, first), 1u);
  choices.fill(1, 900);
  EXPECT_EQ(choices.choose(Policy::flowlet, second), 1u);
  EXPECT_EQ(choices.choose(Policy::flowlet, first), 1u) << "the first keeps its slot";
  EXPECT_EQ(choices.counters().flowlets, 1u);
  choices.now += 1s;
  EXPECT_NE(choices.choose(Policy::flowlet, second), 1u);
  EXPECT_EQ(choices.counters().flowlets, 2u);
  EXPECT_EQ(choices.counters().flowlets_moved, 0u) << "another flow, not the same elsewhere";
}

TEST(Flowlet, AFullTableServesEverybodyByHash) {
  Choices choices(2);
  for (std::uint32_t flow = 0; flow < FlowletTable::slots; ++flow) {
    choices.choose(Policy::flowlet, {flow, 0});
  }
  EXPECT_EQ(choices.counters().flowlets, FlowletTable::slots);
  choices.fill(0, 1000);
  for (std::uint32_t flow = 0; flow < FlowletTable::slots; ++flow) {
    const Flow late{flow + 16 * same_slot, 0};
    EXPECT_EQ(choices.choose(Policy::flowlet, late), choices.choose(Policy::ecmp, late));
  }
  EXPECT_EQ(choices.counters().flowlets, FlowletTable::slots);
}

}  // namespace
}  // namespace tributary::forwarding
