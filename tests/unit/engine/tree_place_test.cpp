// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tree_place.h"

#include <string>

#include <gtest/gtest.h>

#include "engine/port_bitmap.h"

namespace tributary::engine {
namespace {

using wire::Ipv4Address;
using Ports = std::vector<PortIndex>;

const TreePlace sound{.job = 7,
                      .group = {239, 192, 0, 1},
                      .children = {4, 2},
                      .parent = 1,
                      .workers = 8,
                      .workers_below = 3};

// Returns the setting at fault, or an empty text.
std::string fault_of(const TreePlace& place) {
  const auto fault = find_fault(place);
  return fault ? std::string(fault->setting) : std::string();
}

TEST(TreePlace, ASoundOneHasNoFault) {
  TreePlace config = sound;
  EXPECT_EQ(fault_of(config), "");
  config.child_addresses = {Ipv4Address(10, 0, 0, 1), Ipv4Address()};
  EXPECT_EQ(fault_of(config), "");
  config.parent.reset();
  config.workers = config.workers_below;
  EXPECT_EQ(fault_of(config), "");
}

TEST(TreePlace, AJobHasANumberAndAGroup) {
  TreePlace config = sound;
  config.job = 0;
  EXPECT_EQ(fault_of(config), "job");
  config = sound;
  for (const auto group : {Ipv4Address(10, 0, 0, 1), Ipv4Address(224, 0, 0, 5)}) {
    config.group = group;
    EXPECT_EQ(fault_of(config), "group");
  }
}

TEST(TreePlace, PortsDiffer) {
  TreePlace config = sound;
  config.children = {};
  EXPECT_EQ(fault_of(config), "children");
  config.children = {2, 3, 2};
  EXPECT_EQ(fault_of(config), "children");
  config.children = Ports(tree_children_max + 1);
  EXPECT_EQ(fault_of(config), "children");
  config.children = {2, 1};
  EXPECT_EQ(fault_of(config), "parent");
  config = sound;
  config.child_addresses = {Ipv4Address(10, 0, 0, 1)};
  EXPECT_EQ(fault_of(config), "child_addresses");
}

TEST(TreePlace, WorkersAreBehindChildren) {
  TreePlace config = sound;
  config.workers_below = 9;
  EXPECT_EQ(fault_of(config), "workers_below");
  config.workers_below = 1;
  EXPECT_EQ(fault_of(config), "workers_below");
  config = sound;
  config.parent.reset();
  EXPECT_EQ(fault_of(config), "workers_below") << "the root has all below it";
}

TEST(TreePorts, TellWhomAPortLeadsTo) {
  const TreePorts ports(sound, 5);
  EXPECT_EQ(ports.children(), 2);
  EXPECT_EQ(ports.all_children(), 0b11u);
  EXPECT_EQ(ports.child_of(4), 0);
  EXPECT_EQ(ports.child_of(2), 1);
  EXPECT_EQ(ports.child_of(1), TreePorts::no_child);
  EXPECT_TRUE(ports.is_parent(1));
  EXPECT_FALSE(ports.is_parent(2));
  EXPECT_TRUE(ports.may_come(3, Ipv4Address(1, 2, 3, 4)));
}

TEST(TreePorts, LetInWhatComesFromANeighbour) {
  TreePlace config = sound;
  config.child_addresses = {Ipv4Address(10, 0, 0, 1), Ipv4Address()};
  config.parent_address = Ipv4Address(10, 0, 0, 9);
  const TreePorts ports(config, 5);
  EXPECT_TRUE(ports.may_come(4, Ipv4Address(10, 0, 0, 1)));
  EXPECT_FALSE(ports.may_come(4, Ipv4Address(10, 0, 0, 2)));
  EXPECT_TRUE(ports.may_come(2, Ipv4Address(10, 0, 0, 2))) << "anybody";
  EXPECT_TRUE(ports.may_come(1, Ipv4Address(10, 0, 0, 9)));
  EXPECT_FALSE(ports.may_come(1, Ipv4Address(10, 0, 0, 1)));
}

TEST(TreePorts, SixtyFourChildrenHaveABitEach) {
  TreePlace config = sound;
  config.parent.reset();
  config.children.clear();
  for (PortIndex port = 0; port < tree_children_max; ++port) {
    config.children.push_back(port);
  }
  const TreePorts ports(config, tree_children_max);
  EXPECT_EQ(ports.all_children(), ~std::uint64_t{0});
  EXPECT_EQ(ports_of(config.children, std::uint64_t{1} << 63 | 1), (Ports{0, 63}));
  EXPECT_TRUE(ports_of(config.children, 0).empty());
}

}  // namespace
}  // namespace tributary::engine
