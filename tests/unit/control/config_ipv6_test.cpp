// SPDX-License-Identifier: BSD-3-Clause
// Tests IPv6 of ports, VLANs and bridges, [[switch.route6]] and [[switch.neighbour6]].
#include <gtest/gtest.h>

#include "control/config_diff.h"
#include "control/loader.h"
#include "control/text.h"
#include "damaged_config.h"

namespace tributary::control {
namespace {

constexpr std::string_view good_ipv6 = R"toml(version = 1
[[switch]]
name = "s"
id = 1
bridge_vlan = 10
bridge_address6 = "2001:db8:10::1/64"
[[switch.port]]
name = "a"
tap = "tap0"
vlan = 10
vlans = "20"
mtu = 1300
[[switch.port]]
name = "b"
tap = "tap1"
address6 = "2001:db8:1::1/64"
[[switch.vlan]]
vid = 20
address6 = "2001:db8:20::1/64"
[[switch.route6]]
prefix = "::/0"
via = ["2001:db8:1::2", "2001:db8:20::2"]
[[switch.neighbour6]]
address = "2001:db8:1::2"
mac = "02:00:00:00:00:02"
)toml";

constexpr test::Damage damaged_ipv6[] = {
    {"address_without_length", "\"2001:db8:1::1/64\"", "\"2001:db8:1::1\"", 16, 12,
     "`2001:db8:1::1` has no prefix length", "2001:db8:1::1/64"},
    {"address_of_version_4", "\"2001:db8:1::1/64\"", "\"10.0.0.1/24\"", 16, 12,
     "`10.0.0.1/24` is not an IPv6 address with length", ""},
    {"address_of_one_link", "\"2001:db8:1::1/64\"", "\"fe80::1/64\"", 16, 12,
     "is an address of one link", "holds on all links"},
    {"address_of_a_group", "\"2001:db8:1::1/64\"", "\"ff02::1/64\"", 16, 12,
     "cannot be a host's address", "no group"},
    {"embedding_prefix_too_wide", "bridge_vlan = 10",
     "embedding_prefix = \"2001:db8::/64\"\nbridge_vlan = 10", 5, 20, "has 64 bits",
     "it is to have 96"},
    {"embedding_prefix_of_groups", "bridge_vlan = 10",
     "embedding_prefix = \"ff0e::/96\"\nbridge_vlan = 10", 5, 20,
     "is no prefix of hosts that are routed to", "2001:db8:64::/96"},
    {"address_too_wide", "\"2001:db8:1::1/64\"", "\"2001:db8:1::1/12\"", 16, 12, "is too wide",
     "16 to 128"},
    {"address_too_long", "\"2001:db8:1::1/64\"", "\"2001:db8:1::1/129\"", 16, 12, "is not 0 to 128",
     ""},
    {"address_anycast", "\"2001:db8:1::1/64\"", "\"2001:db8:1::/64\"", 16, 12,
     "is the anycast address of its routers", "behind it"},
    {"address_overlaps", "\"2001:db8:1::1/64\"", "\"2001:db8:10::5/48\"", 16, 12,
     "overlaps that of the bridge (2001:db8:10::1/64)", "a prefix of its own"},
    {"vlan_of_a_routed_port", "address6 = \"2001:db8:1::1/64\"",
     "address6 = \"2001:db8:1::1/64\"\nvlan = 5", 17, 8, "`vlan` is for bridged ports",
     "`address6` away"},
    {"mtu_below_what_ipv6_wants", "mtu = 1300", "mtu = 1279", 12, 7,
     "port `a` is to carry IPv6, and its `mtu` is 1279", "1280"},
    {"advertised_without_an_address", "tap = \"tap0\"", "tap = \"tap0\"\nadvertise6 = \"on\"", 10,
     14, "`advertise6` is for an interface of the router, and there is no `address6`",
     "take `advertise6` away"},
    {"advertised_prefix_too_long", "\"2001:db8:1::1/64\"",
     "\"2001:db8:1::1/80\"\nadvertise6 = \"on\"", 17, 14,
     "and that of `address6` is 2001:db8:1::/80", "make it a /64"},
    {"advertised_vlan_prefix_too_short", "\"2001:db8:20::1/64\"",
     "\"2001:db8:20::1/48\"\nadvertise6 = \"on\"", 20, 14, "hosts make addresses of a /64 only",
     "make it a /64"},
    {"advertised_bridge_prefix", "\"2001:db8:10::1/64\"",
     "\"2001:db8:10::1/96\"\nbridge_advertise6 = \"on\"", 7, 21, "that of `bridge_address6` is",
     "take `bridge_advertise6` away"},
    {"advertised_by_no_word", "\"2001:db8:1::1/64\"", "\"2001:db8:1::1/64\"\nadvertise6 = \"yes\"",
     17, 14, "`yes` is no value of `advertise6`", "\"on\""},
    {"bridge_address_in_no_vlan", "bridge_vlan = 10\n", "\n", 6, 19,
     "`bridge_address6` is in no VLAN", "bridge_vlan = 10"},
    {"prefix_with_host_bits", "\"::/0\"", "\"2001:db8::1/32\"", 21, 10, "has host bits set",
     "\"2001:db8::/32\""},
    {"prefix_of_version_4", "\"::/0\"", "\"0.0.0.0/0\"", 21, 10, "is not an IPv6 address", ""},
    {"via_off_all_links", "\"2001:db8:20::2\"]", "\"2001:db8:30::2\"]", 22, 7,
     "2001:db8:30::2 is on no connected prefix",
     "connected: 2001:db8:10::/64, 2001:db8:1::/64, 2001:db8:20::/64"},
    {"via_twice", "\"2001:db8:20::2\"]", "\"2001:db8:1::2\"]", 22, 7,
     "next hop 2001:db8:1::2 is named twice", ""},
    {"via_the_switch", "\"2001:db8:20::2\"]", "\"2001:db8:20::1\"]", 22, 7,
     "2001:db8:20::1 is the switch's own address", "the neighbour's"},
    {"via_of_one_link", "\"2001:db8:20::2\"]", "\"fe80::2\"]", 22, 0, "is an address of one link",
     ""},
    {"neighbour_off_all_links", "address = \"2001:db8:1::2\"", "address = \"2001:db8:5::2\"", 24,
     11, "2001:db8:5::2 is on no connected prefix", ""},
};

class ConfigIpv6Test : public testing::TestWithParam<test::Damage> {};
TEST_P(ConfigIpv6Test, errors_are_placed_and_explained) {
  test::expect_placed_and_explained(good_ipv6, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Damages, ConfigIpv6Test, testing::ValuesIn(damaged_ipv6), test::name_of);

TEST(ConfigIpv6, a_wrong_next_hop_is_not_also_taken_for_none) {
  for (const auto* hops : {"\"fe80::2\"", "[\"fe80::2\"]", "7"}) {
    const auto loaded = parse_config(
        test::replaced(good_ipv6, "[\"2001:db8:1::2\", \"2001:db8:20::2\"]", hops), "f");
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().size(), 1u) << to_string(loaded.error());
  }
  const auto none =
      parse_config(test::replaced(good_ipv6, "[\"2001:db8:1::2\", \"2001:db8:20::2\"]", "[]"), "f");
  ASSERT_FALSE(none);
  EXPECT_NE(to_string(none.error()).find("1 to 64 next hops"), std::string::npos);
}

TEST(ConfigIpv6, is_read) {
  const auto loaded = parse_config(good_ipv6, "f");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& config = loaded->switches[0].config;
  EXPECT_EQ(to_string(*config.bridge_address6), "2001:db8:10::1/64");
  EXPECT_FALSE(config.ports[0].is_routed());
  EXPECT_TRUE(config.ports[1].is_routed()) << "without an address of version 4";
  EXPECT_EQ(to_string(*config.vlans[0].address6), "2001:db8:20::1/64");
  EXPECT_FALSE(config.ports[1].advertise6 || config.vlans[0].advertise6 ||
               config.bridge_advertise6);
  EXPECT_EQ(to_string(config.routes6[0].prefix), "::/0");
  EXPECT_EQ(config.routes6[0].via.size(), 2u);
  EXPECT_EQ(to_string(config.neighbours6[0].address), "2001:db8:1::2");
}

TEST(ConfigIpv6, what_embeds_is_of_use_where_ports_speak_ipv6) {
  const std::string given = R"toml(version = 1
[[switch]]
name = "s"
id = 1
embedding_prefix = "2001:db8:64::/96"
[[switch.port]]
name = "a"
tap = "tap0"
address = "10.0.0.1/24"
)toml";
  const auto none = parse_config(given, "f");
  ASSERT_FALSE(none);
  EXPECT_NE(to_string(none.error()).find("no port of the switch speaks"), std::string::npos);
  const auto some = parse_config(given + "address6 = \"2001:db8:64::10.0.0.1/120\"\n", "f");
  ASSERT_TRUE(some) << to_string(some.error());
  EXPECT_EQ(to_string(*some->switches[0].config.embedding_prefix), "2001:db8:64::/96");
}

