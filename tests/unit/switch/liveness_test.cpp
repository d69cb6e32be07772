// SPDX-License-Identifier: BSD-3-Clause
#include "switch/liveness.h"

#include "switch/owners.h"
#include "unit/switch/two_ways.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using wire::BfdState;

class LivenessTest : public TwoWaysTest {};

TEST_F(LivenessTest, ComesUpWithANeighbourThatSpeaksIt) {
  neighbour.run(2s);
  EXPECT_EQ(row().state, BfdState::up);
  EXPECT_EQ(neighbour.session.state(), BfdState::up);
  EXPECT_EQ(row().neighbour, there);
  EXPECT_EQ(row().detection_time, 300ms);
  EXPECT_EQ(bench.device().bfd().size(), 2u);
}

TEST_F(LivenessTest, PacketsAreThoseOfASingleHop) {
  neighbour.run(2s);
  auto& packet = *neighbour.last;
  EXPECT_EQ(ip_of(packet).ttl, 255);
  EXPECT_EQ(ip_of(packet).source, here);
  EXPECT_EQ(ip_of(packet).destination, there);
  EXPECT_EQ(ip_of(packet).tos, 0xc0);
  EXPECT_EQ(ethernet_of(packet).destination, their_mac);
  EXPECT_GE(l4_header<wire::UdpHeader>(packet).source_port.value(), 49152);
  EXPECT_EQ(wire::transport_checksum(ip_of(packet), l4_of(packet)), 0);
  EXPECT_EQ(wire::internet_checksum(packet.bytes().subspan(14, 20)), 0);
}

TEST_F(LivenessTest, ASilentNextHopLeavesItsGroupAndReturns) {
  neighbour.run(2s);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
  neighbour.run(301ms, false);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{2}));
  EXPECT_FALSE(row().alive);
  EXPECT_EQ(row().failures, 1u);
  neighbour.run(3s);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
}

TEST_F(LivenessTest, WhatCannotLeaveIsNotCountedAsSent) {
  neighbour.run(2s);
  const auto before = row().sent;
  EXPECT_GT(before, 0u);
  bench.device().set_port_up(1, false);
  neighbour.run(2s, false);
  EXPECT_EQ(row().sent, before);
}

TEST_F(LivenessTest, RoutesShowWhoIsDead) {
  neighbour.run(2s);
  neighbour.run(301ms, false);
  for (const auto& route : bench.device().routes()) {
    for (const auto& hop : route.next_hops) {
      EXPECT_EQ(hop.up, hop.via != there);
    }
  }
}

TEST_F(LivenessTest, WhoIsCutOffIsTakenLast) {
  neighbour.session.set_cut_off(true);
  neighbour.run(2s);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{2}));
  bench.device().set_port_up(2, false);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1}));
  bench.device().set_port_up(2, true);
  neighbour.session.set_cut_off(false);
  neighbour.run(200ms);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
}

TEST_F(LivenessTest, TheNeighbourHearsThatARouteHasNowhereToGo) {
  auto config = two_ways(usual);
  config.routes.push_back({{Ip(10, 60, 0, 0), 16}, {elsewhere}, {}, {}});
  bench.device().reconfigure(config);
  neighbour.run(2s);
  EXPECT_FALSE(neighbour.session.neighbour_cut_off());
  bench.device().set_port_up(2, false);
  neighbour.run(15ms);
  EXPECT_TRUE(neighbour.session.neighbour_cut_off());
  bench.device().set_port_up(2, true);
  neighbour.run(15ms);
  EXPECT_FALSE(neighbour.session.neighbour_cut_off());
}

TEST_F(LivenessTest, WhoIsCrowdedStaysInUseForOrdinaryPackets) {
  neighbour.session.set_crowded(true);
  neighbour.run(2s);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
}

TEST_F(LivenessTest, WhoNeverSpokeStaysInUse) {
  for (int i = 0; i < 100; ++i) {
    bench.advance(100ms);
  }
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
  EXPECT_EQ(row().state, BfdState::down);
}

// One burst contains the answer that the packets wait for, and a packet that gets a reply.
TEST_F(LivenessTest, WhatWaitedForTheNeighbourGoesBeforeWhatIsNewer) {
  auto config = two_ways(usual);
  config.arp.clear();
  SwitchBench fresh(config);
  Neighbour peer(fresh);
  EXPECT_TRUE(peer.states_in(fresh.advance(1ms)).empty());
  fresh.now += 20ms;  // news is told at once, but not twice within 2 ms
  auto answer = make_arp(fresh.pool, wire::ArpHeader::reply, {their_mac, our_mac, there, here});
  auto packet = peer.frame(*peer.session.poll(fresh.now));
  answer->ingress = packet->ingress = BfdNeighbour::port;
  PacketList burst;
  burst.push(std::move(answer));
  burst.push(std::move(packet));
  EXPECT_EQ(peer.states_in(fresh.send_burst(std::move(burst))),
            (std::vector{BfdState::down, BfdState::init}));
}

TEST_F(LivenessTest, AReloadKeepsTheDeadOut) {
  neighbour.run(2s);
  neighbour.run(301ms, false);
  bench.device().reconfigure(two_ways(usual));
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{2}));
}

