// SPDX-License-Identifier: BSD-3-Clause
// Packets that NetReduce sends on take the path of their connection, through bridges and routers.
#include <cstring>
#include <numeric>
#include <utility>

#include "protocols/netreduce/engine/config.h"
#include "support/frames6.h"
#include "support/roce_packets.h"
#include "support/switch_bench.h"
#include "switch/owners.h"

namespace tributary::test {
namespace {

Ip member(std::uint8_t number) {
  return {10, 0, number, 9};
}

// Host n is behind port n; hosts 0 and 1 are a ring.
switching::SwitchConfig routed_racks() {
  switching::SwitchConfig config;
  config.id = 1;
  netreduce::RingConfig ring;
  ring.id = 1;
  ring.members = {member(0), member(1)};
  config.protocols.emplace<netreduce::NetReduceConfig>({{ring}});
  for (std::uint8_t i = 0; i < 2; ++i) {
    config.ports.push_back(
        routed_port(std::string(1, static_cast<char>('a' + i)), i, Ip(10, 0, i, 1)));
    config.arp.push_back({member(i), mac(i)});
  }
  return config;
}

switching::SwitchConfig bridged_rack() {
  auto config = routed_racks();
  config.arp.clear();
  for (auto& port : config.ports) {
    port.address.reset();
  }
  return config;
}

PacketPtr gradient(PacketPool& pool, std::uint8_t rank, const wire::MacAddress& to,
                   bool is_v6 = false) {
  GradientSpec spec;
  spec.rank = rank;
  spec.length = 64;
  std::vector<std::byte> payload(spec.length);
  const auto header = ina_of(spec, 1024);
  std::memcpy(payload.data(), &header, sizeof header);
  payload[sizeof header] = std::byte{static_cast<std::uint8_t>(3 + rank)};
  RoceSpec roce;
  roce.source = member(rank);
  roce.destination = member(static_cast<std::uint8_t>(1 - rank));
  roce.length = spec.length;
  roce.is_v6 = is_v6;
  auto packet = make_roce(pool, roce, payload);
  ethernet_of(*packet).source = mac(rank);
  ethernet_of(*packet).destination = to;
  return packet;
}

void expect_sum(Packet& packet) {
  EXPECT_TRUE(has_right_icrc(packet));
  EXPECT_EQ(roce_of(packet).payload[sizeof(wire::InaHeader)], std::byte{7});
  if (ethernet_of(packet).type.value() == wire::ethertype::ipv4) {
    EXPECT_EQ(wire::internet_checksum(std::as_bytes(std::span(&ip_of(packet), 1))), 0);
  }
}

TEST(NetReduce, frames_on_a_bridge_keep_their_addresses) {
  SwitchBench bench(bridged_rack());
  EXPECT_TRUE(bench.send(0, gradient(bench.pool, 0, mac(1))).empty());
  auto out = bench.send(1, gradient(bench.pool, 1, mac(0)));
  ASSERT_EQ(out.size(), 2u);
  for (const auto& packet : out) {
    const auto from = static_cast<std::uint8_t>(1 - packet->egress);
    EXPECT_EQ(ethernet_of(*packet).source, mac(from));
    EXPECT_EQ(ip_of(*packet).source, member(from));
    EXPECT_EQ(ip_of(*packet).ttl, 64);
    expect_sum(*packet);
  }
  EXPECT_EQ(bench.ledger().absorbed, 2u);
  EXPECT_EQ(bench.ledger().sent, 2u);
  // A repeat is answered at once.
  out = bench.send(0, gradient(bench.pool, 0, mac(1)));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 1);
  EXPECT_EQ(ethernet_of(*out[0]).source, mac(0));
  EXPECT_EQ(bench.ledger().forwarded, 1u);
}

TEST(NetReduce, routed_packets_are_one_hop_older) {
  SwitchBench bench(routed_racks());
  EXPECT_TRUE(bench.send(0, gradient(bench.pool, 0, mac(0, 0xee))).empty());
  const auto out = bench.send(1, gradient(bench.pool, 1, mac(1, 0xee)));
  ASSERT_EQ(out.size(), 2u);
  for (const auto& packet : out) {
    EXPECT_EQ(ethernet_of(*packet).destination, mac(static_cast<std::uint8_t>(packet->egress)));
    EXPECT_EQ(ip_of(*packet).ttl, 63);
    expect_sum(*packet);
  }
}

// To keep segments apart, they are given no addresses.
TEST(NetReduce, nothing_is_routed_from_a_bridge_without_an_address) {
  auto config = bridged_rack();
  config.ports.push_back(routed_port("c", 2, Ip(10, 0, 2, 1)));
  config.arp = {{Ip(10, 0, 2, 9), mac(9)}};
  SwitchBench bench(config);
  RoceSpec roce;
  roce.source = member(0);
  roce.destination = Ip(10, 0, 2, 9);
  roce.length = 64;
  auto packet = make_roce(bench.pool, roce, std::vector<std::byte>(roce.length));
  ethernet_of(*packet).source = mac(0);
  ethernet_of(*packet).destination = mac(0, 0xee);
  EXPECT_TRUE(bench.send(0, std::move(packet)).empty());
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u);
}

