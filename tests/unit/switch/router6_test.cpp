// SPDX-License-Identifier: BSD-3-Clause
#include "switch/router6.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "support/frames6.h"
#include "unit/switch/vlan_ports.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using wire::Icmp6Header;

const auto own6_a = ip6(1, 1);
const auto own6_b = ip6(2, 1);
const auto host6_a = ip6(1, 9);
const auto host6_b = ip6(2, 9);
const auto port_mac_a = mac(0, 0xee);
const auto port_mac_b = mac(1, 0xee);
const Endpoints6 a_to_b6{mac(1), port_mac_a, host6_a, host6_b};

forwarding::PortConfig port6(std::string name, std::uint8_t number, const Ip6& address) {
  auto port = bridged_port(std::move(name), number);
  port.address6 = forwarding::InterfaceAddress6{address, 64};
  return port;
}

switching::SwitchConfig two_ports6() {
  switching::SwitchConfig config;
  config.id = 1;
  config.table_seed = 1;
  config.ports = {port6("a", 0, own6_a), port6("b", 1, own6_b)};
  config.neighbours6 = {{host6_a, mac(1)}, {host6_b, mac(2)}};
  return config;
}

const Icmp6Header& icmp6_of(Packet& packet) {
  EXPECT_TRUE(has_right_icmp6_checksum(packet));
  EXPECT_EQ(ip6_of(packet).next_header, wire::ipv6_next::icmp);
  return l4_header6<Icmp6Header>(packet);
}

TEST(Router6, ForwardsBetweenPorts) {
  for (const bool express : {true, false}) {
    auto config = two_ports6();
    config.express_lane = express;
    SwitchBench bench(config);
    const auto before = make_udp6(bench.pool, a_to_b6, 5, 6, 1);
    auto out = bench.send(0, bench.pool.clone(*before));
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0]->egress, 1);
    EXPECT_EQ(ethernet_of(*out[0]).destination, mac(2));
    EXPECT_EQ(ethernet_of(*out[0]).source, port_mac_b);
    EXPECT_EQ(ip6_of(*out[0]).hop_limit, 63);
    ip6_of(*out[0]).hop_limit = 64;
    EXPECT_TRUE(std::ranges::equal(out[0]->bytes().subspan(14), before->bytes().subspan(14)));
    EXPECT_EQ(bench.ledger().forwarded, 1u);
  }
}

TEST(Router6, CarriesNoMoreThanPaddingAlong) {
  SwitchBench bench(two_ports6());
  auto packet = make_udp6(bench.pool, a_to_b6, 5, 6, 0);
  packet->length += 40;
  EXPECT_EQ(bench.send(0, std::move(packet)).at(0)->length, 14u + 40 + 8);
}

TEST(Router6, PortsWithoutAnAddressOfThisVersionDoNotSpeakIt) {
  for (const bool express : {true, false}) {
    auto config = two_ports6();
    config.express_lane = express;
    config.ports[0] = routed_port("a", 0, Ip(10, 1, 1, 1));
    config.arp = {{Ip(10, 1, 1, 9), mac(1)}};
    SwitchBench bench(config);
    EXPECT_TRUE(bench.send(0, make_udp6(bench.pool, a_to_b6, 5, 6)).empty());
    EXPECT_EQ(bench.drops(DropReason::unknown_ethertype), 1u);
    for (const auto& to : {Ip(10, 1, 1, 1), Ip(10, 1, 1, 9)}) {
      const Endpoints only4{mac(2), port_mac_b, Ip(10, 2, 2, 2), to};
      EXPECT_TRUE(bench.send(1, make_udp(bench.pool, only4, 5, 6)).empty());
    }
    EXPECT_EQ(bench.drops(DropReason::local_unserved), 2u);
  }
}

