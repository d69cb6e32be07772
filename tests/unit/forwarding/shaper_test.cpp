// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/shaper.h"

#include <gtest/gtest.h>

#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

// Of 1,000 bytes on the line.
constexpr std::uint64_t frame_of_line = 1'000 - (line_bytes(100) - 100);

TEST(Shaper, CountsWhatAFrameOccupiesOnTheLine) {
  EXPECT_EQ(line_bytes(1514), 1538u) << "preamble, check sequence, gap";
  EXPECT_EQ(line_bytes(1), line_bytes(60)) << "of the least frame";
}

TEST(Shaper, IsOpenWithoutARate) {
  Shaper shaper;
  EXPECT_FALSE(shaper.on());
  EXPECT_EQ(shaper.opens(), Time{});
  shaper.configure(8'000'000);
  shaper.occupy(frame_of_line, start);
  shaper.configure(0);
  EXPECT_EQ(shaper.opens(), Time{});
}

// A frame takes 10 ms; the allowance is two of the largest.
TEST(Shaper, OpensWhenTheLineIsNoMoreThanTheAllowanceAhead) {
  Shaper shaper;
  shaper.configure(800'000);
  const Duration allowance = 2 * 15'380us;
  shaper.occupy(frame_of_line, start);
  EXPECT_EQ(shaper.opens(), start + 10ms - allowance);
  shaper.occupy(frame_of_line, start);
  EXPECT_EQ(shaper.opens(), start + 20ms - allowance);
}

TEST(Shaper, IsAMillisecondAheadOnAFastLine) {
  Shaper shaper;
  shaper.configure(8'000'000'000);
  shaper.occupy(frame_of_line, start);
  EXPECT_EQ(shaper.opens(), start + 1us - 1ms);
}

TEST(Shaper, DoesNotMakeUpForTheTimeInWhichNothingWasReady) {
  Shaper shaper;
  shaper.configure(8'000'000'000);
  shaper.occupy(frame_of_line, start);
  shaper.occupy(frame_of_line, start + 1s);
  EXPECT_EQ(shaper.opens(), start + 1s + 1us - 1ms);
}

TEST(Shaper, IsOpenAtTheSameTimeWhenItsRateChanges) {
  Shaper shaper;
  shaper.configure(800'000);
  for (int i = 0; i < 4; ++i) {
    shaper.occupy(frame_of_line, start);
  }
  const auto opens = shaper.opens();
  shaper.configure(8'000'000'000);
  EXPECT_EQ(shaper.opens(), opens);
  shaper.configure(800'000);
  EXPECT_EQ(shaper.opens(), opens);
}

TEST(Shaper, IsExactInTheLongRun) {
  Shaper shaper;
  shaper.configure(3'000'000'000);
  for (int i = 0; i < 3'000; ++i) {
    shaper.occupy(frame_of_line, start);
  }
  EXPECT_EQ(shaper.opens(), start + 8ms - 1ms);
}

}  // namespace
}  // namespace tributary::forwarding
