// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "engine/spreading.h"
#include "protocols/canary/engine/config.h"
#include "protocols/flare/engine/config.h"
#include "support/canary_packets.h"
#include "support/flare_packets.h"
#include "support/same_frame.h"
#include "support/switch_bench.h"
#include "switch/owners.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

switching::SwitchConfig bridge_of_cores() {
  switching::SwitchConfig config;
  config.id = 1;
  config.ports = {bridged_port("a", 0), bridged_port("b", 1), bridged_port("c", 2)};
  return config;
}

switching::SwitchConfig router_of_cores() {
  switching::SwitchConfig config;
  config.id = 1;
  config.address = Ip(10, 0, 255, 1);
  config.protocols.emplace<canary::CanaryConfig>({});
  for (std::uint8_t i = 0; i < 3; ++i) {
    config.ports.push_back(
        routed_port(std::string(1, static_cast<char>('a' + i)), i, Ip(10, 0, i, 1)));
  }
  return config;
}

TEST(OwnerCore, FollowsTheKeyAndSpreadsBlocks) {
  HeapPacketPool pool(4, 512);
  const auto config = router_of_cores();
  std::array<unsigned, 3> hits{};
  for (std::uint32_t id = 0; id < 600; ++id) {
    CanarySpec spec;
    spec.id = id;
    auto one = make_canary(pool, spec, std::vector<std::int32_t>{1});
    const auto owner = switching::Owners(config, 3).core_of(*one, 0);
    spec.source_mac = mac(55);
    spec.encapsulation = wire::Encapsulation::ethernet;
    auto other = make_canary(pool, spec, std::vector<std::int32_t>{2});
    EXPECT_EQ(switching::Owners(config, 3).core_of(*other, 2), owner);
    ++hits.at(owner);
  }
  for (const auto count : hits) {
    EXPECT_NEAR(count, 200, 60);
  }
}

TEST(OwnerCore, EverythingElseStays) {
  HeapPacketPool pool(4, 512);
  auto config = router_of_cores();
  auto udp = make_udp(pool, {mac(1), mac(2), Ip(1, 1, 1, 1), Ip(2, 2, 2, 2)}, 5, 6);
  EXPECT_EQ(switching::Owners(config, 2).core_of(*udp, 1), 1u);
  auto canary = make_canary(pool, {}, std::vector<std::int32_t>{1});
  EXPECT_EQ(switching::Owners(config, 1).core_of(*canary, 0), 0u);
  config.protocols.reset<canary::CanaryConfig>();
  for (unsigned here = 0; here < 4; ++here) {
    EXPECT_EQ(switching::Owners(config, 4).core_of(*canary, here), here);
  }
  udp->length = 3;
  EXPECT_EQ(switching::Owners(router_of_cores(), 2).core_of(*udp, 1), 1u);
}

TEST(OwnerCore, NotesWhatIsInTheFrame) {
  HeapPacketPool pool(16, 512);
  const Endpoints ends{mac(1), mac(2), Ip(1, 1, 1, 1), Ip(2, 2, 2, 2)};
  std::vector<PacketPtr> packets;
  packets.push_back(make_canary(pool, {}, std::vector<std::int32_t>{1}));
  packets.push_back(make_echo(pool, ends));
  packets.push_back(make_arp(pool, wire::ArpHeader::request, ends));
  for (int i = 0; i < 5; ++i) {
    packets.push_back(make_udp(pool, ends, 5, 6));
  }
  packets[4]->length += 7;  // behind the IP packet
  l4_header<wire::UdpHeader>(*packets[5]).length = std::uint16_t{7};
  ip_of(*packets[6]).total_length = std::uint16_t{400};
  ip_of(*packets[7]).version_ihl = 0x46;
  const switching::Owners owners(router_of_cores(), 2);
  for (const auto& packet : packets) {
    const auto frame = engine::parse_frame(*packet);
    owners.core_of(*packet, 0);
    EXPECT_NE(packet->noted, 0);
    EXPECT_TRUE(is_same(engine::noted_frame(*packet), frame));
    EXPECT_EQ(engine::noted_claim(*packet) != 0, packet == packets[0]);
  }
}