TEST(Router6, LongestPrefixesWin) {
  auto config = two_ports6();
  config.ports.push_back(port6("c", 2, ip6(3, 1)));
  config.neighbours6.push_back({ip6(3, 9), mac(3)});
  config.routes6 = {{{Ip6(), 0}, {host6_b}},
                    {{Ip6::of_halves(0x20010db800070000, 0), 48}, {ip6(3, 9)}},
                    {{ip6(7, 5), 128}, {host6_b}}};
  SwitchBench bench(config);
  const auto way_to = [&](const Ip6& destination) {
    auto out =
        bench.send(0, make_udp6(bench.pool, {mac(1), port_mac_a, host6_a, destination}, 5, 6));
    return out.size() == 1 ? out[0]->egress : no_port;
  };
  EXPECT_EQ(way_to(Ip6::of_halves(0x2606470000000000, 1)), 1) << "the default route";
  EXPECT_EQ(way_to(ip6(7, 4)), 2);
  EXPECT_EQ(way_to(ip6(7, 5)), 1);
  EXPECT_EQ(way_to(ip6(7, 6)), 2);
  EXPECT_EQ(way_to(Ip6::of_halves(0x20010db80007ffff, ~std::uint64_t{0})), 2);
  EXPECT_EQ(way_to(Ip6::of_halves(0x20010db800080000, 0)), 1);
  EXPECT_EQ(way_to(ip6(3, 9)), 2);
  const auto rows = bench.device().routes6();
  EXPECT_EQ(rows.size(), 6u) << "three connected ones";
}

TEST(Router6, FlowsAreSpreadAndStayTogether) {
  auto config = two_ports6();
  config.ports.push_back(port6("c", 2, ip6(3, 1)));
  config.neighbours6.push_back({ip6(3, 9), mac(3)});
  config.routes6 = {{{Ip6(), 0}, {host6_b, ip6(3, 9)}}};
  SwitchBench bench(config);
  const Endpoints6 far{mac(1), port_mac_a, host6_a, Ip6::of_halves(0x2606470000000000, 1)};
  std::vector<std::size_t> by(3);
  for (std::uint16_t port = 0; port < 400; ++port) {
    const auto first = bench.send(0, make_udp6(bench.pool, far, 1000, port)).at(0)->egress;
    EXPECT_EQ(bench.send(0, make_udp6(bench.pool, far, 1000, port)).at(0)->egress, first);
    ++by[first];
  }
  EXPECT_GT(by[1], 120u);
  EXPECT_GT(by[2], 120u);
  bench.device().set_port_up(1, false);
  for (std::uint16_t port = 0; port < 20; ++port) {
    EXPECT_EQ(bench.send(0, make_udp6(bench.pool, far, 1000, port)).at(0)->egress, 2);
  }
  bench.device().set_port_up(2, false);
  auto errors = bench.send(0, make_udp6(bench.pool, far, 1000, 1));
  EXPECT_EQ(bench.drops(DropReason::next_hops_down), 1u);
  EXPECT_EQ(icmp6_of(*errors.at(0)).type, Icmp6Header::unreachable);
}

// As over IPv4, where switches of a level that know of the failure and those that do not yet choose
// the same root for most blocks.
TEST(Router6, OnlyFlowsOfAHopThatFailedMove) {
  auto config = two_ports6();
  std::vector<Ip6> hops{host6_b};
  for (std::uint8_t i = 3; i < 5; ++i) {
    config.ports.push_back(port6(std::string(1, static_cast<char>('a' + i)),
                                 static_cast<std::uint8_t>(i - 1), ip6(i, 1)));
    config.neighbours6.push_back({ip6(i, 9), mac(i)});
    hops.push_back(ip6(i, 9));
  }
  config.routes6 = {{{Ip6(), 0}, hops}};
  SwitchBench bench(config);
  const Endpoints6 far{mac(1), port_mac_a, host6_a, Ip6::of_halves(0x2606470000000000, 1)};
  const auto way_of = [&](std::uint16_t port) {
    return bench.send(0, make_udp6(bench.pool, far, 1000, port)).at(0)->egress;
  };
  std::vector<PortIndex> before;
  for (std::uint16_t port = 0; port < 100; ++port) {
    before.push_back(way_of(port));
  }
  bench.device().set_port_up(2, false);
  for (std::uint16_t port = 0; port < 100; ++port) {
    const auto after = way_of(port);
    EXPECT_NE(after, 2);
    EXPECT_TRUE(before[port] == 2 || after == before[port]) << port;
  }
}

