// SPDX-License-Identifier: BSD-3-Clause
#include "host/tuning/cost_table.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

namespace tributary::host::tuning::test {
namespace {

using namespace std::chrono_literals;

TEST(CostTable, WhatWasNotMeasuredIsNotKnown) {
  const CostTable table;
  EXPECT_EQ(table.time(Means::ring, 8), std::nullopt);
  EXPECT_EQ(table.largest(Means::ring), 0u);
}

TEST(CostTable, OneMeasurementTellsNothingOfWhatIsLonger) {
  CostTable table;
  table.add(Means::doubling, 4096, 10us);
  EXPECT_EQ(table.time(Means::doubling, 8), 10us);
  EXPECT_EQ(table.time(Means::doubling, 4096), 10us);
  EXPECT_EQ(table.time(Means::doubling, 4097), std::nullopt);
  EXPECT_EQ(table.time(Means::carrier, 4096), std::nullopt);
}

TEST(CostTable, LiesOnTheLineBetweenTwoSizesAndBeyondThem) {
  CostTable table;
  table.add(Means::carrier, 1000, 10us);
  table.add(Means::carrier, 2000, 20us);
  table.add(Means::carrier, 4000, 80us);
  EXPECT_EQ(table.time(Means::carrier, 1500), 15us);
  EXPECT_EQ(table.time(Means::carrier, 3000), 50us);
  EXPECT_EQ(table.time(Means::carrier, 6000), 140us);
  EXPECT_EQ(table.largest(Means::carrier), 4000u);
}

// A measurement that was disturbed must not make long vectors take no time.
TEST(CostTable, LongerVectorsTakeNoLessTime) {
  CostTable table;
  table.add(Means::ring, 1000, 30us);
  table.add(Means::ring, 2000, 20us);
  EXPECT_EQ(table.time(Means::ring, 1500), 30us);
  EXPECT_EQ(table.time(Means::ring, 1000000), 30us);
}

// The length is huge, and the network is slow or was disturbed.
TEST(CostTable, WhatTakesLongerThanADurationHoldsTakesLong) {
  CostTable table;
  table.add(Means::doubling, 8, 1ms);
  table.add(Means::doubling, 4096, 900ms);
  EXPECT_GT(table.time(Means::doubling, std::size_t{1} << 48), 24h);
}

}  // namespace
}  // namespace tributary::host::tuning::test