// An address of IPv4 in one of IPv6 is on no link (RFC 4291, 2.5.5.2), and nobody's in a ring.
TEST(NetReduce, mapped_addresses_are_no_members) {
  auto config = routed_racks();
  for (std::uint8_t i = 0; i < 2; ++i) {
    config.ports[i].address6 =
        forwarding::InterfaceAddress6{wire::IpAddress::of_halves(0x20010db800000000, i + 1u), 64};
  }
  SwitchBench bench(config);
  auto forged = gradient(bench.pool, 0, mac(0, 0xee), true);
  ip6_of(*forged).source = wire::IpAddress(member(0)).octets();
  ip6_of(*forged).destination = wire::IpAddress(member(1)).octets();
  reseal_roce(*forged);
  EXPECT_TRUE(bench.send(0, std::move(forged)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip6_martian), 1u);
  EXPECT_EQ(bench.ledger().absorbed, 0u);
}

TEST(NetReduce, ipv6_of_no_ring_is_bridged_or_routed) {
  auto config = bridged_rack();
  const auto own = wire::IpAddress::of_halves(1, 1);
  const auto far = wire::IpAddress::of_halves(2, 9);
  config.bridge_address6 = forwarding::InterfaceAddress6{own, 64};
  config.ports.push_back(bridged_port("c", 2));
  config.ports[2].address6 = forwarding::InterfaceAddress6{wire::IpAddress::of_halves(2, 1), 64};
  config.neighbours6 = {{far, mac(9)}};
  SwitchBench bench(config);
  RoceSpec roce;
  roce.is_v6 = true;
  roce.length = 64;
  const std::vector<std::byte> payload(roce.length);
  const auto packet_to = [&](const wire::MacAddress& to) {
    auto packet = make_roce(bench.pool, roce, payload);
    ethernet_of(*packet).source = mac(1);
    ethernet_of(*packet).destination = to;
    ip6_of(*packet).source = wire::IpAddress::of_halves(1, 9).octets();
    ip6_of(*packet).destination = far.octets();
    reseal_roce(*packet);
    return packet;
  };
  bench.send(1, make_frame(bench.pool, mac(8), mac(7), 0x1234, 46));
  auto out = bench.send(0, packet_to(mac(7)));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 1) << "of no ring";
  out = bench.send(0, packet_to(mac(0, 0xee)));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 2);
  EXPECT_EQ(ethernet_of(*out[0]).destination, mac(9));
  EXPECT_EQ(ip6_of(*out[0]).hop_limit, 63);
}

TEST(NetReduce, packets_that_wait_end_with_their_time_to_live) {
  SwitchBench bench(routed_racks());
  auto old = gradient(bench.pool, 0, mac(0, 0xee));
  ip_of(*old).ttl = 1;
  wire::finish_ipv4(ip_of(*old));
  bench.send(0, std::move(old));
  EXPECT_EQ(bench.send(1, gradient(bench.pool, 1, mac(1, 0xee))).size(), 1u);
  EXPECT_EQ(bench.losses(DropReason::ttl_exceeded), 1u);
}

// Host 0 of a ring of three is here, hosts 1 and 2 are behind port 1. Packets that leave go to the
// spine, behind port 2, and not to their destination.
switching::SwitchConfig leaf() {
  auto config = routed_racks();
  auto& ring = config.protocols.get<netreduce::NetReduceConfig>().rings[0];
  ring.members.push_back(member(2));
  ring.local = {member(0)};
  ring.parent = Ip(10, 9, 9, 9);
  config.ports.push_back(routed_port("c", 2, Ip(10, 0, 2, 1)));
  config.arp.push_back({Ip(10, 0, 2, 8), mac(0x28)});
  config.routes.push_back({{Ip(10, 9, 9, 9), 32}, {Ip(10, 0, 2, 8)}});
  return config;
}

TEST(NetReduce, packets_that_leave_the_rack_take_the_way_to_the_parent) {
  SwitchBench bench(leaf());
  for (int i = 0; i < 2; ++i) {
    auto packet = gradient(bench.pool, 0, mac(0, 0xee));
    auto& header = *reinterpret_cast<wire::InaHeader*>(roce_of(*packet).payload.data());
    header.world = std::uint16_t{3};
    reseal_roce(*packet);
    const auto out = bench.send(0, std::move(packet));
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0]->egress, 2);
    EXPECT_EQ(ethernet_of(*out[0]).destination, mac(0x28));
    EXPECT_EQ(ip_of(*out[0]).destination, member(1));
    EXPECT_EQ(ip_of(*out[0]).ttl, 63);
    EXPECT_TRUE(has_right_icrc(*out[0]));
  }
  EXPECT_EQ(bench.ledger().forwarded, 1u);
}

