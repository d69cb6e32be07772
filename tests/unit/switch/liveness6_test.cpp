// SPDX-License-Identifier: BSD-3-Clause
// Tests the IPv6 part of switch/liveness.h, and sessions of both versions at the same time.
#include <cstring>
#include <optional>
#include <set>

#include "support/frames6.h"
#include "switch/liveness.h"
#include "switch/owners.h"
#include "unit/switch/bfd_neighbour.h"
#include "unit/switch/vlan_ports.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using wire::BfdState;

const Ip6 here6 = ip6(0xf1, 1);
const Ip6 there6 = ip6(0xf1, 2);
const Ip6 elsewhere6 = ip6(0xf2, 2);
const auto our_mac6 = mac(1, 0xee);
const auto their_mac6 = mac(1, 0xdd);
const forwarding::BfdConfig usual6{100ms, 3};

forwarding::PortConfig port_at(std::string name, std::uint8_t number, const Ip6& address) {
  auto port = bridged_port(std::move(name), number);
  port.address6 = forwarding::InterfaceAddress6{address, 64};
  return port;
}

// Hosts behind port 0, and a default route over two next hops on ports 1 and 2. The next hop on
// port 1 is that of an IPv4 route, too.
switching::SwitchConfig two_ways6(std::optional<forwarding::BfdConfig> bfd) {
  switching::SwitchConfig config;
  config.id = 1;
  config.ports = {port_at("h", 0, ip6(1, 1)), port_at("a", 1, here6),
                  port_at("b", 2, ip6(0xf2, 1))};
  config.ports[1].address = forwarding::InterfaceAddress{Ip(10, 9, 1, 1), 30};
  config.arp = {{Ip(10, 9, 1, 2), their_mac6}};
  config.routes = {{{Ip(), 0}, {Ip(10, 9, 1, 2)}, {}, {}}};
  config.routes6 = {{{Ip6(), 0}, {there6, elsewhere6}}};
  config.neighbours6 = {{there6, their_mac6}, {elsewhere6, mac(2, 0xdd)}};
  config.bfd = bfd;
  return config;
}

// The neighbour at `there6`.
class Neighbour6 : public BfdNeighbour {
 public:
  explicit Neighbour6(SwitchBench& bench) : BfdNeighbour(bench, usual6) {}

  PacketPtr frame(const wire::BfdHeader& header) override {
    return frame(header, {their_mac6, our_mac6, there6, here6});
  }
  PacketPtr frame(const wire::BfdHeader& header, const Endpoints6& ends) {
    auto packet = make_udp6(bench_.pool, ends, 50000, wire::bfd_port, sizeof header);
    ip6_of(*packet).hop_limit = 255;
    std::memcpy(payload6_of(*packet).data() + sizeof(wire::UdpHeader), &header, sizeof header);
    sum_up(*packet);
    return packet;
  }
  static void sum_up(Packet& packet) {
    auto& udp = l4_header6<wire::UdpHeader>(packet);
    udp.checksum = std::uint16_t{0};
    udp.checksum = wire::transport_checksum(ip6_of(packet), payload6_of(packet));
  }

 private:
  const wire::BfdHeader* heard(Packet& packet) const override {
    const bool is_bfd =
        ethernet_of(packet).type.value() == wire::ethertype::ipv6 &&
        ip6_of(packet).next_header == wire::ip_protocol::udp &&
        l4_header6<wire::UdpHeader>(packet).destination_port.value() == wire::bfd_port;
    return is_bfd ? wire::parse_bfd(payload6_of(packet).subspan(sizeof(wire::UdpHeader))) : nullptr;
  }
};

class Liveness6Test : public testing::Test {
 protected:
  forwarding::BfdRow row(const wire::IpAddress& address = there6) {
    for (const auto& each : bench.device().bfd()) {
      if (each.neighbour == address) {
        return each;
      }
    }
    ADD_FAILURE() << "nobody watches it";
    return {};
  }
  std::set<PortIndex> ways(SwitchBench& from) {
    std::set<PortIndex> ports;
    for (std::uint16_t flow = 0; flow < 40; ++flow) {
      const Endpoints6 ends{mac(1), mac(0, 0xee), ip6(1, 9), ip6(0x50, 1)};
      for (const auto& packet : from.send(0, make_udp6(from.pool, ends, flow, 6))) {
        if (packet->egress != 0) {
          ports.insert(packet->egress);
        }
      }
    }
    return ports;
  }

  SwitchBench bench{two_ways6(usual6)};
  Neighbour6 neighbour{bench};
};