TEST(OwnerCore, NotesNothingOfWhatIsNoFrame) {
  HeapPacketPool pool(1, 512);
  auto packet = make_arp(pool, wire::ArpHeader::request, {});
  packet->length = sizeof(wire::EthernetHeader) - 1;
  EXPECT_EQ(switching::Owners(router_of_cores(), 2).core_of(*packet, 1), 1u);
  EXPECT_EQ(packet->noted, 0);
}

TEST(TableUpdates, TeachTheOtherCoreWhereHostsAre) {
  SwitchBench first(bridge_of_cores(), {0, 2});
  SwitchBench second(bridge_of_cores(), {1, 2});
  const Endpoints hello{mac(1), mac(9), Ip(10, 0, 0, 1), Ip(10, 0, 0, 9)};
  first.send(2, make_udp(first.pool, hello, 5, 6));
  ASSERT_EQ(first.table_updates.size(), 1u);
  second.device().learn(*first.table_updates[0], second.now);
  const Endpoints back{mac(9), mac(1), Ip(10, 0, 0, 9), Ip(10, 0, 0, 1)};
  const auto out = second.send(0, make_udp(second.pool, back, 5, 6));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 2);

  first.send(2, make_udp(first.pool, hello, 5, 6));
  EXPECT_EQ(first.table_updates.size(), 1u) << "nothing new";
  first.now += 75s;
  first.send(2, make_udp(first.pool, hello, 5, 6));
  EXPECT_EQ(first.table_updates.size(), 2u) << "a quarter of the ageing time later";
}

TEST(TableUpdates, AreNotLearnedOfAPortThatIsDown) {
  SwitchBench first(router_of_cores(), {0, 2});
  SwitchBench second(router_of_cores(), {1, 2});
  const Endpoints reply{mac(2), mac(1, 0xee), Ip(10, 0, 1, 9), Ip(10, 0, 1, 1)};
  first.send(1, make_arp(first.pool, wire::ArpHeader::reply, reply));
  ASSERT_EQ(first.table_updates.size(), 1u);
  second.device().set_port_up(1, false);
  second.device().learn(*first.table_updates[0], second.now);
  second.device().set_port_up(1, true);
  EXPECT_TRUE(second.device().arp(second.now).empty()) << "another may be there now";
  second.device().learn(*first.table_updates[0], second.now);
  EXPECT_EQ(second.device().arp(second.now).size(), 1u);
}

TEST(TableUpdates, NoneWithOneCore) {
  SwitchBench bench(bridge_of_cores());
  bench.send(2, make_udp(bench.pool, {mac(1), mac(9), Ip(10, 0, 0, 1), Ip(10, 0, 0, 9)}, 5, 6));
  EXPECT_TRUE(bench.table_updates.empty());
}

TEST(TableUpdates, ReplySeenByOneCoreReleasesWhatWaitsOnAnother) {
  SwitchBench first(router_of_cores(), {0, 2});
  SwitchBench second(router_of_cores(), {1, 2});
  const Endpoints through{mac(1), mac(0, 0xee), Ip(10, 0, 0, 9), Ip(10, 0, 1, 9)};
  EXPECT_EQ(second.send(0, make_udp(second.pool, through, 5, 6)).size(), 1u);
  const Endpoints reply{mac(2), mac(1, 0xee), Ip(10, 0, 1, 9), Ip(10, 0, 1, 1)};
  // The first core knows the neighbour already; the answer to the second core's question still
  // reaches it.
  for (int i = 0; i < 2; ++i) {
    first.table_updates.clear();
    first.send(1, make_arp(first.pool, wire::ArpHeader::reply, reply));
    ASSERT_EQ(first.table_updates.size(), 1u);
  }
  second.device().learn(*first.table_updates[0], second.now);
  EXPECT_LE(second.device().deadline(), second.now);
  const auto out = second.advance(0s);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 1);
  EXPECT_EQ(ethernet_of(*out[0]).destination, mac(2));
}

// Makes one of two contributions to a block whose leader is a host behind the last port.
PacketPtr contribution(PacketPool& pool) {
  CanarySpec spec;
  spec.hosts = 3;
  spec.destination = Ip(10, 0, 2, 9);
  spec.child_address = Ip(10, 0, 0, 9);
  spec.source_mac = mac(0);
  spec.destination_mac = mac(0, 0xee);
  return make_canary(pool, spec, std::vector<std::int32_t>{1});
}

