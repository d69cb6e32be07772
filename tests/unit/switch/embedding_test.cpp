// SPDX-License-Identifier: BSD-3-Clause
#include "switch/embedding.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "protocols/canary/engine/config.h"
#include "protocols/flare/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "support/canary_packets.h"
#include "support/flare_packets.h"
#include "support/frames6.h"
#include "support/panama_packets.h"
#include "support/switch_bench.h"
#include "switch/owners.h"

// Each test has the same go through a switch over IPv4 and over IPv6.
namespace tributary::test {
namespace {

using Elements = std::vector<std::int32_t>;

constexpr wire::EmbeddingPrefix prefix{0x20010db800640000, 0};
const Ip summing_switch(10, 0, 255, 1);
constexpr PortIndex to_leader = 2;

Ip rank_at(std::uint8_t number) {
  return {10, 0, number, 9};
}

// Host n is behind port n, over both versions; host 2 leads.
switching::SwitchConfig embedding_router() {
  switching::SwitchConfig config;
  config.id = 1;
  config.address = summing_switch;
  config.embedding_prefix = prefix;
  config.protocols.emplace<canary::CanaryConfig>({});
  for (std::uint8_t i = 0; i < 3; ++i) {
    const Ip own(10, 0, i, 1);
    auto port = routed_port(std::string(1, static_cast<char>('a' + i)), i, own);
    port.address6 = forwarding::InterfaceAddress6{prefix.embed(own), 120};
    config.ports.push_back(std::move(port));
    config.arp.push_back({rank_at(i), mac(i)});
    config.neighbours6.push_back({prefix.embed(rank_at(i)), mac(i)});
  }
  return config;
}

switching::SwitchConfig embedding_bridge() {
  auto config = embedding_router();
  config.arp.clear();
  config.neighbours6.clear();
  for (auto& port : config.ports) {
    port.address.reset();
    port.address6.reset();
  }
  return config;
}

// Returns the same packet over IPv6.
PacketPtr over_ipv6(PacketPool& pool, Packet& packet) {
  const auto& ip = ip_of(packet);
  const auto l4_at = sizeof(wire::EthernetHeader) + sizeof ip;
  const auto bytes = ip.total_length.value() - sizeof ip;
  const auto destination = prefix.towards(ip.destination).embed(ip.destination);
  const auto destination_mac = destination.is_multicast() ? wire::group_mac_of(destination)
                                                          : ethernet_of(packet).destination;
  auto made = make_ip6(
      pool, {ethernet_of(packet).source, destination_mac, prefix.embed(ip.source), destination},
      wire::ip_protocol::udp, bytes);
  std::memcpy(payload6_of(*made).data(), packet.data() + l4_at, bytes);
  auto& ip6 = ip6_of(*made);
  ip6.hop_limit = ip.ttl;
  ip6.version_class_flow[0] = static_cast<std::uint8_t>(0x60 | ip.tos >> 4);
  ip6.version_class_flow[1] = static_cast<std::uint8_t>(ip.tos << 4);
  return made;
}

class Embedding : public testing::Test {
 protected:
  explicit Embedding(const switching::SwitchConfig& config = embedding_router())
      : by_4_(config), by_6_(config) {}

  // Expects the same of both, and returns what left over IPv4.
  std::vector<PacketPtr> send(PortIndex port, PacketPtr packet) {
    auto other = over_ipv6(by_6_.pool, *packet);
    auto left_6 = by_6_.send(port, std::move(other));
    auto left_4 = by_4_.send(port, std::move(packet));
    EXPECT_EQ(left_4.size(), left_6.size());
    for (std::size_t i = 0; i < std::min(left_4.size(), left_6.size()); ++i) {
      EXPECT_EQ(left_4[i]->egress, left_6[i]->egress);
      EXPECT_FALSE(left_6[i]->over_ipv6);
      const auto expected = over_ipv6(by_4_.pool, *left_4[i]);
      EXPECT_TRUE(std::ranges::equal(left_6[i]->bytes(), expected->bytes())) << i;
    }
    return left_4;
  }
  PacketPtr canary(const CanarySpec& spec, std::int32_t value) {
    return make_canary(by_4_.pool, spec, Elements{value});
  }
  void expect_same_ledgers() const {
    EXPECT_EQ(by_4_.ledger().absorbed, by_6_.ledger().absorbed);
    EXPECT_EQ(by_4_.ledger().sent, by_6_.ledger().sent);
    EXPECT_EQ(by_4_.ledger().dropped(), by_6_.ledger().dropped());
  }