TEST_F(Liveness6Test, ComesUpBesideSessionsOfIpv4) {
  neighbour.run(2s);
  EXPECT_EQ(row().state, BfdState::up);
  EXPECT_EQ(row().remote_state, BfdState::up);
  EXPECT_EQ(neighbour.session.state(), BfdState::up);
  EXPECT_EQ(row().interface, 1);
  EXPECT_EQ(row().detection_time, 300ms);
  EXPECT_GT(row().received, 10u);
  EXPECT_EQ(bench.device().bfd().size(), 3u);
  EXPECT_EQ(row(Ip(10, 9, 1, 2)).state, BfdState::down) << "that one is silent over IPv4";
  EXPECT_NE(row(Ip(10, 9, 1, 2)).discriminator, row().discriminator);
}

TEST_F(Liveness6Test, TheNeighbourHearsThatAQueueFillsUp) {
  neighbour.run(2s);
  const auto capacity = bench.gauges[0].capacity();
  bench.gauges[0].publish_rate(100'000'000);
  bench.gauges[0].publish_bytes(capacity / 2 + 1);
  neighbour.run(20ms);
  EXPECT_TRUE(neighbour.session.neighbour_crowded());
  bench.gauges[0].publish_bytes(0);
  bench.gauges[1].publish_bytes(capacity);
  neighbour.run(200ms);
  EXPECT_FALSE(neighbour.session.neighbour_crowded()) << "there is another way over IPv6";
}

TEST_F(Liveness6Test, PacketsAreThoseOfASingleHop) {
  neighbour.run(2s);
  auto& packet = *neighbour.last;
  EXPECT_EQ(ip6_of(packet).hop_limit, 255);
  EXPECT_EQ(ip6_of(packet).source, here6.octets());
  EXPECT_EQ(ip6_of(packet).destination, there6.octets());
  EXPECT_EQ(ip6_of(packet).version_class_flow, (std::array<std::uint8_t, 4>{0x6c, 0, 0, 0}));
  EXPECT_EQ(ethernet_of(packet).destination, their_mac6);
  EXPECT_EQ(ethernet_of(packet).source, our_mac6);
  EXPECT_GE(l4_header6<wire::UdpHeader>(packet).source_port.value(), 49152);
  EXPECT_NE(l4_header6<wire::UdpHeader>(packet).checksum.value(), 0);
  EXPECT_EQ(wire::transport_checksum(ip6_of(packet), payload6_of(packet)), 0);
}

TEST_F(Liveness6Test, ASilentNextHopLeavesItsGroupAndReturns) {
  neighbour.run(2s);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
  neighbour.run(301ms, false);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{2}));
  EXPECT_FALSE(row().alive);
  EXPECT_EQ(row().failures, 1u);
  for (const auto& route : bench.device().routes6()) {
    for (const auto& hop : route.next_hops) {
      EXPECT_EQ(hop.up, hop.via != there6);
    }
  }
  for (const auto& route : bench.device().routes()) {
    EXPECT_TRUE(route.next_hops.at(0).up) << "its IPv4 did not fail";
  }
  neighbour.run(3s);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
}

TEST_F(Liveness6Test, WhoNeverSpokeStaysInUse) {
  for (int i = 0; i < 100; ++i) {
    bench.advance(100ms);
  }
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
  EXPECT_EQ(row().state, BfdState::down);
  EXPECT_GT(row().sent, 5u);
}

TEST_F(Liveness6Test, WhoStopsWatchingIsNotTakenForDead) {
  neighbour.run(2s);
  neighbour.session.disable();
  neighbour.run(20ms);
  neighbour.run(4s, false);
  EXPECT_EQ(row().remote_state, BfdState::down) << "it has been silent since";
  EXPECT_TRUE(row().alive);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
}

TEST_F(Liveness6Test, WhoIsCutOffIsTakenLast) {
  neighbour.session.set_cut_off(true);
  neighbour.run(2s);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{2}));
  bench.device().set_port_up(2, false);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1}));
}

TEST_F(Liveness6Test, TheNeighbourHearsOfRoutesOfItsVersionOnly) {
  auto config = two_ways6(usual6);
  config.ports[2].address = forwarding::InterfaceAddress{Ip(10, 9, 2, 1), 30};
  config.routes.push_back({{Ip(10, 60, 0, 0), 16}, {Ip(10, 9, 2, 2)}, {}, {}});
  SwitchBench only4(config);
  Neighbour6 peer(only4);
  peer.run(2s);
  only4.device().set_port_up(2, false);
  peer.run(15ms);
  EXPECT_FALSE(peer.session.neighbour_cut_off());
  config.routes6.push_back({{ip6(0x60, 0), 64}, {elsewhere6}});
  only4.device().reconfigure(config);
  peer.run(15ms);
  EXPECT_TRUE(peer.session.neighbour_cut_off());
  only4.device().set_port_up(2, true);
  peer.run(15ms);
  EXPECT_FALSE(peer.session.neighbour_cut_off());
}

