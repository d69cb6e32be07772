// SPDX-License-Identifier: BSD-3-Clause
// Two switches get the same packets, one of them without the express lane, and must behave the
// same.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "protocols/canary/engine/config.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/wire.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/wire.h"
#include "support/canary_packets.h"
#include "support/drop_names.h"
#include "support/switch_bench.h"
#include "switch/owners.h"
#include "wire/roce.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr PortIndex bridged_ports = 3;
constexpr PortIndex routed_ports = 4;
constexpr PortIndex ports = bridged_ports + routed_ports;
constexpr std::uint8_t stations = 8;

wire::MacAddress port_mac(PortIndex port) {
  return mac(static_cast<std::uint8_t>(port), 0xee);
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  template <typename Number = std::uint32_t>
  Number below(std::uint32_t n) {
    return static_cast<Number>(random_() % n);
  }
  bool once_in(std::uint32_t n) { return below(n) == 0; }
  template <typename Values>
  auto of(const Values& values) {
    return values[below(static_cast<std::uint32_t>(std::size(values)))];
  }

 private:
  std::mt19937 random_;
};

// Draws bridged and routed ports, and routes by known neighbours, by neighbours that have to be
// asked for, by groups of them, and by the bridge.
switching::SwitchConfig draw_config(Draw& draw) {
  switching::SwitchConfig config;
  config.id = 3;
  config.table_seed = 1;
  config.ecmp_seed = 1;
  config.address = Ip(10, 9, 255, 1);
  config.fdb_capacity = draw.once_in(2) ? 8 : 64;
  config.fdb_ageing = 4s;
  config.arp_timeout = 4s;
  config.arp_capacity = draw.once_in(2) ? 4 : 64;
  for (std::uint8_t i = 0; i < ports; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    config.ports.push_back(i < bridged_ports ? bridged_port(name, i)
                                             : routed_port(name, i, Ip(10, 0, i, 1)));
  }
  if (draw.once_in(2)) {
    config.bridge_address = forwarding::InterfaceAddress{Ip(10, 0, 0, 254), 24};
  }
  if (draw.once_in(3)) {
    config.ports[0].learning.addresses_max = 2;
  }
  config.ports[1].learning.on = !draw.once_in(4);
  config.ports[ports - 1].mtu = 200;
  const auto gateway = [](std::uint8_t port) { return Ip(10, 0, port, 2); };
  config.routes = {{{Ip(20, 0, 0, 0), 8}, {gateway(3)}},
                   {{Ip(21, 0, 0, 0), 8}, {gateway(4)}},
                   {{Ip(22, 0, 0, 0), 8}, {gateway(3), gateway(5)}},
                   {{Ip(23, 0, 0, 0), 8}, {gateway(6)}},
                   {{Ip(127, 0, 0, 0), 8}, {gateway(3)}}};
  if (draw.once_in(2)) {
    config.routes.push_back({{Ip(), 0}, {gateway(5)}});
  }
  if (config.bridge_address) {
    config.routes.push_back({{Ip(24, 0, 0, 0), 8}, {Ip(10, 0, 0, 7)}});
  }
  for (const auto port : std::to_array<std::uint8_t>({3, 5, 6})) {
    config.arp.push_back({gateway(port), mac(port, 0xaa)});
  }
  config.fdb = {{mac(7), "c"}};
  if (draw.once_in(2)) {
    canary::CanaryConfig canary;
    canary.hash_seed = 1;
    canary.descriptors = 16;
    config.protocols.emplace<canary::CanaryConfig>(canary);
  }
  if (draw.once_in(2)) {
    config.protocols.emplace<panama::PanamaConfig>();
  }
  if (draw.once_in(2)) {
    config.protocols.emplace<netreduce::NetReduceConfig>();
  }
  if (draw.once_in(2)) {
    config.protocols.emplace<flare::FlareConfig>();
  }
  if (draw.once_in(4)) {
    config.bridge_vlan = 10;
    config.ports[0].vlan.untagged = 10;
    config.ports[1].vlan.untagged = 20;
    config.ports[1].vlan.tagged.ranges = {{10, 10}};
    config.ports[2].vlan.tagged.ranges = {{10, 10}, {20, 20}};
    config.fdb.front().vlan = 10;
  }
  if (draw.once_in(4)) {  // a port that does not speak IPv4
    auto& port = config.ports[4];
    port.address.reset();
    port.address6 = forwarding::InterfaceAddress6{wire::IpAddress::of_halves(1, 1), 64};
  }
  return config;
}

