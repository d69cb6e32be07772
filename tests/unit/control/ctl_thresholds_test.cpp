// SPDX-License-Identifier: BSD-3-Clause
// Tests the output of tributaryctl about thresholds.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl_fixture.h"

namespace tributary::control {
namespace {

using nlohmann::json;

TEST_F(CtlTest, thresholds_in_force_are_shown) {
  using forwarding::FlowControl;
  auto& limits = backend_.limits;
  limits = {FlowControl::pfc, 150900, 75450, 40000, 20000};
  limits.classes = {0x18};
  limits.headroom = 78028;
  auto& one = backend_.classes.emplace_back();
  one.switch_name = "leaf1";
  one.port = "h1";
  one.name = "roce";
  one.settings.codepoints = {{24}, {26}};
  one.settings.pcp = forwarding::Priorities{0x18};
  one.settings.weight = 3;
  one.settings.capacity_bytes = 320 << 10;
  one.settings.ecn_threshold_packets = 60;
  one.settings.ecn_ramp_packets = 120;
  one.settings.pfc_priority = 3;
  start();
  const auto port = json::parse(run("-j port").output)[0];
  EXPECT_EQ(port["thresholds"],
            json::parse(R"({"xoff_bytes": 150900, "xon_bytes": 75450, "headroom_bytes": 78028,
                            "pfc_priorities": [3, 4], "priority_xoff_bytes": 40000,
                            "priority_xon_bytes": 20000})"));
  const auto ports = run("port").output;
  for (const char* words :
       {"XOFF", "XON", "HEADROOM", "PRIORITIES", "147 KiB", "76.2 KiB", "3,4", "TRUST", "dscp"}) {
    EXPECT_NE(ports.find(words), std::string::npos) << words << " in " << ports;
  }
  const auto row = json::parse(run("-j class").output)[0];
  EXPECT_EQ(row["dscp"], json::parse(R"(["cs3", "af31"])"));
  EXPECT_EQ(row["pcp"], json::parse("[3, 4]"));
  EXPECT_EQ(row["service"], "weighted");
  EXPECT_EQ(row["weight"], 3);
  EXPECT_EQ(row["queue_capacity_bytes"], 320 << 10);
  EXPECT_EQ(row["ecn_threshold_packets"], 60);
  EXPECT_EQ(row["ecn_ramp_packets"], 120);
  EXPECT_EQ(row["pfc_priority"], 3);
  const auto classes = run("class").output;
  for (const char* words :
       {"DSCP", "cs3,af31", "PCP", "3,4", "weighted", "ECN-THRESHOLD", "PRIORITY", "320 KiB"}) {
    EXPECT_NE(classes.find(words), std::string::npos) << words << " in " << classes;
  }
}

TEST_F(CtlTest, config_check_warns_of_what_is_not_meant_so) {
  const auto path = file(R"toml(version = 1
[[switch]]
name = "leaf1"
id = 1
[[switch.port]]
name = "h1"
tap = "tap1"
[[switch.port]]
name = "h2"
tap = "tap2"
mtu = 1400
)toml");
  const Ran warned = run("config check " + path);
  EXPECT_EQ(warned.code, 0);
  EXPECT_NE(warned.output.find(path + ": warning: switch `leaf1`: ports `h2` (mtu 1400)"),
            std::string::npos)
      << warned.output;
  const auto document = json::parse(run("-j config check " + path).output);
  EXPECT_EQ(document["warnings"].size(), 1u);
}

TEST_F(CtlTest, ports_without_flow_control_have_no_thresholds) {
  start();
  EXPECT_TRUE(json::parse(run("-j port").output)[0]["thresholds"].is_null());
}

}  // namespace
}  // namespace tributary::control
