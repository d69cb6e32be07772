// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/controller/rings.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocols/netreduce/engine/config.h"
#include "wire/embedding_prefix.h"

namespace tributary::netreduce {
namespace {

using control::TreePart;
using testing::HasSubstr;

wire::Ipv4Address host(std::uint8_t last) {
  return {10, 0, 0, last};
}

switching::SwitchConfig with_memory(std::uint32_t packets) {
  switching::SwitchConfig config;
  config.protocols.emplace<NetReduceConfig>().packet_memory = packets;
  return config;
}

// Two hosts, and a rack of two others behind a third port.
TreePart spine() {
  TreePart part;
  part.job = 7;
  part.children = {"h1", "h2", "leaf"};
  part.workers = 4;
  part.child_addresses = {host(1), host(2), host(100)};
  part.members = {host(1), host(3), host(2), host(4)};
  part.racks = {{host(3), host(4)}};
  part.engine = "netreduce";
  return part;
}

// The leaf of that rack.
TreePart leaf() {
  auto part = spine();
  part.children = {"h3", "h4"};
  part.child_addresses = {host(3), host(4)};
  part.racks.clear();
  part.parent = "up";
  part.parent_address = host(101);
  return part;
}

std::string refusal(switching::SwitchConfig config, const TreePart& part) {
  const auto added = ring_support.add(config, part);
  return added ? "none" : added.error();
}

TEST(Rings, a_tree_becomes_the_ring_of_its_job) {
  auto config = with_memory(1 << 16);
  auto part = spine();
  part.settings = {{"window", 4}, {"message_packets", 32}, {"mtu", 2048}};
  ASSERT_TRUE(ring_support.add(config, part));
  const auto& rings = config.protocols.get<NetReduceConfig>().rings;
  const RingConfig wanted{7,
                          {host(1), host(3), host(2), host(4)},
                          4,
                          32,
                          2048,
                          {host(1), host(2)},
                          {{host(3), host(4)}},
                          {}};
  EXPECT_EQ(rings, std::vector{wanted});
}

TEST(Rings, a_leaf_sends_what_leaves_its_rack_to_the_switch_above) {
  auto config = with_memory(1 << 16);
  ASSERT_TRUE(ring_support.add(config, leaf()));
  const auto& ring = config.protocols.get<NetReduceConfig>().rings[0];
  EXPECT_EQ(ring.local, (std::vector<wire::IpAddress>{host(3), host(4)}));
  EXPECT_EQ(ring.parent, host(101));
}

TEST(Rings, another_ring_of_that_number_on_another_switch_is_a_conflict) {
  auto config = with_memory(1 << 16);
  config.name = "spine";
  ASSERT_TRUE(ring_support.add(config, spine()));
  EXPECT_EQ(ring_support.conflict(config, leaf()), "") << "the same ring";
  EXPECT_EQ(ring_support.conflict(switching::SwitchConfig{}, leaf()), "") << "NetReduce is off";
  auto part = leaf();
  part.settings = {{"window", 4}};
  EXPECT_THAT(ring_support.conflict(config, part),
              HasSubstr("ring 7 is another one in the configuration of switch spine"));
  part.job = 8;
  EXPECT_EQ(ring_support.conflict(config, part), "");
}

TEST(Rings, one_rack_needs_no_names) {
  auto config = with_memory(1 << 16);
  auto part = leaf();
  part.parent.reset();
  part.members = {host(3), host(4)};
  ASSERT_TRUE(ring_support.add(config, part));
  EXPECT_TRUE(config.protocols.get<NetReduceConfig>().rings[0].local.empty());
}

TEST(Rings, hosts_may_have_addresses_of_ipv6) {
  const auto ipv6 = [](const wire::IpAddress& address) {
    return wire::EmbeddingPrefix{0x20010db800640000, 0}.embed(address.v4());
  };
  auto part = leaf();
  std::ranges::transform(part.members, part.members.begin(), ipv6);
  std::ranges::transform(part.child_addresses, part.child_addresses.begin(), ipv6);
  EXPECT_THAT(refusal(with_memory(1 << 16), part), HasSubstr("parent"));
  part.parent_address = ipv6(part.parent_address);
  auto config = with_memory(1 << 16);
  EXPECT_THAT(refusal(config, part), HasSubstr("no port of the switch takes IPv6"));
  config.ports.emplace_back();  // which is bridged
  ASSERT_TRUE(ring_support.add(config, part));
  const auto& ring = config.protocols.get<NetReduceConfig>().rings[0];
  EXPECT_EQ(ring.members, part.members);
  EXPECT_EQ(ring.local, part.child_addresses);
}

TEST(Rings, what_does_not_fit_is_refused_with_advice) {
  EXPECT_THAT(refusal(with_memory(100), spine()), HasSubstr("raise packet_memory"));
  auto part = leaf();
  part.parent_address = {};
  EXPECT_THAT(refusal(with_memory(1 << 16), part), HasSubstr("give its [[switch]]"));
  part = spine();
  part.settings = {{"depth", 3}};
  EXPECT_THAT(refusal(with_memory(1 << 16), part), HasSubstr("no setting `depth`"));
  part.settings = {{"window", 65536}};
  EXPECT_THAT(refusal(with_memory(1 << 16), part), HasSubstr("`window` is to be 1 to 64"));
  part = spine();
  part.tree = 1;
  EXPECT_THAT(refusal(with_memory(1 << 16), part), HasSubstr("one ring"));
  part = spine();
  part.children = {};
  EXPECT_THAT(refusal(with_memory(1 << 16), part), HasSubstr("racks"));
  part = spine();
  part.child_addresses = {};
  EXPECT_THAT(refusal(with_memory(1 << 16), part), HasSubstr("child_addresses"));
  part = spine();
  part.members = {host(1)};
  EXPECT_THAT(refusal(with_memory(1 << 16), part), HasSubstr("members"));
}

std::uint32_t rings_that_fit(const switching::SwitchConfig& config) {
  return ring_support.room(config)["trees_max"].get<std::uint32_t>();
}

// A controller avoids a switch with so many rings without asking it.
TEST(Rings, no_switch_takes_more_than_it_tells) {
  auto config = with_memory(21);
  EXPECT_EQ(ring_support.room(config)["packet_memory_packets"], 21);
  // The one below the leaf sends to the one that is elsewhere.
  auto part = leaf();
  part.children = {"h3"};
  part.child_addresses = {host(3)};
  part.members = {host(1), host(3)};
  part.settings = {{"window", 1}, {"message_packets", 1}};
  const auto most = rings_that_fit(config);
  for (std::uint32_t job = 1; job <= most; ++job) {
    part.job = job;
    EXPECT_TRUE(ring_support.add(config, part)) << job;
  }
  part.job = most + 1;
  EXPECT_THAT(refusal(config, part), HasSubstr("raise packet_memory"));
}

TEST(Rings, those_of_the_configuration_leave_the_others_less_room) {
  auto config = with_memory(100);
  RingConfig ring;
  ring.id = 1;
  ring.members = {host(1), host(2), host(3)};
  ring.window = 2;
  ring.message_packets = 5;
  config.protocols.get<NetReduceConfig>().rings.push_back(ring);
  EXPECT_EQ(rings_that_fit(config), (100u - 60u) / 2u);
  config.protocols.get<NetReduceConfig>().packet_memory = 60;
  EXPECT_EQ(rings_that_fit(config), 0u);
}

TEST(Rings, workers_are_told_what_switches_were) {
  EXPECT_EQ(ring_support.environment({7, {}, {}, {{"window", 4}}}),
            (control::Environment{{"TRIBUTARY_NETREDUCE_RING", "7"},
                                  {"TRIBUTARY_NETREDUCE_WINDOW", "4"}}));
}

}  // namespace
}  // namespace tributary::netreduce