TEST(Router6, FlowsAreSelectedAsConfigured) {
  auto config = two_ports6();
  config.ports.push_back(port6("c", 2, ip6(3, 1)));
  config.neighbours6.push_back({ip6(3, 9), mac(3)});
  config.routes6 = {{{Ip6(), 0}, {host6_b, ip6(3, 9)}, forwarding::Policy::adaptive}};
  SwitchBench bench(config);
  const Endpoints6 far{mac(1), port_mac_a, host6_a, Ip6::of_halves(0x2606470000000000, 1)};
  const auto way_of = [&](std::uint16_t port) {
    return bench.send(0, make_udp6(bench.pool, far, 1000, port)).at(0)->egress;
  };
  const auto usual = way_of(0);
  for (std::uint16_t port = 1; port < 20; ++port) {
    EXPECT_EQ(way_of(port), usual) << "by the destination alone";
  }
  bench.gauges[usual].publish_bytes(config.ports[usual].queue.capacity_bytes);
  EXPECT_NE(way_of(0), usual);
  const auto row = bench.device().routes6().front();
  EXPECT_EQ(row.policies.ordinary, forwarding::Policy::adaptive);
  EXPECT_EQ(row.policies.reduction, forwarding::Policy::adaptive);
  bench.device().reconfigure(config);
  const auto rows = bench.device().routes6();
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const auto& each) {
    return each.counters.evaded == 1;
  })) << "counters go on";
}

TEST(Router6, AnswersEcho) {
  SwitchBench bench(two_ports6());
  const auto link_a = wire::link_local_of(port_mac_a);
  const auto link_host = wire::link_local_of(mac(1));
  bench.send(0, make_solicitation(bench.pool, mac(1), link_host, link_a));
  for (const auto& [from, to] :
       {std::pair{host6_a, own6_a}, {host6_a, own6_b}, {link_host, link_a}, {link_host, own6_a}}) {
    auto out = bench.send(0, make_echo6(bench.pool, {mac(1), port_mac_a, from, to}));
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0]->egress, 0);
    EXPECT_EQ(ethernet_of(*out[0]).destination, mac(1));
    EXPECT_EQ(icmp6_of(*out[0]).type, Icmp6Header::echo_reply);
    EXPECT_EQ(icmp6_of(*out[0]).rest.value(), 0x12340001u);
    EXPECT_EQ(Ip6(ip6_of(*out[0]).source), to);
    EXPECT_EQ(Ip6(ip6_of(*out[0]).destination), from);
    EXPECT_EQ(ip6_of(*out[0]).hop_limit, 64);
  }
  auto damaged = make_echo6(bench.pool, {mac(1), port_mac_a, host6_a, own6_a});
  payload6_of(*damaged)[20] = std::byte{1};
  EXPECT_TRUE(bench.send(0, std::move(damaged)).empty());
  EXPECT_EQ(bench.drops(DropReason::icmp6_malformed), 1u);
}

TEST(Router6, LooksBehindExtensionHeadersOfWhatIsForItself) {
  SwitchBench bench(two_ports6());
  const Endpoints6 ping{mac(1), port_mac_a, host6_a, own6_a};
  auto plain = make_echo6(bench.pool, ping);
  auto with_options = extended(bench.pool, *plain, wire::ipv6_next::destination_options);
  auto with_both = extended(bench.pool, *with_options, wire::ipv6_next::hop_by_hop);
  auto out = bench.send(0, bench.pool.clone(*with_both));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(icmp6_of(*out[0]).type, Icmp6Header::echo_reply);
  EXPECT_EQ(out[0]->length, plain->length);
  EXPECT_TRUE(std::ranges::equal(payload6_of(*out[0]).subspan(8), payload6_of(*plain).subspan(8)));

  l4_header6<wire::Ipv6Extension>(*with_both).length = 200;
  EXPECT_TRUE(bench.send(0, std::move(with_both)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip6_malformed), 1u);
  auto routed = extended(bench.pool, *plain, wire::ipv6_next::routing);
  l4_header6<wire::Ipv6Extension>(*routed).segments_left = 1;
  EXPECT_EQ(icmp6_of(*bench.send(0, std::move(routed)).at(0)).type, Icmp6Header::parameter_problem);
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u);
  auto endless = std::move(plain);
  for (int i = 0; i < 9; ++i) {
    endless = extended(bench.pool, *endless, wire::ipv6_next::destination_options);
  }
  EXPECT_TRUE(bench.send(0, std::move(endless)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip6_malformed), 2u);
}

