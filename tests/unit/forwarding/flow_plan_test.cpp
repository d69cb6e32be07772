// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/flow_plan.h"

#include <gtest/gtest.h>

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t frame = 1514;
constexpr std::uint64_t network_control = 2048;

// A port of 10 Gbit/s whose neighbour needs 100 us to stop: 125,000 bytes are on the way by then.
PortConfig lossless_port() {
  PortConfig port;
  port.flow.mode = FlowControl::pause;
  port.flow.reaction = 100us;
  port.queue.capacity_bytes = 4'000'000;
  return port;
}

TEST(LineRate, IsThatOfTheShaperOrTheDeviceOrTheUsualOne) {
  PortConfig port;
  EXPECT_EQ(line_rate(port), 10'000'000'000u);
  port.line_bps = 25'000'000'000;
  EXPECT_EQ(line_rate(port), 25'000'000'000u);
  port.queue.rate_bps = 1'000'000'000;
  EXPECT_EQ(line_rate(port), 1'000'000'000u);
}

TEST(FlowPlan, IsNoneWhereNoPortHasFlowControl) {
  EXPECT_FALSE(plan_flow_control(std::vector<PortConfig>(2)).active());
}

TEST(FlowPlan, HasRoomBehindXoffForWhatStillComes) {
  const auto plan = plan_flow_control(std::vector(2, lossless_port()));
  const auto share = (4'000'000 - network_control) * 7 / 8 / 2;
  EXPECT_TRUE(plan.ports[0].lossless);
  EXPECT_EQ(plan.ports[0].xoff, share - (125'000 + 2 * frame));
  EXPECT_EQ(plan.ports[0].xon, plan.ports[0].xoff / 2);
}

TEST(FlowPlan, HasRoomForABurstOnASlowLine) {
  auto port = lossless_port();
  port.line_bps = 10'000'000;
  const auto plan = plan_flow_control(std::vector(1, port));
  EXPECT_EQ(plan.ports[0].xoff, (4'000'000 - network_control) * 7 / 8 - 32 * frame);
}

// A neighbour that takes no longer than it may is never held back: its BFD and its own requests for
// silence would wait, too.
TEST(FlowPlan, HoldsNobodyBackWhoIsSilentInTime) {
  for (const std::uint64_t rate :
       {10'000'000ull, 100'000'000ull, 200'000'000ull, 1'000'000'000ull, 10'000'000'000ull}) {
    auto port = lossless_port();
    port.line_bps = rate;
    port.flow.reaction = 3ms;
    port.queue.capacity_bytes = 16'000'000;
    const auto limits = plan_flow_control(std::vector(2, port)).ports[0];
    EXPECT_TRUE(limits.lossless) << rate;
    EXPECT_GE(limits.full - limits.xoff, rate / 8 * 3 / 1000 + 2 * frame) << rate;
  }
}

TEST(FlowPlan, SharesTheSmallestQueueAmongThePortsWithFlowControl) {
  auto small = lossless_port();
  small.queue.capacity_bytes = 2'000'000;
  PortConfig other;
  other.queue.capacity_bytes = 3'000'000;
  const auto plan = plan_flow_control(std::vector{lossless_port(), small, other});
  const auto usable = 2'000'000 - network_control;
  EXPECT_EQ(plan.ports[0].xoff, usable / 2 / 2 - (125'000 + 2 * frame)) << "half is for the others";
  EXPECT_EQ(plan.ports[2].mode, FlowControl::off);
  EXPECT_EQ(plan.others_bytes, usable / 2);
}

TEST(FlowPlan, SaysWhichCapacityMakesAllPortsLossless) {
  for (const std::uint32_t xoff : {0, 100'000}) {
    std::vector ports(3, lossless_port());
    ports[1].flow.xoff_bytes = xoff;
    ports[2].flow.reaction = 200us;
    const auto needed = plan_flow_control(ports).capacity_needed;
    const auto all_are_lossless = [&](std::uint64_t capacity) {
      for (auto& port : ports) {
        port.queue.capacity_bytes = static_cast<std::uint32_t>(capacity);
      }
      const auto plan = plan_flow_control(ports);
      return std::all_of(plan.ports.begin(), plan.ports.end(),
                         [](const BufferLimits& limits) { return limits.lossless; });
    };
    EXPECT_TRUE(all_are_lossless(needed));
    EXPECT_FALSE(all_are_lossless(needed - needed / 100)) << "not much more than it takes";
  }
}

TEST(FlowPlan, HasThresholdsAlsoWhereThereIsNoRoomForThem) {
  auto port = lossless_port();
  port.queue.capacity_bytes = 20'000;
  const auto limits = plan_flow_control(std::vector(2, port)).ports[0];
  EXPECT_FALSE(limits.lossless);
  EXPECT_GE(limits.xoff, 2 * frame);
  EXPECT_LT(limits.xon, limits.xoff);
  EXPECT_GE(limits.full, limits.xoff + frame);
}

TEST(FlowPlan, TakesTheThresholdsThatItIsGiven) {
  auto port = lossless_port();
  port.flow.xoff_bytes = 50'000;
  port.flow.xon_bytes = 40'000;
  auto limits = plan_flow_control(std::vector(1, port)).ports[0];
  EXPECT_EQ(limits.xoff, 50'000u);
  EXPECT_EQ(limits.xon, 40'000u);
  EXPECT_TRUE(limits.lossless);
  port.flow.xon_bytes = 60'000;
  limits = plan_flow_control(std::vector(1, port)).ports[0];
  EXPECT_LT(limits.xon, limits.xoff);
}

TEST(FlowPlan, LeavesHalfOfAShareToTheOtherClasses) {
  auto port = lossless_port();
  port.flow.mode = FlowControl::pfc;
  const auto plan = plan_flow_control(std::vector(1, port));
  const auto share = (4'000'000 - network_control) * 7 / 8;
  EXPECT_TRUE(plan.by_class);
  EXPECT_EQ(plan.ports[0].class_xoff, share / 2 - (125'000 + 2 * frame));
  EXPECT_EQ(plan.ports[0].class_xon, plan.ports[0].class_xoff / 2);
}

TEST(FlowPlan, AsksForSilenceAgainBeforeItEnds) {
  for (const std::uint64_t rate : {10'000'000ull, 1'000'000'000ull, 100'000'000'000ull}) {
    auto port = lossless_port();
    port.line_bps = rate;
    const auto limits = plan_flow_control(std::vector(1, port)).ports[0];
    const auto silence = pause_time(limits.quanta, rate);
    EXPECT_LE(limits.again, silence / 2) << rate;
    EXPECT_LE(limits.again, 10ms) << rate;
    EXPECT_LE(silence, 250ms) << rate;
    EXPECT_GE(limits.quanta, rate < 10'000'000'000 ? 1 : 0xffff) << rate;
  }
}

TEST(FlowPlan, PrioritiesOfTagsAreTheirOwnOrThoseOfTheirClasses) {
  auto port = lossless_port();
  port.flow.mode = FlowControl::pfc;
  const auto alone = plan_flow_control(std::vector(1, port)).priorities;
  EXPECT_EQ(alone[26], 3);
  EXPECT_EQ(alone[marking_of_priority(3)], 3);
  EXPECT_EQ(alone[marking_of_priority(7)], 7);
  TrafficClass roce;
  roce.pcp = Priorities{0x08};
  roce.pfc_priority = 3;
  port.queue.classes = {roce, TrafficClass{}};
  const auto classed = plan_flow_control(std::vector(1, port)).priorities;
  EXPECT_EQ(classed[marking_of_priority(3)], 3);
  EXPECT_EQ(classed[marking_of_priority(7)], no_priority);
  EXPECT_EQ(classed[26], no_priority) << "its class has no codepoints";
}

TEST(FlowPlan, DividesThePartOfLosslessClasses) {
  auto port = lossless_port();
  port.flow.mode = FlowControl::pfc;
  TrafficClass roce;
  roce.codepoints = {{24}};
  roce.capacity_bytes = 3'000'000;
  roce.pfc_priority = 5;
  port.queue.classes = {roce, TrafficClass{}};
  const auto plan = plan_flow_control(std::vector(2, port));
  const auto share = (3'000'000 - network_control) * 7 / 8 / 2;
  EXPECT_TRUE(plan.ports[0].lossless);
  EXPECT_EQ(plan.ports[0].xoff, share - (125'000 + 2 * frame));
  EXPECT_EQ(plan.ports[0].classes, Priorities{0x20});
  EXPECT_EQ(plan.priorities[24], 5);
  EXPECT_EQ(plan.priorities[40], no_priority)
      << "class selectors say nothing where there are classes";
  port.queue.classes[0].capacity_bytes = static_cast<std::uint32_t>(plan.capacity_needed);
  EXPECT_TRUE(plan_flow_control(std::vector(2, port)).ports[0].lossless);
  port.queue.classes[0].capacity_bytes -= port.queue.classes[0].capacity_bytes / 100;
  EXPECT_FALSE(plan_flow_control(std::vector(2, port)).ports[0].lossless);
}

}  // namespace
}  // namespace tributary::forwarding