  SwitchBench by_4_;
  SwitchBench by_6_;
};

CanarySpec embedded_contribution(std::uint8_t from, const wire::MacAddress& to) {
  CanarySpec spec;
  spec.hosts = 3;
  spec.rank = from;
  spec.destination = rank_at(2);
  spec.child_address = rank_at(from);
  spec.source_mac = mac(from);
  spec.destination_mac = to;
  spec.fingerprint = 100u + from;
  spec.tos = 26 << 2 | wire::ecn::ce;
  return spec;
}
CanarySpec embedded_result() {
  CanarySpec spec;
  spec.kind = wire::CanaryKind::result;
  spec.hosts = 3;
  spec.counter = 3;
  spec.destination = summing_switch;
  spec.child_address = rank_at(2);
  spec.source_mac = mac(2);
  spec.destination_mac = mac(2, 0xee);
  return spec;
}

TEST_F(Embedding, SumsAndResultsAreThoseOfIpv4) {
  EXPECT_TRUE(send(0, canary(embedded_contribution(0, mac(0, 0xee)), 3)).empty());
  const auto sum = send(1, canary(embedded_contribution(1, mac(1, 0xee)), 4));
  ASSERT_EQ(sum.size(), 1u);
  EXPECT_EQ(sum[0]->egress, to_leader);
  EXPECT_EQ(send(to_leader, canary(embedded_result(), 12)).size(), 2u);
  expect_same_ledgers();
}

TEST_F(Embedding, LargeResultsShareTheirElements) {
  const Elements many(300, 7);
  for (std::uint8_t from = 0; from < 2; ++from) {
    send(from, make_canary(by_4_.pool, embedded_contribution(from, mac(from, 0xee)), many));
  }
  EXPECT_EQ(send(to_leader, make_canary(by_4_.pool, embedded_result(), many)).size(), 2u);
}

TEST_F(Embedding, WhatPassesTheEngineIsOneHopOlder) {
  auto spec = embedded_contribution(0, mac(0, 0xee));
  spec.bypass = true;
  const auto passed = send(0, canary(spec, 3));
  ASSERT_EQ(passed.size(), 1u);
  EXPECT_EQ(ip_of(*passed[0]).ttl, spec.ttl - 1);
}

TEST_F(Embedding, TimeoutsOfTheLeadersLastHopAreAsShort) {
  send(0, canary(embedded_contribution(0, mac(0, 0xee)), 3));
  EXPECT_EQ(by_4_.device().deadline(), by_6_.device().deadline());
}

TEST_F(Embedding, OnlyItsAddressesAndPortsAreTaken) {
  const auto sent_on = [&](const Ip6& source, const Ip6& destination, std::uint16_t port) {
    const Endpoints6 ends{mac(0), mac(0, 0xee), source, destination};
    const auto out = by_6_.send(0, make_udp6(by_6_.pool, ends, 5, port));
    return out.size() == 1 && out[0]->egress == to_leader && ip6_of(*out[0]).hop_limit == 63;
  };
  EXPECT_TRUE(sent_on(prefix.embed(rank_at(0)), prefix.embed(rank_at(2)), 6)) << "no engine's port";
  EXPECT_TRUE(sent_on(ip6(1, 9), prefix.embed(rank_at(2)), 17000)) << "from another prefix";
  EXPECT_FALSE(sent_on(prefix.embed(rank_at(0)), prefix.embed(rank_at(2)), 17000)) << "no Canary";
  EXPECT_EQ(by_6_.ledger().absorbed, 0u);
}

TEST_F(Embedding, DamagedLengthsAreNotBelieved) {
  const auto packet = canary(embedded_contribution(0, mac(0, 0xee)), 3);
  for (const unsigned bytes : {0u, 7u, 0xffffu}) {
    auto made = over_ipv6(by_6_.pool, *packet);
    ip6_of(*made).payload_length = static_cast<std::uint16_t>(bytes);
    by_6_.send(0, std::move(made));
  }
  auto made = over_ipv6(by_6_.pool, *packet);
  made->length = 14 + 40 + 7;
  by_6_.send(0, std::move(made));
  EXPECT_EQ(by_6_.ledger().absorbed, 0u);
}

TEST_F(Embedding, DamagedLengthsOfUdpStayThoseOfIpv6) {
  const auto packet = canary(embedded_contribution(0, mac(0, 0xee)), 3);
  for (const unsigned bytes : {7u, 0xffffu}) {
    auto made = over_ipv6(by_6_.pool, *packet);
    l4_header6<wire::UdpHeader>(*made).length = static_cast<std::uint16_t>(bytes);
    for (const auto& left : by_6_.send(0, std::move(made))) {
      EXPECT_EQ(ethernet_of(*left).type.value(), wire::ethertype::ipv6);
    }
  }
  EXPECT_EQ(by_6_.ledger().absorbed, 0u);
}

TEST_F(Embedding, TheSwitchIsAtItsEmbeddedAddress) {
  const auto self = prefix.embed(summing_switch);
  for (PortIndex port = 0; port < 3; ++port) {
    const auto host = prefix.embed(rank_at(static_cast<std::uint8_t>(port)));
    const auto host_mac = mac(static_cast<std::uint8_t>(port));
    const Endpoints6 ends{host_mac, mac(static_cast<std::uint8_t>(port), 0xee), host, self};
    const auto echoed = by_6_.send(port, make_echo6(by_6_.pool, ends));
    ASSERT_EQ(echoed.size(), 1u);
    EXPECT_EQ(echoed[0]->egress, port);
    EXPECT_EQ(Ip6(ip6_of(*echoed[0]).source), self);
    const auto found = by_6_.send(port, make_solicitation(by_6_.pool, host_mac, host, self));
    ASSERT_EQ(found.size(), 1u) << "an advertisement";
    EXPECT_EQ(found[0]->egress, port);
  }
}

TEST_F(Embedding, OwnersAreThoseOfTheBlocks) {
  const switching::Owners owners(embedding_router(), 4);
  for (std::uint32_t block = 0; block < 16; ++block) {
    auto spec = embedded_contribution(0, mac(0, 0xee));
    spec.id = block;
    const auto packet = canary(spec, 3);
    auto other = over_ipv6(by_4_.pool, *packet);
    packet->ingress = other->ingress = 0;
    EXPECT_EQ(owners.core_of(*packet, 0), owners.core_of(*other, 0));
    EXPECT_TRUE(other->over_ipv6 && other->noted != 0);
  }
}

class EmbeddingOnABridge : public Embedding {
 protected:
  EmbeddingOnABridge() : Embedding(embedding_bridge()) {}
};

TEST_F(EmbeddingOnABridge, SumsGoToTheFramesOwnDestination) {
  send(to_leader, make_udp(by_4_.pool, {mac(2), mac(9), rank_at(2), rank_at(9)}, 5, 6));
  EXPECT_TRUE(send(0, canary(embedded_contribution(0, mac(2)), 3)).empty());
  const auto sum = send(1, canary(embedded_contribution(1, mac(2)), 4));
  ASSERT_EQ(sum.size(), 1u);
  EXPECT_EQ(ethernet_of(*sum[0]).source, mac(0, 0xee)) << "the bridge's";
  expect_same_ledgers();
}

TEST_F(EmbeddingOnABridge, FramesForAllStayThat) {
  auto spec = embedded_contribution(0, wire::MacAddress{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}});
  spec.bypass = true;
  EXPECT_EQ(send(0, canary(spec, 3)).size(), 2u);
}

// Hosts 0 and 1 are below the switch in trees of four workers, whose root is behind port 2.
switching::SwitchConfig with_trees(switching::SwitchConfig config) {
  engine::TreePlace place;
  place.group = {239, 192, 0, 1};
  place.children = {0, 1};
  place.parent = 2;
  place.workers = 4;
  place.workers_below = 2;
  place.job = 7;
  panama::TreeConfig panama{place};
  panama.quorum = 4;
  config.protocols.emplace<panama::PanamaConfig>({.trees = {panama}});
  place.group = {239, 192, 0, 2};
  flare::TreeConfig flare{place};
  flare.sparse_window = 8;
  config.protocols.emplace<flare::FlareConfig>({.trees = {flare}});
  return config;
}

class EmbeddedGroups : public Embedding {
 protected:
  explicit EmbeddedGroups(const switching::SwitchConfig& config = embedding_router())
      : Embedding(with_trees(config)) {}