// Draws mostly packets of common kinds, and now and then one of a rare kind.
class Traffic {
 public:
  Traffic(Draw& draw, HeapPacketPool& pool) : draw_(draw), pool_(pool) {}

  PacketPtr next() {
    ingress_ = draw_.below<PortIndex>(ports);
    auto packet = draw_.once_in(12)   ? make_arp(pool_, draw_.below<std::uint16_t>(3), ends())
                  : draw_.once_in(20) ? canary()
                                      : ip();
    if (draw_.once_in(8)) {
      damage(*packet);
    }
    if (is_bridged() && draw_.once_in(6)) {
      static const unsigned controls[] = {10, 10, 20, 20, 0, 0xe00a, 30, 4095};
      packet = tagged(std::move(packet), draw_.of(controls));
    }
    packet->ingress = draw_.once_in(200) ? PortIndex{ports} : ingress_;
    return packet;
  }

 private:
  bool is_bridged() const { return ingress_ < bridged_ports; }

  // Stations 0 to 5 are each behind a port, if they do not move.
  wire::MacAddress station(PortIndex port) {
    const auto number = draw_.once_in(16) ? draw_.below(stations) : port + 3 * draw_.below(2);
    return mac(static_cast<std::uint8_t>(number));
  }
  wire::MacAddress other_mac() {
    static const wire::MacAddress others[] = {wire::broadcast_mac,
                                              wire::canary_group_mac,
                                              {{0x01, 0x80, 0xc2, 0, 0, 2}},
                                              {{0x01, 0, 0x5e, 0, 0, 1}},
                                              port_mac(0),
                                              port_mac(3),
                                              port_mac(4),
                                              mac(99)};
    return draw_.of(others);
  }
  Ip address() {
    static const Ip usual[] = {Ip(20, 1, 2, 3),  Ip(21, 1, 2, 3), Ip(22, 1, 2, 3),  Ip(23, 1, 2, 3),
                               Ip(24, 1, 2, 3),  Ip(10, 0, 3, 2), Ip(10, 0, 4, 5),  Ip(10, 0, 5, 2),
                               Ip(10, 0, 6, 77), Ip(10, 0, 0, 7), Ip(20, 200, 2, 3)};
    static const Ip unusual[] = {Ip(),
                                 Ip(0, 1, 2, 3),
                                 Ip(127, 0, 0, 1),
                                 Ip(128, 0, 0, 1),
                                 Ip(126, 1, 1, 1),
                                 Ip(223, 1, 1, 1),
                                 Ip(224, 0, 0, 5),
                                 Ip(240, 1, 1, 1),
                                 Ip(255, 255, 255, 255),
                                 Ip(10, 0, 3, 1),
                                 Ip(10, 0, 3, 255),
                                 Ip(10, 0, 4, 0),
                                 Ip(10, 0, 0, 254),
                                 Ip(10, 9, 255, 1),
                                 Ip(8, 8, 8, 8)};
    return draw_.once_in(10) ? draw_.of(unusual) : draw_.of(usual);
  }
  Endpoints ends() {
    Endpoints ends;
    ends.source_mac = draw_.once_in(60) ? other_mac()
                      : is_bridged()    ? station(ingress_)
                                        : mac(static_cast<std::uint8_t>(ingress_), 0xaa);
    ends.destination_mac = draw_.once_in(16) ? other_mac()
                           : is_bridged()    ? station(draw_.below<PortIndex>(bridged_ports))
                                             : port_mac(ingress_);
    ends.source = draw_.once_in(3) ? Ip(10, 0, static_cast<std::uint8_t>(ingress_), 5) : address();
    ends.destination = address();
    return ends;
  }
  std::uint16_t port() {
    static const std::uint16_t known[] = {wire::canary_udp_port_first,
                                          wire::canary_udp_port_last,
                                          wire::canary_udp_port_first - 1,
                                          wire::canary_udp_port_last + 1,
                                          wire::panama_udp_port,
                                          wire::flare_udp_port,
                                          wire::roce_udp_port,
                                          3784};
    return draw_.once_in(4) ? draw_.of(known) : draw_.below<std::uint16_t>(0x10000);
  }

