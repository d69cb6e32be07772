// SPDX-License-Identifier: BSD-3-Clause
#include "controller/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabrics.h"
#include "wire/embedding_prefix.h"

namespace tributary::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::Ipv4Address;

constexpr Ipv4Address tree_group(239, 0, 0, 9);

// Two leaves of two hosts each, 10.0.0.1 to 10.0.0.4, below one spine that is the root.
class PartsOfATree : public testing::Test {
 protected:
  PartsOfATree() {
    for (std::size_t i = 0; i < topology_.hosts.size(); ++i) {
      topology_.hosts[i].address = Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(i + 1));
    }
    topology_.switches[2].address = Ipv4Address(10, 9, 0, 1);
    job_ = {7, {3, 0, 1}, 1, 2, "panama"};
    job_.settings = {{"window", 4}};
  }
  Tree make() {
    const Graph graph(topology_, std::vector<bool>(topology_.switches.size(), true));
    const Load load{std::vector<std::size_t>(topology_.links.size()),
                    std::vector<std::size_t>(topology_.switches.size())};
    return make_tree(topology_, job_, span(graph, 2, {0, 1}, {load, load.links, {}}), 5, 2,
                     tree_group);
  }

  Topology topology_ = two_levels(2, 1, 2);
  Job job_;
};

TEST_F(PartsOfATree, SayWhoIsBelowAndAbove) {
  const auto tree = make();
  ASSERT_EQ(tree.parts.size(), 3u);
  const auto& root = tree.parts[0];
  EXPECT_EQ(root.switch_index, 2u);
  EXPECT_FALSE(root.part.parent);
  EXPECT_THAT(root.part.children, ElementsAre("leaf1", "leaf2"));
  EXPECT_EQ(root.part.workers_below, 3);
  const auto& leaf1 = tree.parts[1];
  EXPECT_EQ(leaf1.switch_index, 0u);
  EXPECT_EQ(leaf1.part.parent, "spine1");
  EXPECT_THAT(leaf1.part.children, ElementsAre("h0", "h1"));
  EXPECT_EQ(leaf1.part.workers_below, 2);
  EXPECT_EQ(tree.parts[2].part.workers_below, 1);
}

TEST_F(PartsOfATree, HaveInCommonWhatTheJobHas) {
  for (const auto& placed : make().parts) {
    EXPECT_EQ(placed.part.job, 7u);
    EXPECT_EQ(placed.part.tree, 5);
    EXPECT_EQ(placed.part.group, tree_group);
    EXPECT_EQ(placed.part.workers, 3);
    EXPECT_EQ(placed.part.quorum, 2);
    EXPECT_EQ(placed.part.engine, "panama");
    EXPECT_EQ(placed.part.settings, job_.settings);
    EXPECT_THAT(placed.part.members, IsEmpty()) << "which the engine does not ask for";
    EXPECT_THAT(placed.part.racks, IsEmpty());
  }
}

TEST_F(PartsOfATree, SayFromWhereThePacketsOfNeighboursCome) {
  const auto tree = make();
  EXPECT_THAT(tree.parts[0].part.child_addresses, IsEmpty()) << "none of the leaves' is known";
  EXPECT_TRUE(tree.parts[0].part.parent_address.is_unspecified());
  EXPECT_THAT(tree.parts[1].part.child_addresses,
              ElementsAre(Ipv4Address(10, 0, 0, 1), Ipv4Address(10, 0, 0, 2)));
  EXPECT_EQ(tree.parts[1].part.parent_address, Ipv4Address(10, 9, 0, 1));
  topology_.switches[1].address = Ipv4Address(10, 9, 0, 2);
  EXPECT_THAT(make().parts[0].part.child_addresses,
              ElementsAre(wire::IpAddress{}, Ipv4Address(10, 9, 0, 2)));
}

// Trees know hosts by 32 bits, rings by their addresses.
TEST_F(PartsOfATree, HaveAddressesOfIpv6AsTheEngineKnowsThem) {
  constexpr auto prefix = wire::EmbeddingPrefix{0x20010db800640000, 0};
  for (auto& host : topology_.hosts) {
    host.address = prefix.embed(host.address.v4());
  }
  topology_.switches[2].address = prefix.embed(Ipv4Address(10, 9, 0, 1));
  EXPECT_THAT(make().parts[1].part.child_addresses,
              ElementsAre(Ipv4Address(10, 0, 0, 1), Ipv4Address(10, 0, 0, 2)));
  EXPECT_EQ(make().parts[1].part.parent_address, Ipv4Address(10, 9, 0, 1));
  job_.limits.members = true;
  const auto& hosts = topology_.hosts;
  EXPECT_THAT(make().parts[1].part.child_addresses,
              ElementsAre(hosts[0].address, hosts[1].address));
  EXPECT_EQ(make().parts[1].part.parent_address, topology_.switches[2].address);
  EXPECT_THAT(make().parts[0].part.members,
              ElementsAre(hosts[3].address, hosts[0].address, hosts[1].address));
}

TEST_F(PartsOfATree, NameTheWorkersByRankAndRackWhereTheEngineAsks) {
  job_.limits.members = true;
  const auto tree = make();
  const Ipv4Address rank0(10, 0, 0, 4);
  const Ipv4Address rank1(10, 0, 0, 1);
  const Ipv4Address rank2(10, 0, 0, 2);
  EXPECT_THAT(tree.parts[0].part.members, ElementsAre(rank0, rank1, rank2));
  EXPECT_THAT(tree.parts[0].part.racks, ElementsAre(ElementsAre(rank1, rank2), ElementsAre(rank0)));
  EXPECT_THAT(tree.parts[1].part.members, ElementsAre(rank0, rank1, rank2));
  EXPECT_THAT(tree.parts[1].part.racks, IsEmpty()) << "no switches are below";
}

}  // namespace
}  // namespace tributary::controller
