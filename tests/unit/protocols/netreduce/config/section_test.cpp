// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/config_diff.h"
#include "control/loader.h"
#include "control/text.h"
#include "damaged_config.h"
#include "protocols/netreduce/engine/config.h"

namespace tributary::control {
namespace {

// One switch with two rings; each test changes this text.
constexpr std::string_view good_netreduce = R"(version = 1
[[switch]]
name = "s1"
id = 1
[switch.netreduce]
[[switch.netreduce.ring]]
id = 7
members = ["10.0.0.1", "10.0.0.2"]
[[switch.netreduce.ring]]
id = 8
members = ["10.0.0.2", "10.0.0.1", "10.0.0.3"]
window = 4
message_packets = 64
mtu = 4096
[[switch.port]]
name = "h1"
ring = "h1"
)";

TEST(ConfigNetReduce, rings_are_read) {
  const auto loaded = parse_config(good_netreduce, "good.toml");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& rings = loaded->switches[0].config.protocols.get<netreduce::NetReduceConfig>().rings;
  const wire::Ipv4Address a{10, 0, 0, 1};
  const wire::Ipv4Address b{10, 0, 0, 2};
  const wire::Ipv4Address c{10, 0, 0, 3};
  const netreduce::RingConfig first{7, {a, b}, 2, 170, 1024, {}, {}, {}};
  const netreduce::RingConfig second{8, {b, a, c}, 4, 64, 4096, {}, {}, {}};
  EXPECT_EQ(rings, (std::vector{first, second}));
  EXPECT_EQ(loaded->switches[0].config.protocols.get<netreduce::NetReduceConfig>().slots(),
            2u * 2 * 170 * 2 + 2 * 4 * 64 * 3);
}

constexpr std::string_view racks = R"(version = 1
[[switch]]
name = "s1"
id = 1
[switch.netreduce]
[[switch.netreduce.ring]]
id = 7
members = ["fd00::1", "fd00::2", "fd00::3", "fd00::4", "fd00::5"]
local = ["fd00::1"]
parent = "fd00:9::1"
[[switch.netreduce.ring.rack]]
members = ["fd00::2", "fd00::3"]
[[switch.port]]
name = "h1"
ring = "h1"
)";

TEST(ConfigNetReduce, racks_are_read) {
  const auto loaded = parse_config(racks, "racks.toml");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& ring =
      loaded->switches[0].config.protocols.get<netreduce::NetReduceConfig>().rings.at(0);
  ASSERT_EQ(ring.members.size(), 5u);
  EXPECT_EQ(to_string(ring.members[4]), "fd00::5");
  EXPECT_EQ(ring.local, (std::vector{ring.members[0]}));
  ASSERT_EQ(ring.racks.size(), 1u);
  EXPECT_EQ(ring.racks[0], (std::vector{ring.members[1], ring.members[2]}));
  ASSERT_TRUE(ring.parent);
  EXPECT_EQ(to_string(*ring.parent), "fd00:9::1");
  // Ranks 0 and 2 send some of the packets that are kept.
  EXPECT_EQ(ring.slots(), 2u * 2 * 170 * 2);
}

const test::Damage damaged_netreduce[] = {
    {"without_id", "id = 7\n", "\n", 6, 0, "id", ""},
    {"unknown_key", "window = 4", "windows = 4", 12, 0, "unknown key `windows`", "`window`"},
    {"one_member", "[\"10.0.0.1\", \"10.0.0.2\"]", "[\"10.0.0.1\"]", 8, 0, "2 to 64 `members`",
     "it has 1"},
    {"member_twice", "\"10.0.0.3\"", "\"10.0.0.1\"", 11, 0, "names an address twice", "machine"},
    {"member_is_a_group", "\"10.0.0.3\"", "\"239.0.0.1\"", 11, 0, "", ""},
    {"no_path_mtu", "mtu = 4096", "mtu = 1500", 14, 0, "no value of `mtu`", "512, 1024"},
    {"window_of_nothing", "window = 4", "window = 0", 12, 0, "out of range", "from 1 to 64"},
    {"too_much_memory", "message_packets = 64", "message_packets = 8192", 13, 0, "memory",
     "at most 65536"},
    {"ring_twice", "id = 8", "id = 7", 10, 0, "ring 7 was given before", "different"},
    {"both_versions", "\"10.0.0.3\"", "\"fd00::3\"", 11, 0, "of IPv4 and of IPv6", "do not exist"},
    {"parent_of_all", "window = 4", "parent = \"10.9.9.9\"", 12, 0, "no packet of the ring goes",
     "`local`"},
    {"no_parent", "window = 4", "local = [\"10.0.0.1\"]", 12, 0, "nobody adds up", "`parent`"},
    {"local_stranger", "window = 4", "local = [\"10.0.0.9\"]", 12, 0, "not in `members`",
     "whole ring"},
    {"local_twice", "window = 4", "local = [\"10.0.0.1\", \"10.0.0.1\"]\nparent = \"10.9.9.9\"", 12,
     0, "name a member twice", ""},
    {"rack_of_all", "mtu = 4096",
     "[[switch.netreduce.ring.rack]]\nmembers = [\"10.0.0.1\", \"10.0.0.2\", \"10.0.0.3\"]", 14, 0,
     "all members, or none", "leave it"},
    {"parent_of_another_version", "window = 4", "local = [\"10.0.0.1\"]\nparent = \"fd00::1\"", 13,
     0, "another version of IP than `members`", "the way to it"},
};

