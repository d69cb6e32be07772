// SPDX-License-Identifier: BSD-3-Clause
#include "feed_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tributary::pktgen {
namespace {

constexpr double hz = 2e9;

// Returns a reading of so many packets after so many seconds, a tenth of which the core waited.
FeedReading reading(double seconds, std::uint64_t packets) {
  FeedReading reading;
  reading.seconds = 100 + seconds;
  reading.cpu_seconds = seconds;
  reading.feed.packets = packets;
  reading.feed.cycles = static_cast<std::uint64_t>(seconds * hz);
  reading.feed.cycles_waited = reading.feed.cycles / 10;
  reading.engines = {{"s", "canary", {{"contributions_total", 7 * packets}, {"blocks", packets}}}};
  auto& status = reading.switches.emplace_back();
  status.name = "s";
  status.ledger.drops[static_cast<std::size_t>(DropReason::no_route)] = packets / 100;
  return reading;
}

TEST(FeedReport, CyclesAreWithoutWhatTheCoreWaited) {
  const auto result = gain(reading(1, 1'000'000), reading(3, 5'000'000));
  EXPECT_EQ(result.packets, 4'000'000u);
  EXPECT_DOUBLE_EQ(result.seconds, 2);
  EXPECT_DOUBLE_EQ(result.tsc_hz, hz);
  EXPECT_NEAR(result.waited_seconds, 0.2, 1e-9);
  EXPECT_NEAR(result.cycles_per_packet(), 0.9 * 2 * hz / 4e6, 1e-6);
}

TEST(FeedReport, WhatGrewIsTold) {
  const auto result = gain(reading(1, 1'000'000), reading(3, 5'000'000));
  const auto document = nlohmann::json::parse(json_of(result));
  EXPECT_EQ(document["packets_per_second"], 2e6);
  ASSERT_EQ(document["figures"].size(), 1u);  // blocks are no counter
  EXPECT_EQ(document["figures"][0]["name"], "contributions_total");
  EXPECT_EQ(document["figures"][0]["gain"], 28'000'000);
  ASSERT_EQ(document["drops"].size(), 1u);
  EXPECT_EQ(document["drops"][0]["name"], "no_route");
  EXPECT_EQ(document["drops"][0]["gain"], 40'000);
  const auto text = text_of(result);
  EXPECT_NE(text.find("2.000 Mpps, 900 cycles a packet"), std::string::npos) << text;
  EXPECT_NE(text.find("waited 10 %"), std::string::npos) << text;
  EXPECT_NE(text.find("no_route 40000"), std::string::npos) << text;
}

TEST(FeedReport, NoPacketTakesNoCycles) {
  EXPECT_EQ(gain(reading(1, 5), reading(2, 5)).cycles_per_packet(), 0);
}

}  // namespace
}  // namespace tributary::pktgen
