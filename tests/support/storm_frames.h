// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "packet/pool.h"
#include "protocols/flare/engine/config.h"
#include "support/canary_packets.h"
#include "support/flare_packets.h"
#include "support/frames6.h"

namespace tributary::test {

// StormFrames are the frames of a storm: valid and damaged ones of all kinds, as a string of bytes
// says.
class StormFrames {
 public:
  StormFrames(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

 protected:
  static constexpr PortIndex ports = 4;
  static constexpr std::size_t packets = 48;  // so few that copies find no buffer now and then

  // With it, engines take packets over IPv6 whose addresses embed those of IPv4.
  static constexpr wire::EmbeddingPrefix prefix{0x20010db800640000, 0};

  static bool is_udp_over_ipv4(Packet& packet) {
    return ethernet_of(packet).type.value() == wire::ethertype::ipv4 &&
           packet.length >= 14 + sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader) &&
           ip_of(packet).version_ihl == 0x45 && ip_of(packet).protocol == wire::ip_protocol::udp;
  }
  static bool is_to_group_over_ipv6(Packet& packet) {
    return ethernet_of(packet).type.value() == wire::ethertype::ipv6 &&
           packet.length >= 14 + sizeof(wire::Ipv6Header) &&
           wire::EmbeddingPrefix::of(Ip6(ip6_of(packet).destination)) ==
               wire::EmbeddingPrefix::groups();
  }

  bool is_over() const { return at_ >= size_; }
  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }

  // The switch is the root of a tree or, for job 2, a leaf in it; its ports there are bridged and
  // routed.
  static flare::TreeConfig tree_of(std::uint8_t job) {
    flare::TreeConfig tree;
    tree.job = job;
    tree.group = Ip(239, 192, 0, job);
    tree.children = {0, 1, 2};
    tree.window = 2;
    tree.workers = tree.workers_below = 3;
    if (job == 2) {
      tree.parent = PortIndex{3};
      tree.workers = 6;
    }
    return tree;
  }

  // There are few addresses, so that frames meet: hosts, gateways, the switch, groups, strangers.
  Ip address() {
    static const Ip known[] = {Ip(10, 0, 0, 1),  Ip(10, 0, 0, 2),        Ip(10, 0, 2, 2),
                               Ip(10, 0, 3, 2),  Ip(10, 0, 255, 1),      Ip(10, 0, 0, 254),
                               Ip(10, 0, 2, 1),  Ip(10, 0, 20, 1),       Ip(10, 0, 2, 255),
                               Ip(224, 0, 0, 1), Ip(255, 255, 255, 255), Ip(),
                               Ip(127, 0, 0, 1), Ip(8, 8, 8, 8)};
    const auto choice = byte();
    return choice < std::size(known) ? known[choice] : Ip(10, 0, 2, choice);
  }
  wire::MacAddress any_mac() {
    const auto choice = byte();
    switch (choice % 8) {
      case 0:
        return wire::broadcast_mac;
      case 1:
        return wire::canary_group_mac;
      case 2:
        return {{0x01, 0x80, 0xc2, 0, 0, static_cast<std::uint8_t>(choice >> 3)}};
      case 3:
      case 4:
        return mac(static_cast<std::uint8_t>((choice >> 3) % ports), 0xee);
      default:
        return mac(static_cast<std::uint8_t>(choice >> 3));
    }
  }

  PacketPtr canary() {
    CanarySpec spec;
    const auto choice = byte();
    spec.encapsulation =
        (choice & 1) != 0 ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
    spec.kind = static_cast<wire::CanaryKind>(1 + ((choice >> 1) & 3) + (choice >> 7) * 3);
    spec.bypass = (choice & 8) != 0;
    spec.id = choice >> 4;
    spec.hosts = static_cast<std::uint16_t>(2 + byte() % 4);
    spec.counter = valid_counter(spec.kind, spec.hosts);
    spec.destination = address();
    spec.child_address = address();
    spec.switch_ipv4 = address();
    spec.source_mac = any_mac();
    spec.destination_mac = any_mac();
    spec.children = byte();
    spec.switch_address = 3;
    spec.ttl = byte();
    const std::size_t elements = byte() % 64;
    return make_canary(pool_, spec,
                       std::vector<std::int32_t>(is_without_payload(spec.kind) ? 0 : elements));
  }

