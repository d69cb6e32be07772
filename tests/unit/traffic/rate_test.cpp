// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/rate.h"

#include <gtest/gtest.h>

#include "traffic/pacer.h"

namespace tributary::traffic {
namespace {

using Unit = Rate::Unit;

TEST(ParseRate, UnderstandsPacketsBitsAndShares) {
  EXPECT_TRUE(parse_rate("unlimited", 0)->is_unlimited());
  EXPECT_EQ(parse_rate("500pps", 0)->unit, Unit::packets);
  EXPECT_DOUBLE_EQ(parse_rate("1.5Mpps", 0)->per_second, 1.5e6);
  EXPECT_EQ(parse_rate("10Gbit", 0)->unit, Unit::line_bits);
  EXPECT_DOUBLE_EQ(parse_rate("200Mbit", 0)->per_second, 2e8);
  EXPECT_DOUBLE_EQ(parse_rate("50%", 1e9)->per_second, 5e8);
}

TEST(ParseRate, RefusesWithAHint) {
  for (const char* text : {"", "fast", "10", "10MB", "-5pps", "0pps", "1e99Gbit", "nan%", "inf"}) {
    const auto rate = parse_rate(text, 1e9);
    ASSERT_FALSE(rate) << text;
    EXPECT_NE(rate.error().find("1.5Mpps"), std::string::npos) << rate.error();
  }
  EXPECT_NE(parse_rate("50%", 0).error().find("--line-rate"), std::string::npos);
  EXPECT_FALSE(parse_rate("101%", 1e9));
  EXPECT_FALSE(parse_line_rate("10Mpps"));
  EXPECT_DOUBLE_EQ(*parse_line_rate("10Gbit"), 1e10);
}

TEST(RateText, IsShort) {
  EXPECT_EQ(to_string(Rate{}), "unlimited");
  EXPECT_EQ(to_string({Unit::packets, 1.5e6}), "1.5Mpps");
  EXPECT_EQ(to_string({Unit::packets, 2.5e9}), "2500Mpps");
  EXPECT_EQ(to_string({Unit::line_bits, 1e10}), "10Gbit");
  EXPECT_EQ(to_string({Unit::line_bits, 812.5}), "812.5bit");
}

std::size_t send_for(Pacer& pacer, Time& now, Duration duration, Duration step,
                     std::uint32_t line_bytes) {
  std::size_t sent = 0;
  for (const Time end = now + duration; now < end; now += step) {
    for (pacer.refresh(now); pacer.ready(); pacer.charge(line_bytes)) {
      ++sent;
    }
  }
  return sent;
}

TEST(Pacer, KeepsPacketsAndBitsPerSecond) {
  using std::chrono::microseconds;
  using std::chrono::seconds;
  Time now{};
  Pacer pacer;
  pacer.start({Unit::packets, 100'000}, now);
  EXPECT_NEAR(static_cast<double>(send_for(pacer, now, seconds(1), microseconds(7), 84)), 1e5, 2);
  pacer.start({Unit::line_bits, 1e9}, now);
  EXPECT_NEAR(static_cast<double>(send_for(pacer, now, seconds(1), microseconds(7), 1250)), 1e5, 2);
}

TEST(Pacer, DoesNotMakeUpForALongPause) {
  Time now{};
  Pacer pacer;
  pacer.start({Unit::packets, 100'000}, now);
  now += std::chrono::seconds(10);
  // One millisecond's worth, not a million.
  EXPECT_LE(send_for(pacer, now, std::chrono::nanoseconds(1), std::chrono::nanoseconds(1), 84),
            101u);
}

TEST(Pacer, MakesUpForOneBurstOfASlowRate) {
  Time now{};
  Pacer pacer;
  pacer.start({Unit::packets, 2'000}, now);
  now += std::chrono::seconds(10);
  const auto sent =
      send_for(pacer, now, std::chrono::nanoseconds(1), std::chrono::nanoseconds(1), 84);
  EXPECT_GE(sent, 31u);
  EXPECT_LE(sent, 34u);
}

}  // namespace
}  // namespace tributary::traffic