// One burst contains the answer that the packets wait for, and a packet that gets a reply.
TEST_F(Liveness6Test, WhatWaitedForTheNeighbourGoesBeforeWhatIsNewer) {
  auto config = two_ways6(usual6);
  config.neighbours6.clear();
  SwitchBench fresh(config);
  Neighbour6 peer(fresh);
  EXPECT_TRUE(peer.states_in(fresh.advance(1ms)).empty());
  fresh.now += 20ms;  // news is told at once, but not twice within 10 ms
  auto answer = make_advertisement(fresh.pool, {their_mac6, our_mac6, there6, here6});
  auto packet = peer.frame(*peer.session.poll(fresh.now));
  answer->ingress = packet->ingress = BfdNeighbour::port;
  PacketList burst;
  burst.push(std::move(answer));
  burst.push(std::move(packet));
  EXPECT_EQ(peer.states_in(fresh.send_burst(std::move(burst))),
            (std::vector{BfdState::down, BfdState::init}));
}

TEST_F(Liveness6Test, AReloadKeepsTheDeadOutAndSessionsOn) {
  neighbour.run(2s);
  const auto before = row();
  auto config = two_ways6(forwarding::BfdConfig{50ms, 3});
  config.routes6.push_back({{ip6(0x60, 0), 64}, {there6}});
  bench.device().reconfigure(config);
  EXPECT_EQ(row().discriminator, before.discriminator);
  EXPECT_EQ(row().state, BfdState::up);
  neighbour.run(1s);
  EXPECT_EQ(row().failures, 0u);
  neighbour.run(400ms, false);
  bench.device().reconfigure(two_ways6(usual6));
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{2}));
}

TEST_F(Liveness6Test, ANextHopThatIsTakenOutIsToldAndForgotten) {
  neighbour.run(2s);
  auto config = two_ways6(usual6);
  config.routes6 = {{{Ip6(), 0}, {elsewhere6}}};
  bench.device().reconfigure(config);
  neighbour.run(15ms);
  EXPECT_EQ(neighbour.session.remote_state(), BfdState::admin_down);
  EXPECT_TRUE(neighbour.session.alive());
  for (int i = 0; i < 40; ++i) {
    bench.advance(100ms);
  }
  EXPECT_EQ(bench.device().bfd().size(), 2u);
}

TEST_F(Liveness6Test, WhatCannotLeaveIsNotCountedAsSent) {
  neighbour.run(2s);
  bench.device().set_port_up(1, false);
  const auto before = row().sent;
  neighbour.run(1s, false);
  EXPECT_EQ(row().sent, before);
  bench.device().set_port_up(1, true);
  neighbour.run(20ms);
  EXPECT_GT(row().sent, before) << "at once";
}

TEST_F(Liveness6Test, HostilePacketsAreCountedAndChangeNothing) {
  neighbour.run(2s);
  const auto down = [&] { return neighbour.forged(BfdState::down, row().discriminator); };
  auto far = neighbour.frame(down());
  ip6_of(*far).hop_limit = 254;
  bench.send(1, std::move(far));
  EXPECT_EQ(bench.drops(DropReason::bfd_ttl), 1u);

  auto without_sum = neighbour.frame(down());
  l4_header6<wire::UdpHeader>(*without_sum).checksum = std::uint16_t{0};
  bench.send(1, std::move(without_sum));
  auto damaged = neighbour.frame(down());
  damaged->data()[damaged->length - 1] ^= std::byte{1};
  bench.send(1, std::move(damaged));
  for (const unsigned bytes : {7u, 8u, 33u, 0xffffu}) {
    auto wrong_length = neighbour.frame(down());
    l4_header6<wire::UdpHeader>(*wrong_length).length = static_cast<std::uint16_t>(bytes);
    Neighbour6::sum_up(*wrong_length);
    bench.send(1, std::move(wrong_length));
  }
  EXPECT_EQ(bench.drops(DropReason::bfd_malformed), 6u);

  bench.send(1, neighbour.frame(neighbour.forged(BfdState::down, row().discriminator + 1)));
  auto other = [&](const Endpoints6& ends) { return neighbour.frame(down(), ends); };
  bench.send(2, other({their_mac6, mac(2, 0xee), there6, here6}));
  bench.send(1, other({their_mac6, our_mac6, ip6(0xf1, 3), here6}));
  EXPECT_EQ(bench.drops(DropReason::bfd_no_session), 3u);

  EXPECT_EQ(row().state, BfdState::up);
  bench.send(1, neighbour.frame(down()));
  EXPECT_EQ(row().state, BfdState::down) << "the unforged one is believed";
}

