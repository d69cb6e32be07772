// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/config_diff.h"
#include "control/loader.h"
#include "damaged_config.h"
#include "protocols/panama/engine/config.h"

namespace tributary::control {
namespace {

// One leaf with two trees; each test changes this text.
constexpr std::string_view good_panama = R"(version = 1
[[switch]]
name = "leaf1"
id = 1
address = "10.1.255.1"
[switch.panama]
packet_memory = 64
[[switch.panama.tree]]
job = 7
tree = 0
group = "239.192.0.1"
children = ["h1", "h2"]
parent = "up1"
workers = 8
workers_below = 2
[[switch.panama.tree]]
job = 7
tree = 1
group = "239.192.0.2"
children = ["h2", "h1", "up1"]
workers = 8
workers_below = 8
quorum = 7
[[switch.port]]
name = "h1"
ring = "h1"
[[switch.port]]
name = "h2"
ring = "h2"
[[switch.port]]
name = "up1"
ring = "up1"
)";

TEST(ConfigPanama, TreesNamePortsByTheirIndex) {
  const auto loaded = parse_config(good_panama, "good.toml");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& panama = loaded->switches[0].config.protocols.get<panama::PanamaConfig>();
  EXPECT_EQ(panama.packet_memory, 64u);
  const panama::TreeConfig leaf{{7, wire::Ipv4Address{239, 192, 0, 1}, {0, 1}, 2, 8, 2}, 0, 8};
  const panama::TreeConfig root{
      {7, wire::Ipv4Address{239, 192, 0, 2}, {1, 0, 2}, std::nullopt, 8, 8}, 1, 7};
  EXPECT_EQ(panama.trees, (std::vector{leaf, root}));
}

TEST(ConfigPanama, TreesSayWhereTheirPacketsComeFrom) {
  const auto text = test::replaced(good_panama, "workers_below = 2\n",
                                   "workers_below = 2\nchild_addresses = [\"10.1.1.2\", "
                                   "\"10.1.1.3\"]\nparent_address = \"10.0.0.1\"\n");
  const auto loaded = parse_config(text, "good.toml");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& tree = loaded->switches[0].config.protocols.get<panama::PanamaConfig>().trees[0];
  EXPECT_EQ(tree.child_addresses,
            (std::vector{wire::Ipv4Address{10, 1, 1, 2}, wire::Ipv4Address{10, 1, 1, 3}}));
  EXPECT_EQ(tree.parent_address, (wire::Ipv4Address{10, 0, 0, 1}));
}

const test::Damage damaged_panama[] = {
    {"addresses_of_fewer_children", "workers_below = 2",
     "workers_below = 2\nchild_addresses = [\"10.1.1.2\"]", 16, 0, "differ in number",
     "one address for each child"},
    {"without_address", "address = \"10.1.255.1\"\n", "\n", 6, 0, "the switch's own address",
     "add"},
    {"memory_of_one_packet", "packet_memory = 64", "packet_memory = 1", 7, 0, "out of range",
     "from 2"},
    {"memory_for_one_tree", "packet_memory = 64", "packet_memory = 3", 18, 0, "no room for another",
     "each has 2 of its 3 packets"},
    {"unknown_key", "quorum = 7", "quorom = 7", 23, 0, "unknown key `quorom`", "`quorum`"},
    {"job_of_none", "job = 7", "job = 0", 9, 0, "`job` is out of range", "from 1 to 4294967295"},
    {"group_is_a_host", "239.192.0.1", "10.1.1.1", 11, 0, "no multicast address", "239.192.0.1"},
    {"group_is_link_local", "239.192.0.1", "224.0.0.5", 11, 0, "no multicast address",
     "239.192.0.1"},
    {"group_twice", "239.192.0.2", "239.192.0.1", 19, 0, "another tree has this `group`", "own"},
    {"tree_twice", "tree = 1", "tree = 0", 18, 0, "tree 0 of job 7 was given before", "different"},
    {"no_such_child", "[\"h1\", \"h2\"]", "[\"h1\", \"h3\"]", 12, 0, "no port `h3`",
     "ports: h1, h2, up1"},
    {"no_such_parent", "parent = \"up1\"", "parent = \"up2\"", 13, 0, "no port `up2`", "ports: h1"},
    {"two_parents", "parent = \"up1\"", "parent = [\"up1\", \"up1\"]", 13, 0, "one port", "root"},
    {"no_children", "[\"h1\", \"h2\"]", "[]", 12, 0, "1 to 64 `children`", "it has 0"},
    {"child_twice", "[\"h1\", \"h2\"]", "[\"h1\", \"h1\"]", 12, 0, "names a port twice", ""},
    {"parent_is_a_child", "parent = \"up1\"", "parent = \"h2\"", 13, 0, "one of the `children`",
     ""},
    {"no_workers", "workers = 8", "workers = 0", 14, 0, "out of range", "from 1"},
    {"more_below_than_there_are", "workers_below = 2", "workers_below = 9", 15, 0, "more",
     "most 8"},
    {"fewer_below_than_children", "workers_below = 2", "workers_below = 1", 15, 0, "fewer",
     "least 2"},
    {"root_without_all", "workers_below = 8", "workers_below = 7", 22, 0, "the root has all",
     "= 8"},
    {"quorum_of_more_than_all", "quorum = 7", "quorum = 9", 23, 0, "out of range", "from 1 to 8"},
    {"quorum_of_too_many", "workers = 8\nworkers_below = 8\nquorum = 7",
     "workers = 1025\nworkers_below = 1025\nquorum = 7", 23, 0, "too many", "up to 1024"},
    {"quorum_of_none", "quorum = 7", "quorum = 0", 23, 0, "out of range", "from 1"},
};

class ConfigPanamaError : public testing::TestWithParam<test::Damage> {};

TEST_P(ConfigPanamaError, IsPlacedAndExplained) {
  test::expect_placed_and_explained(good_panama, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Each, ConfigPanamaError, testing::ValuesIn(damaged_panama), test::name_of);

std::vector<std::string> panama_changes(std::string_view from, std::string_view to) {
  const auto before = parse_config(good_panama, "before.toml");
  const auto after = parse_config(test::replaced(good_panama, from, to), "after.toml");
  if (!before || !after) {
    return {"wrong"};
  }
  std::vector<std::string> lines;
  for (const auto& change : diff(*before, *after)) {
    lines.push_back(to_string(change));
  }
  return lines;
}

TEST(ConfigPanama, TreesCanBeReloaded) {
  EXPECT_THAT(panama_changes("children = [\"h1\", \"h2\"]\n", "children = [\"h1\"]\n"),
              testing::ElementsAre(
                  "~ switch leaf1 panama tree 7/0: group 239.192.0.1 children h1, h2 parent up1 "
                  "workers 8 workers_below 2 quorum 8 -> group 239.192.0.1 children h1 parent up1 "
                  "workers 8 workers_below 2 quorum 8"));
}

TEST(ConfigPanama, MemoryCannot) {
  EXPECT_THAT(
      panama_changes("packet_memory = 64", "packet_memory = 65"),
      testing::ElementsAre("~ switch leaf1 panama packet_memory: 64 -> 65  (needs a restart)"));
}

}  // namespace
}  // namespace tributary::control