  PacketPtr ip() {
    const auto payload = draw_.once_in(4) ? draw_.below(300) : draw_.below(40);
    auto packet = draw_.once_in(8) ? make_echo(pool_, ends(), payload)
                  : draw_.once_in(3)
                      ? make_ip(pool_, ends(), draw_.below<std::uint8_t>(256), payload)
                      : make_udp(pool_, ends(), port(), port(), payload);
    auto& header = ip_of(*packet);
    header.tos = draw_.below<std::uint8_t>(256);
    header.identification = draw_.below<std::uint16_t>(0x10000);
    header.ttl = static_cast<std::uint8_t>(draw_.once_in(10) ? draw_.below(3) : draw_.below(256));
    if (draw_.once_in(10)) {
      header.fragment = draw_.below<std::uint16_t>(0x10000);
    }
    wire::finish_ipv4(header);
    if (draw_.once_in(20)) {
      use_the_other_zero(header);
    }
    packet->length = std::max(packet->length, wire::ethernet_min_frame_bytes);
    return packet;
  }
  // A header whose checksum is 0, with 0xffff in its place, which is the same.
  static void use_the_other_zero(wire::Ipv4Header& header) {
    const std::uint32_t sum = header.identification.value() + header.checksum.value();
    header.identification = static_cast<std::uint16_t>((sum & 0xffff) + (sum >> 16));
    EXPECT_EQ(wire::ipv4_header_checksum(header), 0);
    header.checksum = std::uint16_t{0xffff};
  }

  PacketPtr canary() {
    const auto who = ends();
    CanarySpec spec;
    spec.encapsulation =
        draw_.once_in(3) ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
    spec.source_mac = who.source_mac;
    spec.destination_mac = who.destination_mac;
    spec.destination = who.destination;
    spec.child_address = who.source;
    spec.bypass = draw_.once_in(3);
    spec.id = draw_.below(4);
    spec.rank = draw_.below<std::uint16_t>(spec.hosts);
    return make_canary(pool_, spec, std::vector<std::int32_t>(1 + draw_.below(32)));
  }

  void damage(Packet& packet) {
    auto& header = ip_of(packet);
    static const std::uint16_t types[] = {wire::ethertype::arp,         wire::ethertype::vlan,
                                          wire::ethertype::ipv6,        wire::ethertype::canary,
                                          wire::ethertype::mac_control, 0x1234};
    static const std::uint8_t versions[] = {0x44, 0x46, 0x4f, 0x55, 0x65, 0x05};
    switch (draw_.below(9)) {
      case 0:
        packet.length = draw_.below(packet.length + 1);
        return;
      case 1:
        packet.length += 1 + draw_.below(100);
        return;
      case 2:
        ethernet_of(packet).type = draw_.of(types);
        return;
      case 3:
        packet.data()[draw_.below(packet.length)] ^= std::byte{1} << draw_.below(8);
        return;
      case 4:
        header.version_ihl = draw_.of(versions);
        break;
      case 5:
        header.total_length = draw_.below<std::uint16_t>(packet.length + 40);
        break;
      case 6:
        header.total_length =
            static_cast<std::uint16_t>(packet.length - sizeof(wire::EthernetHeader));
        break;
      case 7:
        l4_header<wire::UdpHeader>(packet).length = draw_.below<std::uint16_t>(60);
        return;
      default:
        packet.length = draw_.once_in(2) ? 14 + 20 + draw_.below(9) : draw_.below(16);
        return;
    }
    if (header.header_bytes() >= sizeof header &&
        sizeof(wire::EthernetHeader) + header.header_bytes() <= packet.length) {
      header.checksum = std::uint16_t{0};
      header.checksum = wire::internet_checksum(
          packet.bytes().subspan(sizeof(wire::EthernetHeader), header.header_bytes()));
    }
  }