TEST(Router6, PassesExtensionHeadersOver) {
  SwitchBench bench(two_ports6());
  const auto plain = make_udp6(bench.pool, a_to_b6, 5, 6);
  for (const auto type : {wire::ipv6_next::hop_by_hop, wire::ipv6_next::routing,
                          wire::ipv6_next::fragment, std::uint8_t{200}}) {
    EXPECT_EQ(bench.send(0, extended(bench.pool, *plain, type)).size(), 1u) << int{type};
  }
}

TEST(Router6, TellsOfTheHopLimit) {
  SwitchBench bench(two_ports6());
  auto late = make_udp6(bench.pool, a_to_b6, 5, 6);
  ip6_of(*late).hop_limit = 1;
  const auto quoted = bench.pool.clone(*late);
  auto errors = bench.send(0, std::move(late));
  EXPECT_EQ(bench.drops(DropReason::hop_limit_exceeded), 1u);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0]->egress, 0);
  EXPECT_EQ(icmp6_of(*errors[0]).type, Icmp6Header::time_exceeded);
  EXPECT_EQ(icmp6_of(*errors[0]).code, 0);
  EXPECT_EQ(Ip6(ip6_of(*errors[0]).source), own6_a);
  EXPECT_EQ(Ip6(ip6_of(*errors[0]).destination), host6_a);
  EXPECT_TRUE(std::ranges::equal(payload6_of(*errors[0]).subspan(8), quoted->bytes().subspan(14)));
}

TEST(Router6, TellsOfTheMtuAndQuotesWhatFits) {
  auto config = two_ports6();
  config.ports[1].mtu = 1280;
  SwitchBench bench(config);
  EXPECT_EQ(bench.send(0, make_udp6(bench.pool, a_to_b6, 5, 6, 1280 - 48)).at(0)->egress, 1);
  auto errors = bench.send(0, make_udp6(bench.pool, a_to_b6, 5, 6, 1280 - 47));
  EXPECT_EQ(bench.drops(DropReason::packet_too_big), 1u);
  EXPECT_EQ(icmp6_of(*errors.at(0)).type, Icmp6Header::packet_too_big);
  EXPECT_EQ(icmp6_of(*errors[0]).rest.value(), 1280u);
  EXPECT_EQ(errors[0]->length, 14u + 1280);
}

TEST(Router6, TellsThatThereIsNoRouteOrService) {
  SwitchBench bench(two_ports6());
  const Endpoints6 nowhere{mac(1), port_mac_a, host6_a, ip6(77, 1)};
  auto errors = bench.send(0, make_udp6(bench.pool, nowhere, 5, 6));
  EXPECT_EQ(bench.drops(DropReason::ip6_no_route), 1u);
  EXPECT_EQ(icmp6_of(*errors.at(0)).type, Icmp6Header::unreachable);
  EXPECT_EQ(icmp6_of(*errors[0]).code, 0);
  const Endpoints6 itself{mac(1), port_mac_a, host6_a, own6_a};
  errors = bench.send(0, make_udp6(bench.pool, itself, 5, 6));
  EXPECT_EQ(icmp6_of(*errors.at(0)).code, 4);
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u);
  const Endpoints6 at_its_other_port{mac(1), port_mac_a, host6_a, own6_b};
  errors = bench.send(0, make_udp6(bench.pool, at_its_other_port, 5, 6));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(Ip6(ip6_of(*errors[0]).source), own6_b) << "the address that was asked";
}