// Returns the packets that the second core sends for a contribution for which the first one noted
// the claiming protocol.
std::vector<PacketPtr> sent_by(SwitchBench& second, std::uint8_t claim) {
  auto packet = contribution(second.pool);
  engine::note(*packet, engine::parse_frame(*packet), claim);
  return second.send(0, std::move(packet));
}

TEST(Cores, BelieveWhatTheReceivingCoreNoted) {
  auto config = router_of_cores();
  config.arp = {{Ip(10, 0, 2, 9), mac(2)}};
  SwitchBench second(config, {1, 2});
  EXPECT_TRUE(sent_by(second, 1).empty());
  EXPECT_EQ(second.ledger().absorbed, 1u);
  const auto out = sent_by(second, 0);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 2);
  EXPECT_EQ(out[0]->noted, 0) << "of what arrived alone";
}

TEST(Cores, ForwardWhatIsForAnEngineThatTheyDoNotHave) {
  auto config = router_of_cores();
  config.arp = {{Ip(10, 0, 2, 9), mac(2)}};
  config.protocols.reset<canary::CanaryConfig>();
  SwitchBench second(config, {1, 2});
  EXPECT_EQ(sent_by(second, 1).size(), 1u);
}

// A job of two behind the ports a and b, whose tree has its root here.
switching::SwitchConfig flare_of_cores(bool partial_sums = true) {
  auto config = router_of_cores();
  auto& flare = config.protocols.emplace<flare::FlareConfig>();
  flare.partial_sums = partial_sums;
  auto& tree = flare.trees.emplace_back();
  tree.job = 7;
  tree.group = Ip(239, 192, 0, 1);
  tree.children = {0, 1};
  tree.workers = tree.workers_below = 2;
  return config;
}

FlareSpec contribution_of(PortIndex child, std::uint64_t block) {
  FlareSpec spec;
  spec.workers = 2;
  spec.ingress = child;
  spec.block = block;
  spec.source = Ip(10, 0, static_cast<std::uint8_t>(child), 9);
  spec.source_mac = mac(static_cast<std::uint8_t>(child));
  return spec;
}

// Returns the first block that the core owns.
std::uint64_t block_of(unsigned core) {
  std::uint64_t block = 0;
  while (engine::owner_of(wire::flare_key(7, static_cast<std::uint32_t>(block)), 2) != core) {
    ++block;
  }
  return block;
}

TEST(OwnerCore, LeavesWhatMayBePartOfASumWhereItIs) {
  HeapPacketPool pool(8, 512);
  const switching::Owners owners(flare_of_cores(), 2);
  const auto first = contribution_of(0, block_of(1));
  const auto goes_to = [&](const FlareSpec& spec) {
    return owners.core_of(*make_flare(pool, spec, std::vector<std::int32_t>{1}), 0);
  };
  EXPECT_EQ(goes_to(first), 0u);
  auto again = first;
  again.retransmission = true;
  EXPECT_EQ(goes_to(again), 1u);
  auto answer = first;
  answer.answer = true;
  EXPECT_EQ(goes_to(answer), 1u);
  auto result = first;
  result.kind = wire::FlareKind::result;
  EXPECT_EQ(goes_to(result), 1u);
  auto narrow = first;
  narrow.type = wire::ElementType::bf16;
  EXPECT_EQ(goes_to(narrow), 1u);
  auto impossible = first;
  impossible.op = static_cast<wire::Operator>(63);
  EXPECT_EQ(goes_to(impossible), 1u);
  FlareSparseSpec sparse;
  static_cast<FlareSpec&>(sparse) = first;
  auto packet = make_flare_sparse(pool, sparse, {});
  EXPECT_EQ(owners.core_of(*packet, 0), 1u);
  const switching::Owners without(flare_of_cores(false), 2);
  packet = make_flare(pool, first, std::vector<std::int32_t>{1});
  EXPECT_EQ(without.core_of(*packet, 0), 1u);
}

// Returns the packets as another core gets them, in that core's pool.
PacketList handed_to(SwitchBench& core, PacketList packets) {
  PacketList taken;
  while (const auto packet = packets.pop()) {
    auto copy = core.pool.clone(*packet);
    copy->noted = packet->noted;
    copy->l4_offset = packet->l4_offset;
    taken.push(std::move(copy));
  }
  return taken;
}