TEST_F(Liveness6Test, WithoutItTheirPacketsAreServedByNobody) {
  SwitchBench plain(two_ways6(std::nullopt));
  Neighbour6 other(plain);
  auto answers = plain.send(1, other.frame(other.forged(BfdState::down, 0)));
  EXPECT_EQ(plain.drops(DropReason::local_unserved), 1u);
  EXPECT_EQ(answers.size(), 1u) << "told so";
  EXPECT_TRUE(plain.device().bfd().empty());
}

TEST_F(Liveness6Test, WhatComesBehindExtensionHeadersIsNotServed) {
  neighbour.run(2s);
  auto plain = neighbour.frame(neighbour.forged(BfdState::down, row().discriminator));
  auto packet = extended(bench.pool, *plain, wire::ipv6_next::destination_options);
  ip6_of(*packet).hop_limit = 255;
  bench.send(1, std::move(packet));
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u);
  EXPECT_EQ(row().state, BfdState::up);
}

TEST_F(Liveness6Test, ADeadNextHopReturnsWhenNobodyWatches) {
  neighbour.run(2s);
  neighbour.run(301ms, false);
  bench.device().reconfigure(two_ways6(std::nullopt));
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
}

TEST(Liveness6Vlan, NextHopsInAVlanAreWatchedByTheCoreThatHasTheSessions) {
  auto config = four_ports();
  config.vlans = {{20, std::nullopt, forwarding::InterfaceAddress6{here6, 64}}};
  config.routes6 = {{{Ip6(), 0}, {there6}}};
  config.neighbours6 = {{there6, their_mac6}};
  config.bfd = usual6;
  SwitchBench bench(config);
  EXPECT_EQ(sent(bench.advance(2s)),
            (Exits{{access_20, no_tag}, {trunk, priority(6) | 20}, {native, priority(6) | 20}}));
  ASSERT_EQ(bench.device().bfd().size(), 1u);
  EXPECT_EQ(bench.device().bfd()[0].interface, forwarding::vlan_interface(20));
  auto packet =
      tagged(make_udp6(bench.pool, {their_mac6, mac(9), there6, here6}, 50000, wire::bfd_port), 20);
  packet->ingress = trunk;
  EXPECT_EQ(switching::Owners(config, 2).core_of(*packet, 1), switching::Liveness::core);
}

class Liveness6Cores : public Liveness6Test {
 protected:
  void publish() {
    for (const auto& update : first.table_updates) {
      second.device().learn(*update, first.now);
    }
    first.table_updates.clear();
  }

  SwitchBench first{two_ways6(usual6), {0, 2}};
  SwitchBench second{two_ways6(usual6), {1, 2}};
  Neighbour6 peer{first};
};

TEST_F(Liveness6Cores, OneHasTheSessionsAndGetsTheirPackets) {
  EXPECT_EQ(first.device().bfd().size(), 3u);
  EXPECT_TRUE(second.device().bfd().empty());
  auto packet = peer.frame({});
  EXPECT_EQ(switching::Owners(two_ways6(usual6), 2).core_of(*packet, 1), 0u);
  EXPECT_EQ(switching::Owners(two_ways6(std::nullopt), 2).core_of(*packet, 1), 1u);
  auto ordinary = make_udp6(first.pool, {their_mac6, our_mac6, there6, here6}, 50000, 3785);
  EXPECT_EQ(switching::Owners(two_ways6(usual6), 2).core_of(*ordinary, 1), 1u);
}

TEST_F(Liveness6Cores, TheOthersAreTold) {
  peer.run(2s);
  peer.run(301ms, false);
  EXPECT_EQ(ways(first), (std::set<PortIndex>{2}));
  EXPECT_EQ(ways(second), (std::set<PortIndex>{1, 2}));
  publish();
  EXPECT_EQ(ways(second), (std::set<PortIndex>{2}));
  peer.run(2s);
  publish();
  EXPECT_EQ(ways(second), (std::set<PortIndex>{1, 2}));
}

}  // namespace
}  // namespace tributary::test
