// SPDX-License-Identifier: BSD-3-Clause
#include "control/config_warnings.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "control/loader.h"
#include "damaged_config.h"

namespace tributary::control {
namespace {

constexpr std::string_view quiet_config = R"toml(version = 1
[[switch]]
name = "s"
id = 1
[[switch.port]]
name = "a"
tap = "tap0"
queue = "128KiB"
[[switch.port]]
name = "b"
tap = "tap1"
queue = "1MiB"
[[switch.class]]
name = "sums"
dscp = "cs7"
ecn_threshold = 42
[[switch.class]]
name = "rest"
ecn_threshold = 0
)toml";

std::vector<std::string> warnings_in(const std::string& text) {
  const auto config = parse_config(text, "test.toml");
  EXPECT_TRUE(config) << to_string(config.error());
  return config ? warnings_of(*config) : std::vector<std::string>();
}

bool says(const std::string& warning, std::string_view words) {
  return warning.find(words) != std::string::npos;
}

TEST(ConfigWarnings, AreNoneOfWhatIsMeantSo) {
  EXPECT_EQ(warnings_in(std::string(quiet_config)), std::vector<std::string>());
}

// Half of 128 KiB is 43 frames of 1514 bytes: the 44th is dropped, and would find 43 waiting.
TEST(ConfigWarnings, TellOfAThresholdThatNoPacketReaches) {
  const auto warnings =
      warnings_in(test::replaced(quiet_config, "ecn_threshold = 42", "ecn_threshold = 43"));
  ASSERT_EQ(warnings.size(), 1u) << "of the smallest queue alone";
  EXPECT_TRUE(says(warnings[0],
                   "switch `s`: class `sums` marks no packet by its ecn_threshold of "
                   "43: of port `a` it has room for 43 frames of MTU 1500"))
      << warnings[0];
}

TEST(ConfigWarnings, TellOfAThresholdThatLargerFramesDoNotReach) {
  auto text = test::replaced(quiet_config, "queue = \"1MiB\"", "queue = \"1MiB\"\nmtu = 1400");
  text = test::replaced(text, "ecn_threshold = 0", "queue = \"60KiB\"");
  const auto warnings = warnings_in(text);
  ASSERT_EQ(warnings.size(), 2u) << "the MTUs differ as well";
  EXPECT_TRUE(says(warnings[0], "class `rest` marks no packet by its ecn_threshold of 85"))
      << warnings[0];
  EXPECT_TRUE(says(warnings[0], "40 frames")) << warnings[0];
}

TEST(ConfigWarnings, TellOfABridgeWhosePortsDifferInMtu) {
  const auto warnings =
      warnings_in(test::replaced(quiet_config, "tap = \"tap1\"", "tap = \"tap1\"\nmtu = 1400"));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(says(warnings[0], "ports `b` (mtu 1400) and `a` (1500) of the bridge differ in MTU"))
      << warnings[0];
}

TEST(ConfigWarnings, TakeRoutedPortsAsTheyAre) {
  EXPECT_EQ(warnings_in(test::replaced(quiet_config, "tap = \"tap1\"",
                                       "tap = \"tap1\"\nmtu = 1400\naddress = \"10.0.0.1/24\"")),
            std::vector<std::string>());
}

TEST(ConfigWarnings, CompareThePortsOfAVlanOnceForAllThatTheyShare) {
  auto text = test::replaced(quiet_config, "tap = \"tap0\"", "tap = \"tap0\"\nvlans = \"10-20\"");
  const auto apart =
      test::replaced(text, "tap = \"tap1\"", "tap = \"tap1\"\nvlan = 21\nmtu = 1400");
  EXPECT_EQ(warnings_in(apart), std::vector<std::string>());
  const auto together =
      test::replaced(text, "tap = \"tap1\"", "tap = \"tap1\"\nvlans = \"15-30\"\nmtu = 1400");
  const auto warnings = warnings_in(together);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(says(warnings[0], "of VLAN 15 differ in MTU")) << warnings[0];
}

}  // namespace
}  // namespace tributary::control