// Requests of a queue pair that is in no ring, `number` by `number` in a fixed order, all of one
// packet.
constexpr wire::RoceOpcode mixed[] = {
    wire::RoceOpcode::write_only, wire::RoceOpcode::read_request,
    wire::RoceOpcode::send_only,  wire::RoceOpcode::fetch_add,
    wire::RoceOpcode::write_only, wire::RoceOpcode::compare_swap,
    wire::RoceOpcode::write_only, wire::RoceOpcode::send_only_invalidate};

PacketPtr request(PacketPool& pool, std::uint32_t number, const wire::MacAddress& to) {
  RoceSpec spec;
  spec.source = member(0);
  spec.destination = member(1);
  spec.destination_qp = 0x77;
  spec.psn = number;
  spec.opcode = mixed[number];
  auto packet = make_roce(pool, spec, std::vector<std::byte>(32));
  ethernet_of(*packet).source = mac(0);
  ethernet_of(*packet).destination = to;
  packet->ingress = 0;
  return packet;
}

void expect_in_order(const switching::SwitchConfig& config, const wire::MacAddress& to) {
  SwitchBench bench(config);
  PacketList burst;
  for (std::uint32_t number = 0; number < std::size(mixed); ++number) {
    burst.push(request(bench.pool, number, to));
  }
  const auto out = bench.send_burst(std::move(burst));
  std::vector<std::uint32_t> numbers;
  for (const auto& packet : out) {
    EXPECT_EQ(packet->egress, 1);
    const auto payload = engine::parse_frame(*packet).payload;
    numbers.push_back(reinterpret_cast<const wire::BthHeader*>(payload.data())->psn.value());
  }
  std::vector<std::uint32_t> wanted(std::size(mixed));
  std::iota(wanted.begin(), wanted.end(), 0u);
  EXPECT_EQ(numbers, wanted);
}

TEST(NetReduce, requests_of_others_keep_their_order_on_a_bridge) {
  auto config = bridged_rack();
  config.fdb.push_back({mac(1), "b"});
  expect_in_order(config, mac(1));
}

TEST(NetReduce, requests_of_others_keep_their_order_when_routed) {
  expect_in_order(routed_racks(), mac(0, 0xee));
}

TEST(NetReduce, all_requests_meet_on_one_core) {
  HeapPacketPool pool(16, 512);
  const auto owner = switching::Owners(routed_racks(), 4).core_of(*request(pool, 0, mac(1)), 0);
  for (std::uint32_t number = 0; number < std::size(mixed); ++number) {
    for (unsigned here = 0; here < 4; ++here) {
      EXPECT_EQ(switching::Owners(routed_racks(), 4).core_of(*request(pool, number, mac(1)), here),
                owner);
    }
  }
}

switching::SwitchConfig with_ipv6(switching::SwitchConfig config) {
  config.protocols.get<netreduce::NetReduceConfig>().rings[0].members = {ipv6_of(member(0)),
                                                                         ipv6_of(member(1))};
  return config;
}

// As routed_racks(), with addresses of IPv6.
switching::SwitchConfig ipv6_racks() {
  auto config = with_ipv6(routed_racks());
  for (std::uint8_t i = 0; i < 2; ++i) {
    config.ports[i].address6 = forwarding::InterfaceAddress6{ipv6_of(Ip(10, 0, i, 1)), 120};
    config.neighbours6.push_back({ipv6_of(member(i)), mac(i)});
  }
  return config;
}

TEST(NetReduce, ipv6_is_bridged) {
  SwitchBench bench(with_ipv6(bridged_rack()));
  EXPECT_TRUE(bench.send(0, gradient(bench.pool, 0, mac(1), true)).empty());
  const auto out = bench.send(1, gradient(bench.pool, 1, mac(0), true));
  ASSERT_EQ(out.size(), 2u);
  for (const auto& packet : out) {
    EXPECT_EQ(ethernet_of(*packet).source, mac(static_cast<std::uint8_t>(1 - packet->egress)));
    EXPECT_EQ(ip6_of(*packet).hop_limit, 64);
    expect_sum(*packet);
  }
  EXPECT_EQ(bench.ledger().sent, 2u);
}