  PacketPtr panama(PanamaSpec spec, PortIndex from, std::int32_t value) {
    spec.source = rank_at(static_cast<std::uint8_t>(from));
    spec.source_mac = mac(static_cast<std::uint8_t>(from));
    spec.rank = from;
    return make_panama(by_4_.pool, spec, Elements{value});
  }
  template <typename Spec>
  Spec flare(Spec spec, PortIndex from) {
    spec.group = {239, 192, 0, 2};
    spec.source = rank_at(static_cast<std::uint8_t>(from));
    spec.source_mac = mac(static_cast<std::uint8_t>(from));
    return spec;
  }
  PacketPtr dense(FlareSpec spec, PortIndex from, std::int32_t value) {
    return make_flare(by_4_.pool, flare(spec, from), Elements{value});
  }
  PacketPtr sparse(FlareSparseSpec spec, PortIndex from, std::uint8_t at) {
    const std::array<std::uint8_t, 6> pair{at, 0, 4};
    return make_flare_sparse(by_4_.pool, flare(spec, from), std::as_bytes(std::span(pair)));
  }
  void expect_sums_and_results(const std::function<PacketPtr(PortIndex, bool is_again)>& up,
                               PacketPtr result) {
    EXPECT_TRUE(send(0, up(0, false)).empty());
    EXPECT_FALSE(send(0, up(0, true)).empty()) << "others are asked";
    const auto sum = send(1, up(1, false));
    ASSERT_EQ(sum.size(), 1u);
    EXPECT_EQ(sum[0]->egress, 2);
    EXPECT_EQ(send(2, std::move(result)).size(), 2u);
    EXPECT_EQ(send(1, up(1, true)).size(), 1u) << "the result, once more";
    expect_same_ledgers();
  }
};

TEST_F(EmbeddedGroups, PanamasSumsAndResultsAreThoseOfIpv4) {
  const auto up = [&](PortIndex from, bool is_again) {
    PanamaSpec spec;
    spec.retransmission = is_again;
    return panama(spec, from, 3);
  };
  PanamaSpec result;
  result.kind = wire::PanamaKind::result;
  result.contributions = 4;
  expect_sums_and_results(up, panama(result, 2, 12));
}

TEST_F(EmbeddedGroups, FlaresSumsAndResultsAreThoseOfIpv4) {
  const auto up = [&](PortIndex from, bool is_again) {
    FlareSpec spec;
    spec.retransmission = is_again;
    return dense(spec, from, 3);
  };
  FlareSpec result;
  result.kind = wire::FlareKind::result;
  result.contributions = 4;
  expect_sums_and_results(up, dense(result, 2, 12));
}

TEST_F(EmbeddedGroups, FlaresSparseSumsAndResultsAreThoseOfIpv4) {
  FlareSparseSpec usual;
  usual.window = 8;
  const auto up = [&](PortIndex from, bool is_again) {
    auto spec = usual;
    spec.retransmission = is_again;
    return sparse(spec, from, static_cast<std::uint8_t>(from));
  };
  auto result = usual;
  result.kind = wire::FlareKind::result;
  result.contributions = 4;
  expect_sums_and_results(up, sparse(result, 2, 0));
}

// What is no embedded group is not taken either: the switch routes no groups.
TEST_F(EmbeddedGroups, OtherGroupsAreNotTaken) {
  const auto packet = panama({}, 0, 3);
  for (const auto& group : {Ip6::of_halves(0xff08000000000000, 0xefc00001),
                            Ip6::of_halves(0x20010db800640000, 0xefc00001)}) {
    auto made = over_ipv6(by_6_.pool, *packet);
    ip6_of(*made).destination = group.octets();
    EXPECT_TRUE(by_6_.send(0, std::move(made)).empty());
  }
  EXPECT_EQ(by_6_.ledger().absorbed, 0u);
}

class EmbeddedGroupsOnABridge : public EmbeddedGroups {
 protected:
  EmbeddedGroupsOnABridge() : EmbeddedGroups(embedding_bridge()) {}
};

TEST_F(EmbeddedGroupsOnABridge, PanamaAddsUp) {
  EXPECT_TRUE(send(0, panama({}, 0, 3)).empty());
  const auto sum = send(1, panama({}, 1, 4));
  ASSERT_EQ(sum.size(), 1u);
  EXPECT_EQ(sum[0]->egress, 2);
  expect_same_ledgers();
}

TEST_F(EmbeddedGroupsOnABridge, WhatTheEngineDoesNotClaimIsFloodedAsItCame) {
  PanamaSpec spec;
  spec.tos = 0;
  auto made = over_ipv6(by_6_.pool, *panama(spec, 0, 3));
  ip6_of(*made).version_class_flow[3] = 0x21;  // of the flow label
  const auto flooded = by_6_.send(0, by_6_.pool.clone(*made));
  ASSERT_EQ(flooded.size(), 2u);
  for (const auto& packet : flooded) {
    EXPECT_TRUE(std::ranges::equal(packet->bytes(), made->bytes()));
  }
}

const Ip leader_afar(10, 7, 0, 9);

// Hosts 0 and 1 are below the switch; the leader is behind either of the spines 2 and 3.
switching::SwitchConfig embedding_leaf() {
  auto config = embedding_router();
  auto port = config.ports.back();
  port.name = "d";
  port.mac = mac(3, 0xee);
  port.address = forwarding::InterfaceAddress{Ip(10, 0, 3, 1), 24};
  port.address6 = forwarding::InterfaceAddress6{prefix.embed({10, 0, 3, 1}), 120};
  config.ports.push_back(port);
  config.arp.push_back({rank_at(3), mac(3)});
  config.neighbours6.push_back({prefix.embed(rank_at(3)), mac(3)});
  const Ip network(10, 7, 0, 0);
  config.routes = {{{network, 16}, {rank_at(2), rank_at(3)}}};
  config.routes6 = {
      {{prefix.embed(network), 112}, {prefix.embed(rank_at(2)), prefix.embed(rank_at(3))}}};
  return config;
}

class EmbeddedUpPorts : public Embedding {
 protected:
  static constexpr PortIndex first_up = 2;
  static constexpr PortIndex second_up = 3;