class ConfigNetReduceError : public testing::TestWithParam<test::Damage> {};

TEST_P(ConfigNetReduceError, is_placed_and_explained) {
  test::expect_placed_and_explained(good_netreduce, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Each, ConfigNetReduceError, testing::ValuesIn(damaged_netreduce),
                         test::name_of);

TEST(ConfigNetReduce, rings_of_ipv6_need_a_port_that_takes_it) {
  const auto with_address = [](const std::string& address) {
    return test::replaced(racks, "ring = \"h1\"", "ring = \"h1\"\n" + address);
  };
  const auto refused = parse_config(with_address("address = \"10.0.0.1/24\""), "f.toml");
  ASSERT_FALSE(refused);
  const auto said = to_string(refused.error());
  EXPECT_THAT(said, testing::HasSubstr("f.toml:8:"));
  EXPECT_THAT(said, testing::HasSubstr("no port of the switch takes IPv6"));
  EXPECT_THAT(said, testing::HasSubstr("`address6`"));
  EXPECT_TRUE(parse_config(with_address("address6 = \"fd00::99/64\""), "f.toml"));
  EXPECT_TRUE(parse_config(racks, "f.toml"));
}

// A second switch with a ring 7.
std::string with_another_switch(const std::string& ring) {
  return std::string(good_netreduce) + R"([[switch]]
name = "s2"
id = 2
[[switch.port]]
name = "h2"
ring = "h2"
[switch.netreduce]
[[switch.netreduce.ring]]
id = 7
)" + ring;
}

TEST(ConfigNetReduce, one_id_is_one_ring_on_all_switches) {
  EXPECT_TRUE(parse_config(with_another_switch(R"(members = ["10.0.0.1", "10.0.0.2"])"), "f.toml"));
  for (const char* other : {R"(members = ["10.0.9.1", "10.0.9.2"])",
                            "members = [\"10.0.0.1\", \"10.0.0.2\"]\nwindow = 4"}) {
    const auto refused = parse_config(with_another_switch(other), "f.toml");
    ASSERT_FALSE(refused) << other;
    const auto said = to_string(refused.error());
    EXPECT_THAT(said, testing::HasSubstr("ring 7 is another one on switch `s1`"));
    EXPECT_THAT(said, testing::HasSubstr("f.toml:26:"));
    EXPECT_THAT(said, testing::HasSubstr("another `id`"));
  }
}

TEST(ConfigNetReduce, rings_can_be_reloaded) {
  const auto before = parse_config(good_netreduce, "before.toml");
  const auto after =
      parse_config(test::replaced(good_netreduce, "window = 4", "window = 8"), "after.toml");
  ASSERT_TRUE(before && after);
  std::vector<std::string> lines;
  for (const auto& change : diff(*before, *after)) {
    lines.push_back(to_string(change));
  }
  EXPECT_THAT(lines, testing::ElementsAre("~ switch s1 netreduce ring 8 window: 4 -> 8"));
}

TEST(ConfigNetReduce, racks_can_be_reloaded) {
  const auto before = parse_config(racks, "before.toml");
  const auto after = parse_config(test::replaced(racks, "fd00:9::1", "fd00:9::2"), "after.toml");
  ASSERT_TRUE(before && after);
  const auto changes = diff(*before, *after);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(to_string(changes[0]), testing::EndsWith(" parent: fd00:9::1 -> fd00:9::2"));
}

}  // namespace
}  // namespace tributary::control