// The packets of both children come to the core that does not own the block.
TEST(Cores, HandOverASumInsteadOfPackets) {
  const auto config = flare_of_cores();
  const switching::Owners owners(config, 2);
  SwitchBench here(config, {0, 2});
  SwitchBench owner(config, {1, 2});
  const auto arrive = [&](PortIndex child, std::uint64_t block) {
    auto packet =
        make_flare(here.pool, contribution_of(child, block), std::vector<std::int32_t>{5});
    EXPECT_EQ(owners.core_of(*packet, 0), 0u);
    EXPECT_TRUE(here.send(child, std::move(packet)).empty());
  };
  const auto block = block_of(1);
  arrive(0, block);
  arrive(1, block);
  EXPECT_EQ(here.ledger().received, 0u) << "whoever takes a packet counts it";
  ASSERT_EQ(here.passed_on.size(), 2u);
  EXPECT_EQ(owner.send_burst(handed_to(owner, std::move(here.passed_on))).size(), 2u);
  EXPECT_EQ(owner.ledger().received, 2u);

  arrive(0, block + wire::flare_flows);
  arrive(1, block + wire::flare_flows);
  EXPECT_EQ(here.ledger().absorbed, 2u);
  EXPECT_TRUE(here.passed_on.empty());
  ASSERT_EQ(here.partial_sums.size(), 1u);
  EXPECT_EQ(owner.merge(handed_to(owner, std::move(here.partial_sums))).size(), 2u);
  EXPECT_EQ(owner.ledger().received, 2u);
}

TEST(Cores, LoseASumForAnEngineThatTheyDoNotHave) {
  auto config = flare_of_cores();
  SwitchBench here(config, {0, 2});
  for (const std::uint64_t block : {block_of(1), block_of(1) + wire::flare_flows}) {
    for (const PortIndex child : {PortIndex{0}, PortIndex{1}}) {
      auto packet =
          make_flare(here.pool, contribution_of(child, block), std::vector<std::int32_t>{5});
      switching::Owners(config, 2).core_of(*packet, 0);
      here.send(child, std::move(packet));
    }
  }
  config.protocols.reset<flare::FlareConfig>();
  SwitchBench owner(config, {1, 2});
  EXPECT_TRUE(owner.merge(handed_to(owner, std::move(here.partial_sums))).empty());
  EXPECT_EQ(owner.losses(DropReason::local_unserved), 1u);
}

// Returns the packets that a switch of `cores` cores sends when two of three hosts contribute to
// many blocks.
std::vector<std::string> sums_of(unsigned cores) {
  auto config = router_of_cores();
  config.arp = {{Ip(10, 0, 2, 9), mac(2)}};
  std::vector<std::unique_ptr<SwitchBench>> benches;
  for (unsigned core = 0; core < cores; ++core) {
    benches.push_back(std::make_unique<SwitchBench>(config, switching::CoreShare{core, cores}));
  }
  std::vector<std::string> sums;
  for (std::uint8_t from = 0; from < 2; ++from) {
    for (std::uint32_t id = 0; id < 100; ++id) {
      CanarySpec spec;
      spec.id = id;
      spec.hosts = 3;
      spec.destination = Ip(10, 0, 2, 9);
      spec.child_address = Ip(10, 0, from, 9);
      spec.source_mac = mac(from);
      spec.destination_mac = mac(from, 0xee);
      auto probe = make_canary(benches[0]->pool, spec, std::vector<std::int32_t>{from + 1, 7});
      auto& bench = *benches[switching::Owners(config, cores).core_of(*probe, from % cores)];
      auto packet = make_canary(bench.pool, spec, std::vector<std::int32_t>{from + 1, 7});
      for (const auto& out : bench.send(from, std::move(packet))) {
        EXPECT_EQ(out->egress, 2);
        sums.emplace_back(reinterpret_cast<const char*>(out->data()), out->length);
      }
    }
  }
  std::sort(sums.begin(), sums.end());
  return sums;
}

TEST(Cores, TwoSendTheSameSumsAsOne) {
  const auto one = sums_of(1);
  EXPECT_EQ(one.size(), 100u);
  EXPECT_EQ(one, sums_of(2));
}

}  // namespace
}  // namespace tributary::test
