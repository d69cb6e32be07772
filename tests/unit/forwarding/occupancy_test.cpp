// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/occupancy.h"

#include <gtest/gtest.h>

#include "forwarding/flow_plan.h"
#include "forwarding/rows.h"

namespace tributary::forwarding {
namespace {

TEST(Occupancy, WithoutGaugesOnlyTheBurstIsSeen) {
  Occupancy queues({}, 2);
  queues.add(1, 5000);
  EXPECT_EQ(queues.bytes(0), 0u);
  EXPECT_EQ(queues.bytes(1), 5000u);
  EXPECT_FALSE(queues.filling(1).above_half());
  queues.begin_burst();
  EXPECT_EQ(queues.bytes(1), 0u);
}

TEST(Occupancy, WhatTheBurstSentComesOnTopOfTheGauge) {
  std::vector<QueueGauge> gauges(1);
  gauges[0].publish_capacity(4000);
  gauges[0].publish_bytes(1600);
  Occupancy queues(gauges, 1);
  queues.add(0, 400);
  EXPECT_EQ(queues.bytes(0), 2000u);
  EXPECT_FALSE(queues.filling(0).above_half());
  queues.add(0, 1);
  EXPECT_TRUE(queues.filling(0).above_half());
}

TEST(Occupancy, AShortFrameTakesABuffer) {
  Occupancy queues({}, 1);
  queues.add(0, 66);
  EXPECT_EQ(queues.bytes(0), buffer_bytes_min);
}

TEST(Occupancy, EachClassHasAQueueOfItsOwn) {
  std::vector<QueueGauge> gauges(2);
  gauges[1].publish_capacity(4000, 0);
  gauges[1].publish_capacity(2000, 1);
  gauges[1].publish_bytes(3000, 0);
  Occupancy queues(gauges, 2);
  queues.divide(std::vector<TrafficClass>{{"rest", {}}, {"sums", {{32}}}});
  queues.add(1, 1000, 1);
  EXPECT_TRUE(queues.filling(1, 0).above_half());
  EXPECT_FALSE(queues.filling(1, 1).above_half());
  queues.add(1, 300, 1);
  EXPECT_TRUE(queues.filling(1, 1).above_half());
  EXPECT_EQ(queues.bytes(0, 1), 0u) << "of the other port";
  queues.begin_burst();
  EXPECT_EQ(queues.bytes(1, 1), 0u);
}

TEST(Occupancy, SaysWhetherPacketsAreOfOtherClassesThanBefore) {
  Occupancy queues({}, 1);
  const TrafficClass rest{"rest", {}};
  EXPECT_FALSE(queues.divide({}));
  EXPECT_TRUE(queues.divide(std::vector{rest, TrafficClass{"sums", {{32}}}}));
  EXPECT_FALSE(queues.divide(std::vector{rest, TrafficClass{"other name", {{32}}}}));
  EXPECT_TRUE(queues.divide(std::vector{rest, TrafficClass{"sums", {{8}}}}));
  EXPECT_TRUE(queues.divide({}));
  EXPECT_TRUE(queues.divide(std::vector{rest, TrafficClass{"sums", {{8}}}}));
}

// As long as nobody knows better, a line is as fast as one whose rate nobody configured.
TEST(Occupancy, ALineOfUnknownRateIsAUsualOne) {
  std::vector<QueueGauge> gauges(2);
  gauges[1].publish_rate(line_rate(PortConfig{}));
  const Occupancy queues(gauges, 3);
  for (PortIndex port = 0; port < 3; ++port) {
    EXPECT_EQ(queues.filling(port).rate_kbps, 10'000'000u) << port;
  }
}

TEST(Occupancy, TheBridgeSeemsEmpty) {
  std::vector<QueueGauge> gauges(1);
  const Occupancy queues(gauges, 1);
  EXPECT_EQ(queues.bytes(bridge_interface), 0u);
  EXPECT_FALSE(queues.filling(bridge_interface).above_half());
}

}  // namespace
}  // namespace tributary::forwarding
