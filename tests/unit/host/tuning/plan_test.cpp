// SPDX-License-Identifier: BSD-3-Clause
#include "host/tuning/plan.h"

#include <chrono>
#include <cstddef>
#include <limits>

#include <gtest/gtest.h>

namespace tributary::host::tuning::test {
namespace {

using namespace std::chrono_literals;

// Adds costs of that latency and so many bytes a microsecond, at the sizes that ranks measure.
void add(CostTable& table, Means means, Duration latency, std::size_t bytes_per_us,
         std::size_t largest) {
  for (std::size_t bytes = means == Means::ring ? 4096 : 8; bytes <= largest;
       bytes = bytes < 4096 ? 4096 : bytes * 8) {
    table.add(means, bytes, latency + std::chrono::microseconds(bytes / bytes_per_us));
  }
}

// Returns the costs of 8 ranks with 1 Gbit/s, and a switch with twice the latency of two hosts.
CostTable usual(std::size_t largest = 256 << 10) {
  CostTable table;
  add(table, Means::carrier, 200us, 110, largest);
  add(table, Means::doubling, 90us, 37, largest);
  add(table, Means::ring, 420us, 63, largest);
  return table;
}

TEST(Plan, WithoutMeasurementsTheCarrierHasAll) {
  const Plan plan;
  for (const std::size_t bytes : {0, 8, 1 << 20}) {
    EXPECT_EQ(plan.at(bytes), Means::carrier);
  }
  EXPECT_EQ(plan.text("canary"), "canary for all sizes");
  EXPECT_EQ(Plan(CostTable()).text("canary"), "canary for all sizes");
  EXPECT_EQ(plan.doubling_up_to(), doubling_bytes_max);
}

TEST(Plan, ShortVectorsGoByTheHostsAndLongOnesByTheSwitches) {
  const Plan plan(usual());
  EXPECT_EQ(plan.text("canary"), "doubling up to 4 KiB, canary beyond");
  for (const std::size_t bytes : {0, 1, 8, 4096}) {
    EXPECT_TRUE(plan.by_hosts(bytes)) << bytes;
  }
  for (const std::size_t bytes :
       {std::size_t{4097}, std::size_t{1} << 20, std::numeric_limits<std::size_t>::max()}) {
    EXPECT_FALSE(plan.by_hosts(bytes)) << bytes;
  }
}

TEST(Plan, WhereTheRingIsFasterFromTheSmallestSizeOnNobodyDoubles) {
  CostTable table;
  add(table, Means::carrier, 10ms, 1000, 4096);
  add(table, Means::doubling, 5ms, 1000, 4096);
  add(table, Means::ring, 1ms, 1000, 4096);
  const Plan plan(table);
  EXPECT_EQ(plan.at(8), Means::ring);
  EXPECT_EQ(plan.doubling_up_to(), 0u);
}

// Then a vector that is too long to be doubled goes by what is faster of the others.
TEST(Plan, HostsDoubleUpToABound) {
  CostTable table;
  add(table, Means::carrier, 3ms, 1000, 256 << 10);
  add(table, Means::doubling, 2ms, 1000, 256 << 10);
  add(table, Means::ring, 8ms, 1000, 256 << 10);
  EXPECT_EQ(Plan(table).at(256 << 10), Means::doubling);
  const Plan bounded(table, doubling_bytes_max);
  EXPECT_EQ(bounded.at(256 << 10), Means::carrier);
  EXPECT_EQ(bounded.text("canary"), "doubling up to 32 KiB, canary beyond");
}

TEST(Plan, HostsHaveToBeClearlyFaster) {
  CostTable table;
  add(table, Means::carrier, 200us, 1000, 4096);
  add(table, Means::doubling, 185us, 1000, 4096);
  EXPECT_EQ(Plan(table).text("flare"), "flare for all sizes");
}

// This is the case where a switch in software is slower than the hosts' links.
TEST(Plan, LongVectorsGoRoundTheRingWhereThatIsFaster) {
  CostTable table;
  add(table, Means::carrier, 50us, 20, 2 << 20);
  add(table, Means::doubling, 100us, 40, 256 << 10);
  add(table, Means::ring, 500us, 100, 2 << 20);
  const Plan plan(table);
  EXPECT_EQ(plan.text("canary"), "canary up to 2 KiB, doubling up to 16 KiB, ring beyond");
  EXPECT_EQ(plan.doubling_up_to(), 16384u);
}

// Otherwise two disturbed sizes would decide for all longer ones.
TEST(Plan, WhatLosesAtTheLargestSizeDoesNotWinBeyond) {
  CostTable table;
  table.add(Means::carrier, 32768, 100us);
  table.add(Means::carrier, 262144, 900us);
  table.add(Means::doubling, 32768, 200us);
  table.add(Means::doubling, 262144, 2ms);
  table.add(Means::ring, 32768, 940us);
  table.add(Means::ring, 262144, 950us);
  EXPECT_EQ(Plan(table).text("panama"), "panama for all sizes");
}

// If the time was over before the ring was measured, doubling stands for the hosts.
TEST(Plan, WithoutTheRingHostsCarryNoMoreThanTheyDoubleAnyway) {
  CostTable table;
  add(table, Means::carrier, 5ms, 1, 4096);
  add(table, Means::doubling, 100us, 40, 4096);
  const Plan plan(table);
  EXPECT_EQ(plan.text("canary"), "doubling up to 32 KiB, canary beyond");
  EXPECT_EQ(plan.doubling_up_to(), doubling_bytes_max);
}

TEST(Plan, HostsDoubleAsFarAsThatIsFasterThanTheRing) {
  CostTable table;
  add(table, Means::carrier, 10us, 1000, 256 << 10);
  add(table, Means::doubling, 10us, 50, 256 << 10);
  add(table, Means::ring, 4ms, 60, 256 << 10);
  EXPECT_EQ(Plan(table).doubling_up_to(), std::size_t{1} << 20);
}

TEST(Plan, WhereNothingWasMeasuredHostsDoubleAsUsual) {
  EXPECT_EQ(Plan(CostTable()).doubling_up_to(), doubling_bytes_max);
}

// As between two ranks, where both send the same bytes.
TEST(Plan, HostsDoubleNothingThatIsFarBeyondWhatWasMeasured) {
  CostTable table;
  add(table, Means::carrier, 10us, 1000, 256 << 10);
  add(table, Means::doubling, 90us, 110, 256 << 10);
  add(table, Means::ring, 180us, 110, 2 << 20);
  EXPECT_EQ(Plan(table).doubling_up_to(), std::size_t{2} << 20);
}

}  // namespace
}  // namespace tributary::host::tuning::test