TEST(Router6, TellsWhereItDoesNotKnowTheNextHeader) {
  SwitchBench bench(two_ports6());
  const Endpoints6 itself{mac(1), port_mac_a, host6_a, own6_a};
  const auto plain = make_ip6(bench.pool, itself, 89, 16);
  const auto with_options = extended(bench.pool, *plain, wire::ipv6_next::destination_options);
  const auto with_both = extended(bench.pool, *with_options, wire::ipv6_next::hop_by_hop);
  const auto echo = make_echo6(bench.pool, itself);
  const auto part = extended(bench.pool, *echo, wire::ipv6_next::fragment);
  const std::pair<const PacketPtr&, std::uint32_t> said[] = {
      {plain, 6}, {with_options, 40}, {with_both, 48}, {part, 6}};
  for (const auto& [packet, at] : said) {
    auto errors = bench.send(0, bench.pool.clone(*packet));
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(icmp6_of(*errors[0]).type, Icmp6Header::parameter_problem);
    EXPECT_EQ(icmp6_of(*errors[0]).code, 1);
    EXPECT_EQ(icmp6_of(*errors[0]).rest.value(), at);
  }
  EXPECT_TRUE(bench.send(0, make_ip6(bench.pool, itself, wire::ipv6_next::nothing, 0)).empty());
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 5u);
}

TEST(Router6, TellsNobodyOfErrorsAboutErrors) {
  SwitchBench bench(two_ports6());
  const Endpoints6 nowhere{mac(1), port_mac_a, host6_a, ip6(77, 1)};
  for (const std::uint8_t type : {std::uint8_t{1}, std::uint8_t{3}, Icmp6Header::redirect}) {
    auto error = make_echo6(bench.pool, nowhere);
    l4_header6<Icmp6Header>(*error).type = type;
    EXPECT_TRUE(bench.send(0, std::move(error)).empty()) << int{type};
  }
  EXPECT_EQ(bench.send(0, make_echo6(bench.pool, nowhere)).size(), 1u);
  for (int i = 0; i < 100; ++i) {
    bench.send(0, make_echo6(bench.pool, nowhere));
  }
  EXPECT_EQ(bench.ledger().sent, 50u) << "so many at once";
}

TEST(Router6, LinkLocalStaysOnItsLink) {
  SwitchBench bench(two_ports6());
  const auto link_host = wire::link_local_of(mac(1));
  bench.send(0, make_solicitation(bench.pool, mac(1), link_host, own6_a));
  const Endpoints6 out_of_it{mac(1), port_mac_a, link_host, host6_b};
  auto errors = bench.send(0, make_udp6(bench.pool, out_of_it, 5, 6));
  EXPECT_EQ(bench.drops(DropReason::ip6_scope), 1u);
  EXPECT_EQ(icmp6_of(*errors.at(0)).code, 2);
  EXPECT_EQ(Ip6(ip6_of(*errors[0]).source), wire::link_local_of(port_mac_a));
  const Endpoints6 onto_it{mac(1), port_mac_a, host6_a, wire::link_local_of(mac(2))};
  EXPECT_TRUE(bench.send(0, make_udp6(bench.pool, onto_it, 5, 6)).empty());
  const Endpoints6 of_the_other{mac(1), port_mac_a, host6_a, wire::link_local_of(port_mac_b)};
  EXPECT_TRUE(bench.send(0, make_udp6(bench.pool, of_the_other, 5, 6)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip6_scope), 3u);
}

TEST(Router6, DropsWhatNoPacketOnALinkHas) {
  SwitchBench bench(two_ports6());
  const auto loopback = Ip6::of_halves(0, 1);
  const Ip6 mapped(Ip(10, 0, 0, 1));
  const auto wrong = Ip6::of_halves(0xfe80000000000001, 7);
  for (const auto& [from, to] : {std::pair{loopback, host6_b},
                                 {host6_a, loopback},
                                 {wire::all_nodes, host6_b},
                                 {mapped, host6_b},
                                 {host6_a, mapped},
                                 {wrong, own6_a},
                                 {host6_a, wrong},
                                 {Ip6(), host6_b},
                                 {Ip6(), own6_a},
                                 {host6_a, Ip6()}}) {
    EXPECT_TRUE(bench.send(0, make_udp6(bench.pool, {mac(1), port_mac_a, from, to}, 5, 6)).empty());
  }
  EXPECT_EQ(bench.drops(DropReason::ip6_martian), 10u);
}

