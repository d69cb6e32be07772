// SPDX-License-Identifier: BSD-3-Clause
#include <any>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/config_diff.h"
#include "control/loader.h"
#include "control/protocol_section.h"
#include "damaged_config.h"
#include "protocols/flare/engine/config.h"

namespace tributary::control {
namespace {

// One leaf with the trees of two jobs; each test changes this text.
constexpr std::string_view good_flare = R"(version = 1
[[switch]]
name = "leaf1"
id = 1
address = "10.1.255.1"
[switch.flare]
working_memory = 2000
[[switch.flare.tree]]
job = 7
group = "239.192.0.1"
children = ["h1", "h2"]
parent = "up1"
workers = 8
workers_below = 2
[[switch.flare.tree]]
job = 8
group = "239.192.0.2"
children = ["h2", "h1", "up1"]
workers = 8
workers_below = 8
window = 16
reproducible = true
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

flare::FlareConfig loaded_from(std::string_view text) {
  const auto loaded = parse_config(text, "good.toml");
  if (!loaded) {
    ADD_FAILURE() << to_string(loaded.error());
    return {};
  }
  return loaded->switches[0].config.protocols.get<flare::FlareConfig>();
}

TEST(ConfigFlare, TreesNamePortsByTheirIndex) {
  const auto flare = loaded_from(good_flare);
  EXPECT_EQ(flare.working_memory, 2000u);
  flare::TreeConfig leaf;
  leaf.job = 7;
  leaf.group = wire::Ipv4Address{239, 192, 0, 1};
  leaf.children = {0, 1};
  leaf.parent = PortIndex{2};
  leaf.workers = 8;
  leaf.workers_below = 2;
  flare::TreeConfig root;
  root.job = 8;
  root.group = wire::Ipv4Address{239, 192, 0, 2};
  root.children = {1, 0, 2};
  root.workers = 8;
  root.workers_below = 8;
  root.window = 16;
  root.reproducible = true;
  EXPECT_EQ(flare.trees, (std::vector{leaf, root}));
}

TEST(ConfigFlare, WhatIsNotGivenHasItsDefault) {
  const auto tree = loaded_from(good_flare).trees.at(0);
  EXPECT_EQ(tree.window, flare::window_default);
  EXPECT_EQ(tree.aggregation(), flare::Aggregation::single);
  EXPECT_EQ(loaded_from(test::replaced(good_flare, "working_memory = 2000\n", "")).working_memory,
            8192u);
}

TEST(ConfigFlare, TreesHaveSparseBlocksIfToldSo) {
  EXPECT_EQ(loaded_from(good_flare).trees.at(0).sparse_window, 0u);
  EXPECT_EQ(loaded_from(test::replaced(good_flare, "workers_below = 2\n",
                                       "workers_below = 2\nsparse_window = 3\n"))
                .trees.at(0)
                .sparse_window,
            3u);
}

TEST(ConfigFlare, TreesSayWhereTheirPacketsComeFrom) {
  const auto tree = loaded_from(test::replaced(good_flare, "workers_below = 2\n",
                                               "workers_below = 2\nchild_addresses = "
                                               "[\"10.1.1.2\", \"10.1.1.3\"]\n"
                                               "parent_address = \"10.0.0.1\"\n"))
                        .trees.at(0);
  EXPECT_EQ(tree.child_addresses,
            (std::vector{wire::Ipv4Address{10, 1, 1, 2}, wire::Ipv4Address{10, 1, 1, 3}}));
  EXPECT_EQ(tree.parent_address, (wire::Ipv4Address{10, 0, 0, 1}));
}

const test::Damage damaged_flare[] = {
    {"addresses_of_fewer_children", "workers_below = 2",
     "workers_below = 2\nchild_addresses = [\"10.1.1.2\"]", 15, 0, "differ in number",
     "one address for each child"},
    {"without_address", "address = \"10.1.255.1\"\n", "\n", 6, 0, "the switch's own address",
     "add"},
    {"no_memory", "working_memory = 2000", "working_memory = 0", 7, 0, "out of range", "from 1"},
    {"memory_for_one_tree", "working_memory = 2000", "working_memory = 512", 21, 0, "no room",
     "0 are left"},
    {"unknown_key", "window = 16", "windov = 16", 21, 0, "unknown key `windov`", "`window`"},
    {"job_of_none", "job = 7", "job = 0", 9, 0, "`job` is out of range", "from 1 to 4294967295"},
    {"job_twice", "job = 8", "job = 7", 16, 0, "job 7 has a tree already", "one tree"},
    {"group_is_a_host", "239.192.0.1", "10.1.1.1", 10, 0, "no multicast address", "239.192.0.1"},
    {"group_twice", "239.192.0.2", "239.192.0.1", 17, 0, "another tree has this `group`", "own"},
    {"no_such_child", "[\"h1\", \"h2\"]", "[\"h1\", \"h3\"]", 11, 0, "no port `h3`",
     "ports: h1, h2, up1"},
    {"no_such_parent", "parent = \"up1\"", "parent = \"up2\"", 12, 0, "no port `up2`", "ports: h1"},
    {"two_parents", "parent = \"up1\"", "parent = [\"up1\", \"up1\"]", 12, 0, "one port", "root"},
    {"no_children", "[\"h1\", \"h2\"]", "[]", 11, 0, "1 to 64 `children`", "it has 0"},
    {"no_workers", "workers = 8", "workers = 0", 13, 0, "out of range", "from 1"},
    {"root_without_all", "workers_below = 8", "workers_below = 7", 20, 0, "the root has all",
     "= 8"},
    {"no_window", "window = 16", "window = 0", 21, 0, "out of range", "from 1 to 4096"},
    {"window_of_too_much", "window = 16", "window = 4097", 21, 0, "out of range", "from 1 to 4096"},
    {"sparse_and_reproducible", "reproducible = true", "reproducible = true\nsparse_window = 1", 23,
     0, "no sparse blocks", "leave out"},
    {"sparse_window_of_too_much", "reproducible = true", "sparse_window = 4097", 22, 0,
     "out of range", "from 0 to 4096"},
    {"reproducible_is_a_number", "reproducible = true", "reproducible = 1", 22, 0,
     "is to be true or false", ""},
};

class ConfigFlareError : public testing::TestWithParam<test::Damage> {};

TEST_P(ConfigFlareError, IsPlacedAndExplained) {
  test::expect_placed_and_explained(good_flare, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Each, ConfigFlareError, testing::ValuesIn(damaged_flare), test::name_of);

std::vector<std::string> flare_changes(std::string_view from, std::string_view to) {
  const auto before = parse_config(good_flare, "before.toml");
  const auto after = parse_config(test::replaced(good_flare, from, to), "after.toml");
  if (!before || !after) {
    return {"wrong"};
  }
  std::vector<std::string> lines;
  for (const auto& change : diff(*before, *after)) {
    lines.push_back(to_string(change));
  }
  return lines;
}

TEST(ConfigFlare, TreesCanBeReloaded) {
  EXPECT_THAT(flare_changes("workers_below = 2\n", "workers_below = 2\nwindow = 32\n"),
              testing::ElementsAre(
                  "~ switch leaf1 flare tree 7: group 239.192.0.1 children h1, h2 parent up1 "
                  "workers 8 workers_below 2 window 64 reproducible false sparse_window 0 -> group "
                  "239.192.0.1 children h1, h2 parent up1 workers 8 workers_below 2 window 32 "
                  "reproducible false sparse_window 0"));
}

const ProtocolSection& section() {
  return *tree_section("flare");
}

std::any settings_of(std::uint32_t working_memory, const std::vector<std::uint32_t>& windows,
                     std::uint32_t sparse_window = 0) {
  flare::FlareConfig flare;
  flare.working_memory = working_memory;
  for (const auto window : windows) {
    flare.trees.emplace_back().window = window;
    flare.trees.back().sparse_window = sparse_window;
  }
  return flare;
}

TEST(ConfigFlare, TheDaemonHasThePacketsOfTheWorkingMemory) {
  EXPECT_EQ(section().packets(settings_of(2000, {})), 2000u);
}

TEST(ConfigFlare, APortIsSentTheWindowsOfItsTreesAtOnce) {
  const auto spare = section().frames_at_once(settings_of(2000, {}));
  EXPECT_GT(spare, 0u) << "trees that a controller may add";
  EXPECT_LT(spare, 2000u);
  EXPECT_EQ(section().frames_at_once(settings_of(1024, {64, 64})), 128u);
  EXPECT_EQ(section().frames_at_once(settings_of(512 + 4 * 112, {64}, 2)), 64u + 2 * 32)
      << "a sparse block may have as many packets as it has runs";
}

}  // namespace
}  // namespace tributary::control
