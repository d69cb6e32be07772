// SPDX-License-Identifier: BSD-3-Clause
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/switch_storm.h"

namespace tributary::test {
namespace {

TEST(Robustness, SurvivesStormsOfRandomFrames) {
  std::mt19937 random(2026);
  for (int storm = 0; storm < 60; ++storm) {
    std::vector<std::uint8_t> bytes(6000);
    for (auto& byte : bytes) {
      // Small values choose known addresses and kinds more often.
      const auto draw = random();
      byte = static_cast<std::uint8_t>((draw & 0x100) != 0 ? draw & 0xff : draw & 0xf);
    }
    SwitchStorm(bytes.data(), bytes.size()).run();
  }
}

}  // namespace
}  // namespace tributary::test