TEST(Router6, DropsWhatIsForGroups) {
  SwitchBench bench(two_ports6());
  const auto group_mac = wire::group_mac_of(wire::all_nodes);
  EXPECT_TRUE(
      bench.send(0, make_udp6(bench.pool, {mac(1), group_mac, host6_a, wire::all_nodes}, 5, 6))
          .empty());
  EXPECT_TRUE(
      bench.send(0, make_udp6(bench.pool, {mac(1), group_mac, host6_a, host6_b}, 5, 6)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_not_for_us), 2u);
  EXPECT_TRUE(bench.send(0, make_echo6(bench.pool, {mac(1), group_mac, host6_a, own6_a})).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_not_for_us), 3u);
}

TEST(Router6, DropsCutPackets) {
  SwitchBench bench(two_ports6());
  for (const std::uint32_t bytes : {14u, 53u, 93u}) {
    auto cut = make_udp6(bench.pool, a_to_b6, 5, 6);
    cut->length = bytes;
    EXPECT_TRUE(bench.send(0, std::move(cut)).empty());
  }
  auto wrong = make_udp6(bench.pool, a_to_b6, 5, 6);
  ip6_of(*wrong).version_class_flow[0] = 0x40;
  EXPECT_TRUE(bench.send(0, std::move(wrong)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip6_malformed), 4u);
}

TEST(Router6, RoutesBetweenVlans) {
  auto config = four_ports();
  config.bridge_address6 = forwarding::InterfaceAddress6{own6_a, 64};
  config.vlans = {{20, std::nullopt, forwarding::InterfaceAddress6{own6_b, 64}}};
  SwitchBench bench(config);
  EXPECT_EQ(sent(bench.send(access_10, make_solicitation(bench.pool, mac(1), host6_a, own6_a))),
            (Exits{{access_10, no_tag}}))
      << "nobody else is asked";
  EXPECT_EQ(sent(bench.send(access_10, make_solicitation(bench.pool, mac(1), host6_a, ip6(1, 5)))),
            (Exits{{trunk, 10}, {native, no_tag}}));
  EXPECT_EQ(
      sent(bench.send(trunk, tagged(make_solicitation(bench.pool, mac(2), host6_b, own6_b), 20))),
      (Exits{{trunk, 20}}));
  EXPECT_EQ(sent(bench.send(access_10, make_udp6(bench.pool, a_to_b6, 5, 6))),
            (Exits{{trunk, 20}}));
  auto marked = make_udp6(bench.pool, a_to_b6, 5, 6);
  ip6_of(*marked).version_class_flow[0] = 0x6a;  // class selector 5
  EXPECT_EQ(sent(bench.send(access_10, std::move(marked))), (Exits{{trunk, priority(5) | 20}}));
  const Endpoints6 unknown{mac(1), port_mac_a, host6_a, ip6(2, 77)};
  EXPECT_EQ(sent(bench.send(access_10, make_udp6(bench.pool, unknown, 5, 6))),
            (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}))
      << "all of the VLAN are asked";
  EXPECT_EQ(bench.device().vlans().at(0).counters.tx_packets, 4u);
}

TEST(Router6, AReloadMovesRoutes) {
  auto config = two_ports6();
  SwitchBench bench(config);
  const Endpoints6 far{mac(1), port_mac_a, host6_a, ip6(77, 1)};
  EXPECT_EQ(bench.send(0, make_udp6(bench.pool, far, 5, 6)).at(0)->egress, 0) << "an error";
  config.routes6 = {{{Ip6(), 0}, {host6_b}}};
  bench.device().reconfigure(config);
  EXPECT_EQ(bench.send(0, make_udp6(bench.pool, far, 5, 6)).at(0)->egress, 1);
}

}  // namespace
}  // namespace tributary::test