  EmbeddedUpPorts() : Embedding(embedding_leaf()) {}

  // Has both hosts contribute to a block, and returns by which port its sum goes up.
  PortIndex add_up(std::uint32_t block) {
    std::vector<PacketPtr> sum;
    for (std::uint8_t from = 0; from < 2; ++from) {
      auto spec = embedded_contribution(from, mac(from, 0xee));
      spec.id = block;
      spec.destination = leader_afar;
      sum = send(from, canary(spec, 3));
    }
    EXPECT_EQ(sum.size(), 1u);
    return sum.empty() ? no_port : sum[0]->egress;
  }
  // Has the result of the block come back by that port.
  void answer(std::uint32_t block, PortIndex port, bool is_marked) {
    auto spec = embedded_result();
    spec.id = block;
    spec.child_address = leader_afar;
    spec.source_mac = mac(static_cast<std::uint8_t>(port));
    spec.destination_mac = mac(static_cast<std::uint8_t>(port), 0xee);
    spec.tos = is_marked ? wire::ecn::ce : wire::ecn::ect0;
    EXPECT_EQ(send(port, canary(spec, 12)).size(), 2u);
  }
  forwarding::RouteRow6 row6() { return by_6_.device().routes6().back(); }
};

TEST_F(EmbeddedUpPorts, BlocksBypassAQueueThatIsMoreThanHalfFull) {
  const auto capacity = embedding_leaf().ports[first_up].queue.capacity_bytes;
  std::size_t by_first = 0;
  for (std::uint32_t block = 0; block < 32; ++block) {
    by_first += add_up(block) == first_up ? 1 : 0;
  }
  EXPECT_GT(by_first, 0u);
  EXPECT_LT(by_first, 32u);
  by_4_.gauges[first_up].publish_bytes(capacity);
  by_6_.gauges[first_up].publish_bytes(capacity);
  for (std::uint32_t block = 32; block < 64; ++block) {
    EXPECT_EQ(add_up(block), second_up);
  }
  EXPECT_GT(row6().counters.evaded, 0u);
}

TEST_F(EmbeddedUpPorts, BlocksLeaveRootsWhoseResultsAreMarked) {
  for (std::uint32_t block = 0; block < 1000; ++block) {
    const auto port = add_up(block);
    answer(block, port, port == first_up);
  }
  const auto row4 = by_4_.device().routes().back();
  EXPECT_LT(row6().next_hops[0].share, 1);
  EXPECT_EQ(row6().next_hops[0].share, row4.next_hops[0].share);
  EXPECT_EQ(row6().next_hops[1].share, 1);
}

}  // namespace
}  // namespace tributary::test
