// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/topology.h"

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

control::SwitchSection switch_with(const std::string& name, std::vector<std::string> ports,
                                   std::vector<control::DeviceConfig> devices) {
  control::SwitchSection made;
  made.config.name = name;
  for (auto& port : ports) {
    made.config.ports.emplace_back().name = std::move(port);
  }
  made.devices = std::move(devices);
  return made;
}

control::DaemonConfig leaf_and_spine(std::vector<unsigned> cores) {
  control::DaemonConfig config;
  config.cores = std::move(cores);
  config.switches = {
      switch_with("leaf", {"h1", "h2", "up"},
                  {control::InterfaceDevice{"veth1"}, control::InterfaceDevice{"veth2"},
                   control::InternalLink{"spine", "down"}}),
      switch_with("spine", {"down"}, {control::InternalLink{"leaf", "up"}}),
  };
  return config;
}

TEST(PlanTopology, NumbersPortsSwitchBySwitch) {
  const auto topology = plan_topology(leaf_and_spine({0}));
  ASSERT_EQ(topology.ports.size(), 4u);
  EXPECT_EQ(topology.number(1, 0), 3u);
  EXPECT_EQ(topology.ports[3].switch_index, 1u);
  EXPECT_EQ(topology.ports[3].port, 0u);
}

TEST(PlanTopology, JoinsTheEndsOfALink) {
  const auto topology = plan_topology(leaf_and_spine({0}));
  EXPECT_EQ(topology.ports[0].peer, no_peer);
  EXPECT_EQ(topology.ports[2].peer, 3u);
  EXPECT_EQ(topology.ports[3].peer, 2u);
}

TEST(PlanTopology, AnUnknownFarEndHasNoPeer) {
  auto config = leaf_and_spine({0});
  config.switches[0].devices[2] = control::InternalLink{"spine", "nowhere"};
  EXPECT_EQ(plan_topology(config).ports[2].peer, no_peer);
}

using Cores = std::vector<unsigned>;

TEST(DealQueues, DealsDevicesToCoresAndKeepsLinksOnOne) {
  auto topology = plan_topology(leaf_and_spine({0, 1}));
  deal_queues(topology, 2, std::vector<QueueCount>(4));
  EXPECT_EQ(topology.ports[0].cores, Cores{0});
  EXPECT_EQ(topology.ports[1].cores, Cores{1});
  EXPECT_EQ(topology.ports[2].cores, topology.ports[3].cores);
}

TEST(DealQueues, AsManyAsCoresAreOneOnEachInOrder) {
  auto topology = plan_topology(leaf_and_spine({0, 1, 2}));
  deal_queues(topology, 3, {{1, 1}, {3, 2}, {}, {}});
  EXPECT_EQ(topology.ports[0].cores, Cores{0});
  EXPECT_EQ(topology.ports[1].cores, (Cores{0, 1, 2}));
  EXPECT_EQ(topology.ports[1].senders, 2u);
}

TEST(DealQueues, FewerOrMoreThanCoresAreDealt) {
  auto topology = plan_topology(leaf_and_spine({0, 1, 2}));
  deal_queues(topology, 3, {{2, 2}, {4, 4}, {}, {}});
  EXPECT_EQ(topology.ports[0].cores, (Cores{0, 1}));
  EXPECT_EQ(topology.ports[1].cores, (Cores{2, 0, 1, 2}));
}

TEST(SenderOf, IsTheCoreItselfWhereItHasAQueueThatSends) {
  PortPlace place;
  place.cores = {2, 0, 1};
  place.senders = 2;
  EXPECT_EQ(sender_of(place, false, 2), 2u);
  EXPECT_EQ(sender_of(place, false, 0), 0u);
  EXPECT_EQ(sender_of(place, false, 1), 0u) << "its queue only receives";
  EXPECT_EQ(sender_of(place, false, 4), 2u);
  for (unsigned core = 0; core < 5; ++core) {
    EXPECT_EQ(sender_of(place, true, core), 2u) << "a shaper has one owner";
  }
}

TEST(HasOneOwner, IsAboutRatesAndBadCables) {
  forwarding::PortConfig port;
  port.impair_in.loss = 0.1;
  EXPECT_FALSE(has_one_owner(port));
  port.impair_out.jitter = std::chrono::microseconds(1);
  EXPECT_TRUE(has_one_owner(port));
  port.impair_out = {};
  port.queue.rate_bps = 1;
  EXPECT_TRUE(has_one_owner(port));
  port.queue.rate_bps = 0;
  port.queue.classes.resize(2);
  EXPECT_FALSE(has_one_owner(port));
  port.queue.classes[1].rate_bps = 1;
  EXPECT_TRUE(has_one_owner(port)) << "a class, too, sends no more by the port";
}

TEST(DerivedMac, IsLocalUnicastAndUnique) {
  const auto mac = derived_mac(0x1234, 5);
  EXPECT_FALSE(mac.is_group());
  EXPECT_EQ(mac.octets[0] & 2, 2);
  EXPECT_NE(mac, derived_mac(0x1234, 6));
  EXPECT_NE(mac, derived_mac(0x1235, 5));
}

}  // namespace
}  // namespace tributary::dataplane