  // Makes mostly a contribution, to one of few blocks.
  PacketPtr flare() {
    const auto choice = byte();
    const auto kind = (choice >> 1) & 7;
    const auto tree = tree_of(1 + (choice & 1));
    FlareSpec spec;
    spec.kind = kind < 5 ? wire::FlareKind::contribution : static_cast<wire::FlareKind>(kind - 3);
    spec.job = tree.job;
    spec.group = tree.group;
    spec.workers = tree.workers;
    spec.window = static_cast<std::uint16_t>(tree.window);
    spec.block = ((choice >> 4) & 3) + ((choice & 0x80) != 0 ? 8 : 0);
    spec.contributions = spec.kind == wire::FlareKind::result ? tree.workers : std::uint16_t{1};
    const auto how = byte();
    spec.run = 1 + (how >> 7);
    spec.retransmission = (how & 0x10) != 0;
    spec.answer = (how & 0x20) != 0;
    spec.source_mac = mac(how & 7);
    const bool has_elements = spec.kind <= wire::FlareKind::result;
    return make_flare(pool_, spec, std::vector<std::int32_t>(has_elements ? 1 + how % 2 : 0));
  }

  // Draws as address() does, with some addresses of one link.
  Ip6 address6() {
    static const Ip6 known[] = {ip6(0, 1),
                                ip6(0, 2),
                                ip6(2, 1),
                                ip6(2, 2),
                                ip6(3, 2),
                                ip6(20, 1),
                                ip6(20, 2),
                                wire::link_local_of(mac(0, 0xee)),
                                wire::link_local_of(mac(2, 0xee)),
                                wire::link_local_of(mac(5)),
                                wire::all_nodes,
                                wire::solicited_nodes(ip6(2, 1)),
                                wire::solicited_nodes(ip6(0, 1)),
                                Ip6::of_halves(0, 1),
                                Ip6(),
                                Ip6(Ip(10, 0, 0, 1))};
    const auto choice = byte();
    return choice < std::size(known) ? known[choice] : ip6(choice % 32, choice);
  }

  PacketPtr plain_ipv6(std::uint8_t kind) {
    const auto source = any_mac();
    const auto destination = any_mac();
    const auto from = address6();
    const Endpoints6 ends{source, destination, from, address6()};
    switch (kind) {
      case 0:
        return make_echo6(pool_, ends, byte());
      case 1:
        return make_udp6(pool_, ends, 1000, byte(), byte() * std::size_t{5});
      case 2: {
        const auto target = address6();
        return target.is_unspecified() ? make_router_solicitation(pool_, source, from)
                                       : make_solicitation(pool_, source, from, target);
      }
      default:
        return make_neighbour(pool_, wire::Icmp6Header::neighbour_advertisement, ends, address6(),
                              std::uint32_t{byte()} << 24);
    }
  }

  PacketPtr ipv6() {
    static const std::uint8_t types[] = {wire::ipv6_next::hop_by_hop, wire::ipv6_next::routing,
                                         wire::ipv6_next::destination_options,
                                         wire::ipv6_next::fragment};
    const auto choice = byte();
    auto packet = plain_ipv6(choice & 3);
    for (auto left = (choice >> 2) % 4; left > 0 && pool_.outstanding() + 1 < packets; --left) {
      packet = extended(pool_, *packet, types[(choice >> 4) % std::size(types)]);
    }
    if ((choice >> 6) == 3) {
      ip6_of(*packet).hop_limit = byte();
    }
    return packet;
  }

  PacketPtr frame() {
    const auto kind = byte() % 8;
    if (kind == 4) {
      return canary();
    }
    if (kind == 5) {
      return flare();
    }
    if (kind > 5) {
      return ipv6();
    }
    const auto source = any_mac();
    const auto destination = any_mac();
    const auto from = address();
    const Endpoints ends{source, destination, from, address()};
    switch (kind) {
      case 0:
        return make_arp(pool_, 1 + byte() % 2, ends);
      case 1:
        return make_echo(pool_, ends, byte());
      case 2:
        return make_udp(pool_, ends, 1000, byte(), byte() * std::size_t{5});
      default:
        return make_frame(pool_, destination, source, 0x0800, byte());
    }
  }

  // Flips bytes, cuts or stretches the frame; most frames stay whole.
  void damage(Packet& packet) {
    for (auto times = byte() % 8 - 4; times > 0; --times) {
      const auto at = byte();
      const auto value = byte();
      if (at == 0xff) {
        packet.length = value < packet.length ? value : packet.length;
      } else if (at < packet.length) {
        packet.data()[at] = std::byte{value};
      }
    }
    if ((byte() & 1) != 0 && packet.length >= 34) {
      wire::finish_ipv4(ip_of(packet));
    }
  }

  // There are few VLANs, so that frames meet: two that are carried, none, one that is not and one
  // that cannot be.
  PacketPtr in_vlan(PacketPtr packet) {
    static const std::uint16_t vids[] = {0, 10, 20, 30, 4095};
    const auto choice = byte();
    return tagged(std::move(packet), unsigned{choice} >> 5 << wire::vlan_priority_shift |
                                         vids[choice % std::size(vids)]);
  }

  HeapPacketPool pool_{packets, 1500};

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

}  // namespace tributary::test