TEST_F(LivenessTest, TurnedOffTheDeadReturnAndTheNeighbourIsNotAlarmed) {
  neighbour.run(2s);
  bench.device().reconfigure(two_ways(std::nullopt));
  neighbour.run(15ms);
  EXPECT_EQ(neighbour.session.remote_state(), BfdState::admin_down);
  EXPECT_TRUE(neighbour.session.alive());
  for (int i = 0; i < 40; ++i) {
    bench.advance(100ms);
  }
  EXPECT_TRUE(bench.device().bfd().empty());
  EXPECT_EQ(bench.device().deadline() - bench.now > 100ms, true) << "no timer is left";
}

TEST_F(LivenessTest, ADeadNextHopReturnsWhenNobodyWatches) {
  neighbour.run(2s);
  neighbour.run(301ms, false);
  bench.device().reconfigure(two_ways(std::nullopt));
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
}

TEST_F(LivenessTest, AShortLinkFailureDoesNotEndTheSession) {
  neighbour.run(2s);
  bench.device().set_port_up(1, false);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{2}));
  bench.advance(100ms);
  bench.device().set_port_up(1, true);
  neighbour.run(1s);
  EXPECT_EQ(row().failures, 0u);
  EXPECT_EQ(ways(bench), (std::set<PortIndex>{1, 2}));
}

TEST_F(LivenessTest, HostilePacketsAreCountedAndChangeNothing) {
  neighbour.run(2s);
  const auto header = [&](BfdState state) { return neighbour.forged(state, row().discriminator); };
  auto far = neighbour.frame(header(BfdState::down));
  Neighbour::set_ttl(*far, 254);
  bench.send(1, std::move(far));
  EXPECT_EQ(bench.drops(DropReason::bfd_ttl), 1u);

  auto short_one = header(BfdState::down);
  short_one.length = 25;
  bench.send(1, neighbour.frame(short_one));
  auto damaged = neighbour.frame(header(BfdState::down));
  damaged->data()[damaged->length - 1] ^= std::byte{1};
  bench.send(1, std::move(damaged));
  EXPECT_EQ(bench.drops(DropReason::bfd_malformed), 2u);

  auto stranger = header(BfdState::down);
  stranger.your_discriminator = row().discriminator + 1;
  bench.send(1, neighbour.frame(stranger));
  auto wrong_port = neighbour.frame(header(BfdState::down));
  ethernet_of(*wrong_port).destination = mac(2, 0xee);
  bench.send(2, std::move(wrong_port));
  auto wrong_source = neighbour.frame(header(BfdState::down));
  ip_of(*wrong_source).source = Ip(10, 9, 1, 3);
  Neighbour::set_ttl(*wrong_source, 255);
  bench.send(1, std::move(wrong_source));
  EXPECT_EQ(bench.drops(DropReason::bfd_no_session), 3u);

  EXPECT_EQ(row().state, BfdState::up);
  bench.send(1, neighbour.frame(header(BfdState::down)));
  EXPECT_EQ(row().state, BfdState::down) << "the unforged one is believed";
}

TEST_F(LivenessTest, WithoutItTheirPacketsAreServedByNobody) {
  SwitchBench plain(two_ways(std::nullopt));
  Neighbour other(plain);
  wire::BfdHeader header;
  header.my_discriminator = std::uint32_t{1};
  header.detect_multiplier = 3;
  plain.send(1, other.frame(header));
  EXPECT_EQ(plain.drops(DropReason::local_unserved), 1u);
  EXPECT_TRUE(plain.device().bfd().empty());
}

class LivenessCores : public LivenessTest {
 protected:
  void publish() {
    for (const auto& update : first.table_updates) {
      second.device().learn(*update, first.now);
    }
    first.table_updates.clear();
  }

  SwitchBench first{two_ways(usual), {0, 2}};
  SwitchBench second{two_ways(usual), {1, 2}};
  Neighbour peer{first};
};

TEST_F(LivenessCores, OneHasTheSessionsAndGetsTheirPackets) {
  EXPECT_EQ(first.device().bfd().size(), 2u);
  EXPECT_TRUE(second.device().bfd().empty());
  auto packet = peer.frame({});
  EXPECT_EQ(switching::Owners(two_ways(usual), 2).core_of(*packet, 1), 0u);
  EXPECT_EQ(switching::Owners(two_ways(std::nullopt), 2).core_of(*packet, 1), 1u);
}

TEST_F(LivenessCores, TheOthersAreTold) {
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

TEST_F(LivenessCores, TheOthersHearWhatIsWrongAndWhenItIsOver) {
  peer.session.set_cut_off(true);
  peer.run(2s);
  publish();
  EXPECT_EQ(ways(second), (std::set<PortIndex>{2}));
  peer.session.set_crowded(true);
  peer.session.set_cut_off(false);
  peer.run(200ms);
  publish();
  EXPECT_EQ(ways(second), (std::set<PortIndex>{1, 2}));
}

TEST_F(LivenessCores, ALostUpdateIsRepeated) {
  peer.run(2s);
  peer.run(301ms, false);
  first.table_updates.clear();
  peer.run(1100ms, false);
  publish();
  EXPECT_EQ(ways(second), (std::set<PortIndex>{2}));
}

}  // namespace
}  // namespace tributary::test
