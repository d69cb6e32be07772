// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/controller/trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocols/flare/engine/config.h"
#include "wire/embedding_prefix.h"

namespace tributary::flare {
namespace {

using control::TreePart;
using testing::HasSubstr;

switching::SwitchConfig with_memory(std::uint32_t packets) {
  switching::SwitchConfig config;
  for (const char* name : {"h1", "h2", "up"}) {
    config.ports.emplace_back().name = name;
  }
  config.protocols.emplace<FlareConfig>().working_memory = packets;
  return config;
}

// A leaf with two of four workers.
TreePart leaf(std::uint32_t job = 7) {
  TreePart part;
  part.job = job;
  part.group = wire::Ipv4Address(0xefc00000u + job);
  part.children = {"h2", "h1"};
  part.parent = "up";
  part.workers = 4;
  part.workers_below = 2;
  part.quorum = 4;
  part.child_addresses = {wire::Ipv4Address(10, 0, 0, 2), wire::Ipv4Address(10, 0, 0, 1)};
  part.parent_address = wire::Ipv4Address(10, 0, 0, 9);
  part.engine = "flare";
  part.settings = {{"window", 32}, {"reproducible", 1}, {"sparse_window", 0}};
  return part;
}

std::string refusal(switching::SwitchConfig config, const TreePart& part) {
  const auto added = tree_support.add(config, part);
  return added ? "none" : added.error();
}

TEST(FlareTrees, WhatIsAddedIsListed) {
  auto config = with_memory(8192);
  ASSERT_EQ(refusal(config, leaf()), "none");
  ASSERT_TRUE(tree_support.add(config, leaf()));
  const auto& tree = config.protocols.get<FlareConfig>().trees.at(0);
  EXPECT_EQ(tree.children, (std::vector<PortIndex>{1, 0}));
  EXPECT_EQ(tree.parent, PortIndex{2});
  EXPECT_EQ(tree.window, 32u);
  EXPECT_EQ(tree.aggregation(), Aggregation::tree);
  EXPECT_EQ(tree_support.list(config), std::vector{leaf()});
}

TEST(FlareTrees, AddressesOfIpv6AreThoseThatTheyEmbed) {
  auto part = leaf();
  part.parent_address = wire::EmbeddingPrefix{0x20010db800640000, 0}.embed({10, 0, 0, 9});
  EXPECT_THAT(refusal(with_memory(8192), part), HasSubstr("embeds, 10.0.0.9"));
}

TEST(FlareTrees, SettingsHaveDefaults) {
  auto config = with_memory(8192);
  auto part = leaf();
  part.settings = {};
  ASSERT_TRUE(tree_support.add(config, part));
  const auto& tree = config.protocols.get<FlareConfig>().trees.at(0);
  EXPECT_EQ(tree.window, window_default);
  EXPECT_FALSE(tree.reproducible);
  EXPECT_EQ(tree.sparse_window, 0u);
}

TEST(FlareTrees, SparseBlocksAreASettingOfTheirOwn) {
  auto config = with_memory(8192);
  auto part = leaf();
  part.settings = {{"window", 64}, {"reproducible", 0}, {"sparse_window", 16}};
  ASSERT_EQ(refusal(config, part), "none");
  ASSERT_TRUE(tree_support.add(config, part));
  EXPECT_EQ(config.protocols.get<FlareConfig>().trees.at(0).sparse_window, 16u);
  EXPECT_EQ(tree_support.list(config), std::vector{part});
  part.settings["reproducible"] = 1;
  EXPECT_THAT(refusal(with_memory(8192), part), HasSubstr("no sparse blocks"));
}

TEST(FlareTrees, WhatDoesNotFitIsRefusedWithAdvice) {
  auto part = leaf();
  part.tree = 1;
  EXPECT_THAT(refusal(with_memory(8192), part), HasSubstr("one tree"));
  part = leaf();
  part.quorum = 3;
  EXPECT_THAT(refusal(with_memory(8192), part), HasSubstr("lacks no worker"));
  part = leaf();
  part.settings = {{"depth", 3}};
  EXPECT_THAT(refusal(with_memory(8192), part), HasSubstr("no setting `depth`"));
  part.settings = {{"reproducible", 2}};
  EXPECT_THAT(refusal(with_memory(8192), part), HasSubstr("0 or 1"));
  part.settings = {{"window", 4097}};
  EXPECT_THAT(refusal(with_memory(1 << 20), part), HasSubstr("from 1 to 4096"));
  part = leaf();
  part.children = {"h1", "h3"};
  EXPECT_THAT(refusal(with_memory(8192), part), HasSubstr("there is no port `h3`"));
}

TEST(FlareTrees, ATreeBeyondTheWorkingMemoryIsRefused) {
  auto config = with_memory(8192);
  ASSERT_TRUE(tree_support.add(config, leaf()));
  const auto needed =
      static_cast<std::uint32_t>(buffers_of(config.protocols.get<FlareConfig>().trees.at(0)));
  auto full = with_memory(2 * needed - 1);
  ASSERT_TRUE(tree_support.add(full, leaf(7)));
  EXPECT_THAT(refusal(full, leaf(8)), HasSubstr("`working_memory` has no room"));
  auto fitting = with_memory(2 * needed);
  ASSERT_TRUE(tree_support.add(fitting, leaf(7)));
  EXPECT_EQ(refusal(fitting, leaf(8)), "none");
}

// A controller avoids a switch with so many trees without asking it.
TEST(FlareTrees, NoSwitchTakesMoreTreesThanItTells) {
  auto config = with_memory(100);
  const auto most = tree_support.room(config)["trees_max"].get<std::uint32_t>();
  EXPECT_EQ(tree_support.room(config)["working_memory_packets"], 100);
  auto part = leaf();
  part.settings = {{"window", 1}};
  for (std::uint32_t job = 1; job <= most; ++job) {
    part.job = job;
    part.group = wire::Ipv4Address(0xefc00000u + job);
    EXPECT_TRUE(tree_support.add(config, part)) << job;
  }
  part.job = most + 1;
  part.group = wire::Ipv4Address(0xefc00000u + part.job);
  EXPECT_NE(refusal(config, part), "none");
}

TEST(FlareTrees, WorkersAreToldWhatSwitchesWere) {
  const control::JobTrees job{7, {wire::Ipv4Address(239, 192, 0, 1)}, {}, {{"window", 32}}};
  EXPECT_EQ(tree_support.environment(job),
            (control::Environment{{"TRIBUTARY_FLARE_TREE", "239.192.0.1"},
                                  {"TRIBUTARY_FLARE_WINDOW", "32"}}));
  const control::JobTrees usual{7, {wire::Ipv4Address(239, 192, 0, 1)}, {}, {}};
  const control::JobTrees sparse{
      7, {wire::Ipv4Address(239, 192, 0, 1)}, {}, {{"sparse_window", 16}}};
  EXPECT_EQ(tree_support.environment(sparse).at(2),
            (control::Environment::value_type{"TRIBUTARY_FLARE_SPARSE_WINDOW", "16"}));
  EXPECT_EQ(tree_support.environment(usual)[1].second, std::to_string(window_default));
}

}  // namespace
}  // namespace tributary::flare
