// SPDX-License-Identifier: BSD-3-Clause
// Tests [[switch.vlan]], and the VLANs of ports, entries and bridges.
#include <gtest/gtest.h>

#include "control/config_diff.h"
#include "control/loader.h"
#include "control/text.h"
#include "damaged_config.h"
#include "two_routers.h"

namespace tributary::control {
namespace {

constexpr std::string_view good_vlans = R"toml(version = 1
[[switch]]
name = "s"
id = 1
bridge_vlan = 10
bridge_address = "10.0.10.254/24"
[[switch.port]]
name = "a"
tap = "tap0"
vlan = 10
vlans = "20-29"
[[switch.port]]
name = "b"
tap = "tap1"
address = "10.9.0.1/24"
[[switch.vlan]]
vid = 20
address = "10.0.20.254/24"
[[switch.vlan]]
vid = 21
address = "10.0.21.254/24"
[[switch.route]]
prefix = "10.30.0.0/16"
via = "10.0.20.1"
)toml";

constexpr test::Damage damaged_vlans[] = {
    {"vid_missing", "vid = 20", "", 16, 1, "`vid` is missing in [switch.vlan]", ""},
    {"vid_reserved", "vid = 20", "vid = 4095", 17, 7, "`vid` is out of range", "from 1 to 4094"},
    {"vid_twice", "vid = 21", "vid = 20", 20, 7, "VLAN 20 was given before", "one interface"},
    {"vid_of_the_bridge", "vid = 20", "vid = 10", 17, 7, "VLAN 10 is that of `bridge_vlan`",
     "`bridge_address`"},
    {"vid_that_no_port_carries", "vid = 20", "vid = 30", 17, 7,
     "no port of this switch carries VLAN 30", "`vlan`, or in `vlans`"},
    {"address_missing", "address = \"10.0.20.254/24\"", "", 17, 7,
     "a VLAN without an address is not routed", "`address6` or both"},
    {"address_of_another_interface", "\"10.0.20.254/24\"", "\"10.9.0.254/24\"", 18, 11,
     "overlaps that of b (10.9.0.1/24)", "a prefix of its own"},
    {"address_of_another_vlan", "\"10.0.21.254/24\"", "\"10.0.20.1/24\"", 21, 11,
     "overlaps that of VLAN 20 (10.0.20.254/24)", "a prefix of its own"},
    {"entry_of_a_vlan_not_carried", "[[switch.route]]",
     "[[switch.fdb]]\nmac = \"02:00:00:00:00:01\"\nport = \"a\"\nvlan = 30\n[[switch.route]]", 25,
     8, "port `a` does not carry VLAN 30", "`vlan` and `vlans`"},
    {"via_the_switch", "via = \"10.0.20.1\"", "via = \"10.0.20.254\"", 24, 7,
     "10.0.20.254 is the switch's own address", "the neighbour's"},
};

class ConfigVlanTest : public testing::TestWithParam<test::Damage> {};
TEST_P(ConfigVlanTest, errors_are_placed_and_explained) {
  test::expect_placed_and_explained(good_vlans, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Damages, ConfigVlanTest, testing::ValuesIn(damaged_vlans), test::name_of);

constexpr test::Damage damaged_port_vlans[] = {
    {"vlan_of_a_routed_port", "rate = \"200Mbit\"", "vlan = 5", 17, 8,
     "`vlan` is for bridged ports", "`address` away"},
    {"vlans_of_a_routed_port", "rate = \"200Mbit\"", "vlans = \"5\"", 17, 9,
     "`vlans` is for bridged ports", "`address` away"},
    {"vlan_reserved", "tap = \"tap0\"", "tap = \"tap0\"\nvlan = 4095", 22, 8,
     "`vlan` is out of range", "from 1 to 4094"},
    {"vlans_unreadable", "tap = \"tap0\"", "tap = \"tap0\"\nvlans = \"10,x\"", 22, 9,
     "`x` is no VLAN from 1 to 4094", "10,20,30-39"},
    {"vlans_as_a_number", "tap = \"tap0\"", "tap = \"tap0\"\nvlans = 20", 22, 9,
     "`vlans` is to be text in quotes", "write vlans = \"20\""},
    {"vlans_twice", "tap = \"tap0\"", "tap = \"tap0\"\nvlans = \"10-20,15\"", 22, 9,
     "VLAN 15 is named twice", "once"},
    {"vlan_with_and_without_a_tag", "tap = \"tap0\"", "tap = \"tap0\"\nvlan = 5\nvlans = \"4-6\"",
     23, 9, "VLAN 5 is to leave this port without a tag, and with one", "`vlan`, or in `vlans`"},
    {"vlan_of_one_port_alone", "tap = \"tap0\"",
     "tap = \"tap0\"\nvlan = 5\n[[switch.port]]\nname = \"b2\"\ntap = \"tap1\"", 24, 8,
     "port `b2` is in no VLAN", "`vlan`, `vlans` or both"},
    {"vlan_of_an_entry_unsaid", "tap = \"tap0\"", "tap = \"tap0\"\nvlans = \"5,6\"", 26, 1,
     "the entry names no VLAN", "vlan = 5"},
    {"vlan_of_an_entry_without_vlans", "port = \"b1\"", "port = \"b1\"\nvlan = 6", 28, 8,
     "port `b1` does not carry VLAN 6", "leave `vlan` out"},
    {"bridge_vlan_without_vlans", "[switch.canary]", "bridge_vlan = 5\n[switch.canary]", 6, 15,
     "no port of this switch is in a VLAN", "`vlan` or `vlans`"},
};

class ConfigPortVlanTest : public testing::TestWithParam<test::Damage> {};
TEST_P(ConfigPortVlanTest, errors_are_placed_and_explained) {
  test::expect_placed_and_explained(test::two_routers, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Damages, ConfigPortVlanTest, testing::ValuesIn(damaged_port_vlans),
                         test::name_of);

// A bridge of an access port and a trunk; `own` are settings of the switch.
Loaded with_vlans(const std::string& own) {
  return parse_config("version = 1\n[[switch]]\nname = \"s\"\nid = 1\n" + own + R"(
[[switch.port]]
name = "a"
tap = "tap0"
vlan = 10
[[switch.port]]
name = "t"
tap = "tap1"
vlan = 1
vlans = "30-39, 20"
[[switch.fdb]]
mac = "02:00:00:00:00:01"
port = "t"
[[switch.fdb]]
mac = "02:00:00:00:00:01"
port = "t"
vlan = 31
)",
                      "f");
}

TEST(ConfigVlan, of_ports_are_read) {
  const auto loaded = with_vlans("bridge_vlan = 39\nbridge_address = \"10.0.0.1/24\"");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& config = loaded->switches[0].config;
  EXPECT_EQ(config.bridge_vlan, 39);
  EXPECT_EQ(config.ports[0].vlan.untagged, 10);
  EXPECT_TRUE(config.ports[0].vlan.tagged.empty());
  EXPECT_EQ(config.ports[1].vlan.untagged, 1);
  EXPECT_EQ(to_string(config.ports[1].vlan.tagged), "20,30-39");
  EXPECT_EQ(vlan_of(config.fdb[0], config.ports[1]), 1);
  EXPECT_EQ(vlan_of(config.fdb[1], config.ports[1]), 31);
  EXPECT_TRUE(with_vlans("")) << "the switch itself need not be in any";
}

TEST(ConfigVlan, the_switch_itself_is_in_a_vlan_that_there_is) {
  const auto nowhere = with_vlans("bridge_address = \"10.0.0.1/24\"");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(to_string(nowhere.error()[0]),
            "f:5:18: `bridge_address` is in no VLAN, and the ports of this bridge are in some (say "
            "in which one, as bridge_vlan = 10)");
  const auto not_carried = with_vlans("bridge_vlan = 11");
  ASSERT_FALSE(not_carried);
  EXPECT_EQ(to_string(not_carried.error()[0]),
            "f:5:15: no port of this switch carries VLAN 11 (give it to a port as `vlan`, or in "
            "`vlans`)");
}

// A bridge with Canary; `own` are settings of the switch, `port` those of its only port.
Loaded bridge_with_canary(const std::string& own, const std::string& port) {
  return parse_config("version = 1\n[[switch]]\nname = \"s\"\nid = 1\naddress = \"10.0.0.1\"\n" +
                          own + "[switch.canary]\n[[switch.port]]\nname = \"a\"\ntap = \"tap0\"\n" +
                          port,
                      "f");
}

TEST(ConfigVlan, an_engine_is_where_it_sees_frames) {
  const auto blind = bridge_with_canary("", "vlan = 10\n");
  ASSERT_FALSE(blind);
  EXPECT_EQ(
      to_string(blind.error()),
      "f:6:1: [switch.canary] would add up nothing: all ports are in VLANs, and the switch is "
      "in none (say whose frames it takes, as bridge_vlan = 10)\n");
  EXPECT_TRUE(bridge_with_canary("bridge_vlan = 10\n", "vlan = 10\n"));
  EXPECT_TRUE(bridge_with_canary("", ""));
  EXPECT_TRUE(bridge_with_canary("",
                                 "vlan = 10\n[[switch.port]]\nname = \"r\"\ntap = \"tap1\"\n"
                                 "address = \"10.1.0.1/24\"\n"))
      << "what comes by the routed port is aggregated";
}

TEST(ConfigVlan, interfaces_are_read) {
  const auto loaded = parse_config(good_vlans, "f");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& vlans = loaded->switches[0].config.vlans;
  ASSERT_EQ(vlans.size(), 2u);
  EXPECT_EQ(vlans[0].vid, 20);
  EXPECT_EQ(to_string(*vlans[1].address), "10.0.21.254/24");
}

TEST(ConfigVlan, interfaces_are_reloaded) {
  const auto before = parse_config(good_vlans, "f");
  const auto moved = parse_config(test::replaced(good_vlans, "vid = 21", "vid = 22"), "f");
  const auto renamed = parse_config(test::replaced(good_vlans, "10.0.21.254", "10.0.21.253"), "f");
  ASSERT_TRUE(before && moved && renamed);
  auto changes = diff(*before, *moved);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(to_string(changes[0]), "- switch s vlan 21: address 10.0.21.254/24 advertise6 off");
  EXPECT_EQ(to_string(changes[1]), "+ switch s vlan 22: address 10.0.21.254/24 advertise6 off");
  EXPECT_FALSE(needs_restart(changes));
  changes = diff(*before, *renamed);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(to_string(changes[0]), "~ switch s vlan 21 address: 10.0.21.254/24 -> 10.0.21.253/24");
}

}  // namespace
}  // namespace tributary::control
