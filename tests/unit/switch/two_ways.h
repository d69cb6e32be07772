// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <optional>
#include <set>

#include "unit/switch/bfd_neighbour.h"

namespace tributary::test {

inline const Ip here(10, 9, 1, 1);
inline const Ip there(10, 9, 1, 2);
inline const Ip elsewhere(10, 9, 2, 2);
inline const auto our_mac = mac(1, 0xee);
inline const auto their_mac = mac(1, 0xdd);

// Hosts behind port 0, and a default route over two next hops on ports 1 and 2.
inline switching::SwitchConfig two_ways(std::optional<forwarding::BfdConfig> bfd) {
  switching::SwitchConfig config;
  config.id = 1;
  config.ports = {routed_port("h", 0, Ip(10, 1, 1, 1)), routed_port("a", 1, here, 30),
                  routed_port("b", 2, Ip(10, 9, 2, 1), 30)};
  config.routes = {{{Ip(), 0}, {there, elsewhere}}};
  config.arp = {{there, their_mac}, {elsewhere, mac(2, 0xdd)}};
  config.bfd = bfd;
  return config;
}
inline const forwarding::BfdConfig usual{std::chrono::milliseconds(100), 3};

// The neighbour at `there`.
class Neighbour : public BfdNeighbour {
 public:
  explicit Neighbour(SwitchBench& bench) : BfdNeighbour(bench, usual) {}

  PacketPtr frame(const wire::BfdHeader& header) override {
    auto packet = make_udp(bench_.pool, {their_mac, our_mac, there, here}, 50000, wire::bfd_port,
                           sizeof header);
    std::memcpy(l4_of(*packet).data() + sizeof(wire::UdpHeader), &header, sizeof header);
    set_ttl(*packet, 255);
    return packet;
  }
  static void set_ttl(Packet& packet, std::uint8_t ttl) {
    ip_of(packet).ttl = ttl;
    wire::finish_ipv4(ip_of(packet));
    auto& udp = l4_header<wire::UdpHeader>(packet);
    udp.checksum = std::uint16_t{0};
    udp.checksum = wire::transport_checksum(ip_of(packet), l4_of(packet));
  }

 private:
  const wire::BfdHeader* heard(Packet& packet) const override {
    const bool is_bfd =
        ethernet_of(packet).type.value() == wire::ethertype::ipv4 &&
        ip_of(packet).protocol == wire::ip_protocol::udp &&
        l4_header<wire::UdpHeader>(packet).destination_port.value() == wire::bfd_port;
    return is_bfd ? wire::parse_bfd(l4_of(packet).subspan(sizeof(wire::UdpHeader))) : nullptr;
  }
};

class TwoWaysTest : public testing::Test {
 protected:
  forwarding::BfdRow row() { return bench.device().bfd().at(0); }

  // Returns the ports that the switch uses when many flows take the default route.
  std::set<PortIndex> ways(SwitchBench& from) {
    std::set<PortIndex> ports;
    for (std::uint16_t flow = 0; flow < 40; ++flow) {
      const Endpoints ends{mac(1), mac(0, 0xee), Ip(10, 1, 1, 9), Ip(10, 50, 0, 1)};
      for (const auto& packet : from.send(0, make_udp(from.pool, ends, flow, 6))) {
        ports.insert(packet->egress);
      }
    }
    return ports;
  }

  SwitchBench bench{two_ways(usual)};
  Neighbour neighbour{bench};
};

}  // namespace tributary::test
