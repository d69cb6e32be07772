// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/home_ports.h"

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t host = 0;  // has a queue on each core
constexpr std::uint32_t up = 1;    // a link, whose ends are on core 0
constexpr std::uint32_t down = 2;

control::SwitchSection section(const std::string& name, const std::vector<std::string>& ports,
                               std::vector<control::DeviceConfig> devices) {
  control::SwitchSection made;
  made.config.name = name;
  for (const auto& port : ports) {
    made.config.ports.emplace_back().name = port;
  }
  made.devices = std::move(devices);
  return made;
}

// A leaf and a spine on two cores. The device itself is left out.
class HomePortsTest : public ::testing::Test {
 protected:
  HomePortsTest() {
    config.switches = {
        section("leaf", {"host", "up"},
                {control::PciDevice{"0000:01:00.0"}, control::InternalLink{"spine", "down"}}),
        section("spine", {"down"}, {control::InternalLink{"leaf", "up"}})};
    topology = plan_topology(config);
    deal_queues(topology, 2, {{2, 2}, {}, {}});
    for (const auto& each : config.switches) {
      gauges.emplace_back(each.config.ports.size());
      buffers.emplace_back(each.config.ports.size());
    }
  }

  HomePorts of_core(unsigned core) {
    CoreSetup setup;
    setup.core = core;
    setup.cores = 2;
    setup.topology = &topology;
    setup.gauges = &gauges;
    setup.buffers = &buffers;
    return {setup, pool, config, devices};
  }
  forwarding::PortConfig& port(std::uint32_t number) {
    const auto& place = topology.ports[number];
    return config.switches[place.switch_index].config.ports[place.port];
  }
  PacketPtr frame() {
    auto packet = pool.allocate();
    packet->length = 1000;
    return packet;
  }

  HeapPacketPool pool{64, 2048};
  control::DaemonConfig config;
  Topology topology;
  Gauges gauges;
  Buffers buffers;
  Devices devices = Devices(3);
  Time now = Time{} + 1s;
};

TEST_F(HomePortsTest, EachCoreHasItsQueuesAndTheLinksThatAreDealtToIt) {
  auto first = of_core(0);
  auto second = of_core(1);
  ASSERT_NE(first.find(host), nullptr);
  EXPECT_TRUE(first.find(host)->first());
  EXPECT_NE(first.find(up), nullptr);
  EXPECT_NE(first.find(down), nullptr);
  ASSERT_NE(second.find(host), nullptr);
  EXPECT_FALSE(second.find(host)->first());
  EXPECT_EQ(second.find(up), nullptr);
  EXPECT_EQ(second.find(down), nullptr);
}

TEST_F(HomePortsTest, TheFirstQueueAloneWritesTheGauge) {
  auto first = of_core(0);
  auto second = of_core(1);
  second.find(host)->depart(PacketList(frame()), now);
  EXPECT_EQ(gauges[0][0].bytes(), 0u);
  first.find(host)->depart(PacketList(frame()), now);
  EXPECT_EQ(gauges[0][0].bytes(), 1000u);
}

TEST_F(HomePortsTest, AShapedPortIsSentForByOneCore) {
  auto ports = of_core(1);
  EXPECT_EQ(ports.sender(host), 1u);
  EXPECT_EQ(ports.sender(up), 0u);
  port(host).queue.rate_bps = 1000;
  ports.reconfigure(config);
  EXPECT_EQ(ports.sender(host), 0u);
  for (int i = 0; i < 30; ++i) {
    ports.find(host)->depart(PacketList(frame()), now);
  }
  PacketList sent;
  ports.find(host)->send(now, sent);
  EXPECT_EQ(sent.size(), 30u) << "what came before all cores knew is not shaped twice";
}

TEST_F(HomePortsTest, WhatIsSentMakesThePortDueAtOnce) {
  auto ports = of_core(0);
  EXPECT_TRUE(ports.idle());
  EXPECT_EQ(ports.deadline(), never);
  auto& end = *ports.find(up);
  end.depart(PacketList(frame()), now);
  EXPECT_TRUE(end.due(now));
  EXPECT_FALSE(ports.idle());
  PacketList crossing;
  EXPECT_TRUE(end.send(now, crossing));
  EXPECT_EQ(crossing.size(), 1u);
  EXPECT_TRUE(ports.idle());
  EXPECT_FALSE(end.due(now));
  PacketList nothing;
  EXPECT_FALSE(end.send(now, nothing));
}

TEST_F(HomePortsTest, WhatIsShapedWaitsForItsDeadline) {
  port(up).queue.rate_bps = 8'000'000;  // one frame in a millisecond
  auto ports = of_core(0);
  auto& end = *ports.find(up);
  PacketList crossing;
  for (int i = 0; i < 30; ++i) {
    end.depart(PacketList(frame()), now);
  }
  end.send(now, crossing);
  EXPECT_LT(crossing.size(), 30u);
  EXPECT_FALSE(end.due(now));
  EXPECT_GT(ports.deadline(), now);
  EXPECT_LE(ports.deadline(), now + 2ms);
}

TEST_F(HomePortsTest, AFrameThatCrossedALinkArrivesAtTheSwitchOfTheFarEnd) {
  auto ports = of_core(0);
  auto packet = frame();
  packet->egress = 1;
  packet->vlan = 10;
  packet->marking = 67;
  PacketList ready;
  ports.find(down)->arrive(std::move(packet), now, ready);
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready.front()->ingress, 0);
  EXPECT_EQ(ready.front()->egress, no_port);
  EXPECT_EQ(ready.front()->vlan, 0);
  EXPECT_EQ(ready.front()->marking, 0);
}

TEST_F(HomePortsTest, ADelayedArrivalMakesThePortDueWhenItsTimeHasCome) {
  port(down).impair_in.delay = 5ms;
  auto ports = of_core(0);
  auto& end = *ports.find(down);
  PacketList ready;
  end.arrive(frame(), now, ready);
  EXPECT_TRUE(ready.empty());
  EXPECT_EQ(ports.deadline(), now + 5ms);
  end.poll_arrivals(now + 5ms, ready);
  EXPECT_EQ(ready.size(), 1u);
}

TEST_F(HomePortsTest, APortWithoutALinkSendsNothing) {
  auto ports = of_core(0);
  ports.set_up(up, false);
  ports.find(up)->depart(PacketList(frame()), now);
  PacketList crossing;
  EXPECT_FALSE(ports.find(up)->send(now, crossing));
  EXPECT_EQ(ports.find(up)->port().counters().link_down_dropped, 1u);
  EXPECT_EQ(pool.outstanding(), 0u);
}

}  // namespace
}  // namespace tributary::dataplane
