// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/histogram.h"

#include <gtest/gtest.h>

namespace tributary::traffic {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.percentile(99), 0u);
  EXPECT_EQ(histogram.mean(), 0);
}

TEST(Histogram, PercentilesAreWithinOnePercent) {
  Histogram histogram;
  for (std::uint64_t i = 1; i <= 1'000'000; ++i) {
    histogram.record(i);
  }
  EXPECT_EQ(histogram.min(), 1u);
  EXPECT_EQ(histogram.max(), 1'000'000u);
  EXPECT_NEAR(histogram.mean(), 500'000.5, 0.01);
  for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9}) {
    const auto exact = percent * 10'000;
    const auto found = static_cast<double>(histogram.percentile(percent));
    EXPECT_GE(found, exact * 0.9999) << percent;
    EXPECT_LE(found, exact * 1.01) << percent;
  }
  EXPECT_EQ(histogram.percentile(100), 1'000'000u);
}

TEST(Histogram, KeepsEveryMagnitudeApart) {
  for (unsigned shift = 0; shift < 40; ++shift) {
    const std::uint64_t value = std::uint64_t{1} << shift;
    Histogram histogram;
    histogram.record(value);
    histogram.record(value * 3);
    const auto half = histogram.percentile(50);
    EXPECT_GE(half, value);
    EXPECT_LE(half, value + value / 100);
  }
}

TEST(Histogram, CutsOffWhatIsBeyondIt) {
  Histogram histogram;
  histogram.record(~std::uint64_t{0});
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.percentile(50), histogram.max());
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0u);
}

}  // namespace
}  // namespace tributary::traffic