  Draw& draw_;
  HeapPacketPool& pool_;
  PortIndex ingress_ = 0;
};

// The two switches. All their visible state is compared after every step.
class Pair {
 public:
  Pair(const switching::SwitchConfig& config, switching::CoreShare share)
      : cores_(share.cores),
        owners_(config, share.cores),
        with_(config, share),
        without_(without_lane(config), share) {}

  void send(const std::vector<PacketPtr>& packets) {
    expect_same(with_.send_burst(copies(packets, with_)),
                without_.send_burst(copies(packets, without_)));
  }
  void advance(Duration by) { expect_same(with_.advance(by), without_.advance(by)); }
  void set_port_up(PortIndex port, bool up) {
    with_.device().set_port_up(port, up);
    without_.device().set_port_up(port, up);
  }
  void reconfigure(const switching::SwitchConfig& config) {
    owners_ = switching::Owners(config, cores_);
    with_.device().reconfigure(config);
    without_.device().reconfigure(without_lane(config));
  }
  // Learns updates as if another core had sent them.
  void learn_updates() {
    for (auto* bench : {&with_, &without_}) {
      for (const auto& update : bench->table_updates) {
        bench->device().learn(*update, bench->now);
      }
      bench->table_updates.clear();
    }
  }
  const Ledger& ledger() const { return with_.ledger(); }

 private:
  static switching::SwitchConfig without_lane(switching::SwitchConfig config) {
    config.express_lane = false;
    return config;
  }
  PacketList copies(const std::vector<PacketPtr>& packets, SwitchBench& bench) const {
    PacketList burst;
    for (const auto& packet : packets) {
      auto copy = bench.pool.clone(*packet);
      owners_.core_of(*copy, 0);
      burst.push(std::move(copy));
    }
    return burst;
  }

  void expect_same(const std::vector<PacketPtr>& a, const std::vector<PacketPtr>& b) {
    expect_same_packets(a, b);
    expect_same_packets(with_.table_updates, without_.table_updates);
    expect_same_ledgers();
    expect_same_tables();
    EXPECT_EQ(with_.device().deadline(), without_.device().deadline());
  }
  static void expect_same_packets(const std::vector<PacketPtr>& a,
                                  const std::vector<PacketPtr>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i]->egress, b[i]->egress);
      EXPECT_EQ(a[i]->ingress, b[i]->ingress);
      EXPECT_EQ(a[i]->noted, b[i]->noted);
      EXPECT_TRUE(std::ranges::equal(a[i]->bytes(), b[i]->bytes()));
    }
  }
  void expect_same_ledgers() const {
    const auto& a = with_.ledger();
    const auto& b = without_.ledger();
    EXPECT_EQ(a.received, b.received);
    EXPECT_EQ(a.forwarded, b.forwarded);
    EXPECT_EQ(a.absorbed, b.absorbed);
    EXPECT_EQ(a.drops, b.drops);
    EXPECT_EQ(a.originated, b.originated);
    EXPECT_EQ(a.sent, b.sent);
    EXPECT_EQ(a.losses, b.losses);
  }
  void expect_same_tables() {
    const auto& a = with_.device();
    const auto& b = without_.device();
    const auto now = with_.now;
    EXPECT_EQ(a.table_sizes().fdb, b.table_sizes().fdb);
    EXPECT_EQ(a.table_sizes().arp, b.table_sizes().arp);
    EXPECT_TRUE(std::ranges::equal(a.fdb(now), b.fdb(now), [](const auto& x, const auto& y) {
      return std::tie(x.mac, x.vid, x.port, x.is_static, x.age) ==
             std::tie(y.mac, y.vid, y.port, y.is_static, y.age);
    }));
    EXPECT_TRUE(std::ranges::equal(a.arp(now), b.arp(now), [](const auto& x, const auto& y) {
      return std::tie(x.address, x.mac, x.interface, x.state, x.age) ==
             std::tie(y.address, y.mac, y.interface, y.state, y.age);
    }));
    EXPECT_TRUE(std::ranges::equal(a.routes(), b.routes(), [](const auto& x, const auto& y) {
      return std::tie(x.counters.evaded, x.counters.flowlets, x.counters.flowlets_moved) ==
             std::tie(y.counters.evaded, y.counters.flowlets, y.counters.flowlets_moved);
    }));
    for (PortIndex port = 0; port < ports; ++port) {
      EXPECT_EQ(a.addresses(port).learned, b.addresses(port).learned);
      EXPECT_EQ(a.addresses(port).refused, b.addresses(port).refused);
    }
  }

  unsigned cores_;
  switching::Owners owners_;
  SwitchBench with_;
  SwitchBench without_;
};

