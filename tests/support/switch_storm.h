// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "packet/list.h"
#include "packet/pool.h"
#include "protocols/canary/engine/config.h"
#include "support/canary_packets.h"
#include "support/frames6.h"
#include "switch/switch.h"

namespace tributary::test {

// Drives a switch that bridges, routes and aggregates with whatever a string of bytes says: valid
// and damaged frames, time, ports that go down, reconfiguration. Aborts if the ledger does not
// balance after a step or if a packet is missing at the end. For the fuzzer and the unit tests.
class SwitchStorm {
 public:
  SwitchStorm(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  void run() {
    {
      switching::Switch device(config_, {0, 2}, pool_);
      while (at_ < size_) {
        step(device);
        check(device.ledger().balanced());
      }
      check(device.fdb(now_).size() <= config_.fdb_capacity + config_.ports.size() + 2);
    }
    table_updates_.clear();
    check(pool_.outstanding() == 0);
  }

 private:
  static constexpr PortIndex ports = 4;

  static void check(bool holds) {
    if (!holds) {
      std::abort();
    }
  }

  static switching::SwitchConfig make_config() {
    switching::SwitchConfig config;
    config.id = 3;
    config.address = Ip(10, 0, 255, 1);
    config.bridge_address = forwarding::InterfaceAddress{Ip(10, 0, 0, 254), 24};
    config.fdb_capacity = 8;
    config.fdb_ageing = std::chrono::seconds(4);
    config.arp_timeout = std::chrono::seconds(4);
    config.ports.resize(ports);
    for (PortIndex i = 0; i < ports; ++i) {
      config.ports[i].name = std::string(1, static_cast<char>('a' + i));
      config.ports[i].mac = mac(static_cast<std::uint8_t>(i), 0xee);
    }
    config.ports[2].address = forwarding::InterfaceAddress{Ip(10, 0, 2, 1), 24};
    config.ports[3].address = forwarding::InterfaceAddress{Ip(10, 0, 3, 1), 30};
    config.ports[3].mtu = 576;
    config.routes = {{{Ip(), 0}, {Ip(10, 0, 2, 2), Ip(10, 0, 3, 2)}}};
    config.bridge_address6 = forwarding::InterfaceAddress6{ip6(0, 1), 64};
    config.ports[2].address6 = forwarding::InterfaceAddress6{ip6(2, 1), 64};
    config.ports[3].address6 = forwarding::InterfaceAddress6{ip6(3, 1), 126};
    config.routes6 = {{{Ip6(), 0}, {ip6(2, 2), ip6(3, 2)}}};
    config.neighbours6 = {{ip6(3, 2), mac(32)}};
    config.fdb = {{mac(5), "b"}};
    config.arp = {{Ip(10, 0, 3, 2), mac(32)}};
    config.protocols.emplace<canary::CanaryConfig>({});
    config.protocols.get<canary::CanaryConfig>().descriptors = 4;
    config.protocols.get<canary::CanaryConfig>().hash_seed = 1;
    return config;
  }

  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }

  // Few addresses, so that frames meet: hosts, gateways, the switch, groups, strangers.
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

  // As address(), with some of one link.
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
      case 2:
        return make_solicitation(pool_, source, from, address6());
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
    if (kind > 4) {
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

  // Flips bytes, cuts or stretches.
  void damage(Packet& packet) {
    for (auto times = byte() % 4; times > 0; --times) {
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

  // With few VLANs, so that frames meet: two that are carried, none, one that is not and one that
  // cannot be.
  PacketPtr in_vlan(PacketPtr packet) {
    static const std::uint16_t vids[] = {0, 10, 20, 30, 4095};
    const auto choice = byte();
    return tagged(std::move(packet), unsigned{choice} >> 5 << wire::vlan_priority_shift |
                                         vids[choice % std::size(vids)]);
  }

  // Off, an access port beside a trunk, or two trunks of which one has a VLAN without a tag.
  void set_vlans(unsigned choice) {
    auto& first = config_.ports[0].vlan;
    auto& second = config_.ports[1].vlan;
    first = {};
    second = {};
    config_.bridge_vlan = 0;
    config_.vlans.clear();
    if (choice == 0) {
      return;
    }
    first.untagged = 10;
    second.tagged.ranges = {{10, 10}, {20, 20}};
    if (choice > 1) {
      first.tagged.ranges = {{20, 20}};
      config_.bridge_vlan = choice == 2 ? 10 : 20;
      const std::uint16_t other = choice == 2 ? 20 : 10;
      config_.vlans = {{other, forwarding::InterfaceAddress{Ip(10, 0, 20, 1), 24},
                        forwarding::InterfaceAddress6{ip6(20, 1), 64}}};
    }
  }

  void receive(switching::Switch& device) {
    PacketList burst;
    for (auto count = 1 + byte() % 3; count > 0; --count) {
      if (pool_.outstanding() + 3 >= packets) {
        break;
      }
      auto packet = frame();
      if (packet) {
        damage(*packet);
        const auto ingress = byte();
        for (auto tags = ingress >> 6; tags > 0; --tags) {
          packet = in_vlan(std::move(packet));
        }
        packet->ingress = ingress % (ports + 1);
        burst.push(std::move(packet));
      }
    }
    switching::Output out;
    device.receive(std::move(burst), now_, out);
    settle(std::move(out));
  }

  void settle(switching::Output out) {
    out.departures.drain([](std::uint32_t egress, PacketList run) {
      check(egress < ports);
      while (const auto packet = run.pop()) {
        check(packet->egress == egress && packet->length >= sizeof(wire::EthernetHeader));
      }
    });
    table_updates_ = std::move(out.table_updates);
  }

  void step(switching::Switch& device) {
    const auto command = byte();
    switch (command % 8) {
      case 0: {
        now_ += std::chrono::milliseconds(1 << (command >> 5));
        switching::Output out;
        device.expire(now_, out);
        settle(std::move(out));
        break;
      }
      case 1:
        device.set_port_up((command >> 4) % ports, (command & 8) != 0);
        break;
      case 2:
        set_vlans((command >> 4) & 3);
        config_.routes[0].via.resize(1 + (command >> 7), Ip(10, 0, 3, 2));
        config_.protocols.get<canary::CanaryConfig>().descriptors = (command & 0x40) != 0 ? 4 : 8;
        device.reconfigure(config_);
        break;
      case 3:
        while (const auto update = table_updates_.pop()) {
          device.learn(*update, now_);
        }
        break;
      default:
        receive(device);
    }
  }

  static constexpr std::size_t packets = 48;  // so few that copies find no buffer now and then

  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
  HeapPacketPool pool_{packets, 1500};
  switching::SwitchConfig config_ = make_config();
  PacketList table_updates_;
  Time now_ = Time{} + std::chrono::seconds(1);
};

}  // namespace tributary::test
