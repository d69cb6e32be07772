// SPDX-License-Identifier: BSD-3-Clause
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/switch_storm.h"

namespace tributary::test {
namespace {

TEST(Robustness, SurvivesStormsOfRandomFrames) {
  std::mt19937 random(2026);
  SwitchStorm::Happened all;
  for (int storm = 0; storm < 60; ++storm) {
    std::vector<std::uint8_t> bytes(6000);
    for (auto& byte : bytes) {
      // Small values choose known addresses and kinds more often.
      const auto draw = random();
      byte = static_cast<std::uint8_t>((draw & 0x100) != 0 ? draw & 0xff : draw & 0xf);
    }
    const auto happened = SwitchStorm(bytes.data(), bytes.size()).run();
    all.packets += happened.packets;
    all.sums += happened.sums;
    all.over_ipv6 += happened.over_ipv6;
    all.classed += happened.classed;
  }
  EXPECT_GT(all.packets, 1000u);
  EXPECT_GT(all.sums, 10u);
  EXPECT_GT(all.over_ipv6, 100u);
  EXPECT_GT(all.classed, 1000u);
}

}  // namespace
}  // namespace tributary::test