TEST(NetReduce, ipv6_is_routed) {
  SwitchBench bench(ipv6_racks());
  EXPECT_TRUE(bench.send(0, gradient(bench.pool, 0, mac(0, 0xee), true)).empty());
  auto out = bench.send(1, gradient(bench.pool, 1, mac(1, 0xee), true));
  ASSERT_EQ(out.size(), 2u);
  for (const auto& packet : out) {
    EXPECT_EQ(ethernet_of(*packet).destination, mac(static_cast<std::uint8_t>(packet->egress)));
    EXPECT_EQ(ip6_of(*packet).hop_limit, 63);
    expect_sum(*packet);
  }
  // A repeat is answered at once.
  out = bench.send(0, gradient(bench.pool, 0, mac(0, 0xee), true));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(ip6_of(*out[0]).hop_limit, 63);
  expect_sum(*out[0]);
  EXPECT_EQ(bench.ledger().forwarded, 1u);
}

TEST(NetReduce, ipv6_is_routed_between_a_bridge_and_a_port) {
  auto config = ipv6_racks();
  config.arp.clear();
  config.ports[0].address.reset();
  config.bridge_address6 = std::exchange(config.ports[0].address6, std::nullopt);
  SwitchBench bench(config);
  EXPECT_TRUE(bench.send(0, gradient(bench.pool, 0, mac(0, 0xee), true)).empty());
  const auto out = bench.send(1, gradient(bench.pool, 1, mac(1, 0xee), true));
  ASSERT_EQ(out.size(), 2u);
  for (const auto& packet : out) {
    EXPECT_EQ(ip6_of(*packet).hop_limit, 63);
    expect_sum(*packet);
  }
}

TEST(NetReduce, ipv6_packets_that_wait_end_with_their_hop_limit) {
  SwitchBench bench(ipv6_racks());
  auto old = gradient(bench.pool, 0, mac(0, 0xee), true);
  ip6_of(*old).hop_limit = 1;
  bench.send(0, std::move(old));
  EXPECT_EQ(bench.send(1, gradient(bench.pool, 1, mac(1, 0xee), true)).size(), 1u);
  EXPECT_EQ(bench.losses(DropReason::hop_limit_exceeded), 1u);
}

TEST(NetReduce, ipv6_is_dropped_by_ports_that_do_not_speak_it) {
  SwitchBench bench(with_ipv6(routed_racks()));
  EXPECT_TRUE(bench.send(0, gradient(bench.pool, 0, mac(0, 0xee), true)).empty());
  EXPECT_EQ(bench.drops(DropReason::unknown_ethertype), 1u);
}

TEST(NetReduce, ipv6_packets_that_leave_the_rack_take_the_way_to_the_parent) {
  auto config = ipv6_racks();
  const auto parent = ipv6_of(Ip(10, 9, 9, 9));
  const auto spine = ipv6_of(Ip(10, 0, 2, 8));
  auto& ring = config.protocols.get<netreduce::NetReduceConfig>().rings[0];
  ring.members.push_back(ipv6_of(member(2)));
  ring.local = {ipv6_of(member(0))};
  ring.parent = parent;
  config.ports.push_back(routed_port("c", 2, Ip(10, 0, 2, 1)));
  config.ports[2].address6 = forwarding::InterfaceAddress6{ipv6_of(Ip(10, 0, 2, 1)), 120};
  config.neighbours6.push_back({spine, mac(0x28)});
  config.routes6.push_back({{parent, 128}, {spine}});
  SwitchBench bench(config);
  for (int i = 0; i < 2; ++i) {
    auto packet = gradient(bench.pool, 0, mac(0, 0xee), true);
    auto& header = *reinterpret_cast<wire::InaHeader*>(roce_of(*packet).payload.data());
    header.world = std::uint16_t{3};
    reseal_roce(*packet);
    const auto out = bench.send(0, std::move(packet));
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0]->egress, 2);
    EXPECT_EQ(ethernet_of(*out[0]).destination, mac(0x28));
    EXPECT_EQ(wire::IpAddress(ip6_of(*out[0]).destination), ipv6_of(member(1)));
    EXPECT_EQ(ip6_of(*out[0]).hop_limit, 63);
    EXPECT_TRUE(has_right_icrc(*out[0]));
  }
  EXPECT_EQ(bench.ledger().forwarded, 1u);
}

TEST(NetReduce, all_of_it_meets_on_one_core) {
  HeapPacketPool pool(8, 512);
  const auto config = routed_racks();
  auto first = gradient(pool, 0, mac(9));
  auto second = gradient(pool, 1, mac(9));
  for (unsigned here = 0; here < 4; ++here) {
    EXPECT_EQ(switching::Owners(config, 4).core_of(*first, here),
              switching::Owners(config, 4).core_of(*second, 0));
  }
  auto without = config;
  without.protocols.reset<netreduce::NetReduceConfig>();
  EXPECT_EQ(switching::Owners(without, 4).core_of(*first, 3), 3u);
}

}  // namespace
}  // namespace tributary::test