TEST(ConfigIpv6, advertisements_are_turned_on_by_a_reload) {
  const auto before = parse_config(good_ipv6, "f");
  auto told = test::replaced(good_ipv6, "\"2001:db8:1::1/64\"",
                             "\"2001:db8:1::1/64\"\nadvertise6 = \"on\"");
  told =
      test::replaced(told, "\"2001:db8:20::1/64\"", "\"2001:db8:20::1/64\"\nadvertise6 = \"on\"");
  told = test::replaced(told, "bridge_vlan = 10", "bridge_vlan = 10\nbridge_advertise6 = \"on\"");
  const auto after = parse_config(told, "f");
  ASSERT_TRUE(before && after) << to_string(after.error());
  const auto& config = after->switches[0].config;
  EXPECT_TRUE(config.ports[1].advertise6 && config.vlans[0].advertise6 && config.bridge_advertise6);
  const auto changes = diff(*before, *after);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(to_string(changes[0]), "~ switch s bridge_advertise6: off -> on");
  EXPECT_EQ(to_string(changes[1]), "~ switch s port b advertise6: off -> on");
  EXPECT_FALSE(needs_restart(changes));
}

TEST(ConfigIpv6, a_route_may_select_its_next_hops_by_itself) {
  const auto selecting = [](const char* how) {
    return parse_config(test::replaced(good_ipv6, "prefix = \"::/0\"",
                                       std::string("prefix = \"::/0\"\nselection = ") + how),
                        "f");
  };
  const auto both = selecting("\"adaptive\"");
  const auto one = selecting("{ reduction = \"static\" }");
  ASSERT_TRUE(both && one);
  using forwarding::Policy;
  const auto& of_both = both->switches[0].config.routes6[0];
  EXPECT_EQ(of_both.ordinary, Policy::adaptive);
  EXPECT_EQ(of_both.reduction, Policy::adaptive);
  const auto& of_one = one->switches[0].config.routes6[0];
  EXPECT_EQ(of_one.ordinary, std::nullopt);
  EXPECT_EQ(of_one.reduction, Policy::static_trees);
  const auto changes = diff(*both, *one);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(to_string(changes[0]).substr(0, 40), "~ switch s route6 ::/0: via 2001:db8:1::");
  EXPECT_FALSE(needs_restart(changes));
}

TEST(ConfigIpv6, routes_are_reloaded_and_addresses_of_ports_are_not) {
  const auto before = parse_config(good_ipv6, "f");
  const auto other = parse_config(test::replaced(good_ipv6, "\"::/0\"", "\"2001::/16\""), "f");
  const auto renamed = parse_config(test::replaced(good_ipv6, "1::1/64", "1::5/64"), "f");
  ASSERT_TRUE(before && other && renamed);
  const auto changes = diff(*before, *other);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(to_string(changes[0]),
            "+ switch s route6 2001::/16: via 2001:db8:1::2, 2001:db8:20::2");
  EXPECT_EQ(to_string(changes[1]), "- switch s route6 ::/0: via 2001:db8:1::2, 2001:db8:20::2");
  EXPECT_FALSE(needs_restart(changes));
  EXPECT_TRUE(needs_restart(diff(*before, *renamed)));
}

}  // namespace
}  // namespace tributary::control