// `all` adds up the fates of packets in all runs of a test, which has to meet all kinds of them.
void run(unsigned seed, switching::CoreShare share, Ledger& all) {
  Draw draw(seed);
  const auto config = draw_config(draw);
  HeapPacketPool pool(128, 1024);
  Traffic traffic(draw, pool);
  Pair pair(config, share);
  for (int step = 0; step < 60 && !testing::Test::HasFailure(); ++step) {
    std::vector<PacketPtr> burst;
    for (auto count = draw.below(100); count > 0; --count) {
      burst.push_back(traffic.next());
    }
    pair.send(burst);
    if (draw.once_in(4)) {
      pair.advance(draw.once_in(2) ? 1ms * draw.below(50) : 1ms * draw.below(2500));
    }
    if (draw.once_in(8)) {
      pair.set_port_up(draw.below<PortIndex>(ports), draw.below(4) != 0);
    }
    if (draw.once_in(8)) {
      pair.learn_updates();
    }
    if (draw.once_in(20)) {
      auto other = draw_config(draw);
      const auto vlans = other.ports;
      other.ports = config.ports;
      for (std::size_t i = 0; i < vlans.size(); ++i) {
        other.ports[i].vlan = vlans[i].vlan;
      }
      other.bridge_address = config.bridge_address;
      other.fdb_capacity = config.fdb_capacity;
      pair.reconfigure(other);
    }
  }
  all += pair.ledger();
}

void expect_all_kinds(const Ledger& all) {
  using enum DropReason;
  EXPECT_GT(all.forwarded, all.received / 3) << "or the lane is not what is tested";
  for (const auto reason :
       {truncated, source_group_mac, other_mac, bridge_reserved, bridge_same_port,
        bridge_port_security, unknown_ethertype, ip_malformed, ip_checksum, ip_martian,
        ip_not_for_us, no_route, ttl_exceeded, fragmentation_needed, arp_malformed, local_unserved,
        port_down, vlan_not_allowed, vlan_untagged}) {
    EXPECT_GT(all.dropped(reason), 0u) << name_of(reason);
  }
}

TEST(ExpressLane, DoesWhatTheGeneralWayDoes) {
  Ledger all;
  for (unsigned seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run(seed, {0, 1}, all);
  }
  expect_all_kinds(all);
}

TEST(ExpressLane, DoesWhatTheGeneralWayDoesWithWhatOtherCoresNoted) {
  Ledger all;
  for (unsigned seed = 101; seed <= 140 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run(seed, {0, 2}, all);
  }
  expect_all_kinds(all);
}

}  // namespace
}  // namespace tributary::test
