// SPDX-License-Identifier: BSD-3-Clause
#include "frame_load.h"

#include <utility>

#include "addresses.h"
#include "support/frames6.h"

namespace tributary::perf {
namespace {

// Of 64 bytes with the check sequence, which is not there.
constexpr std::size_t udp_payload_bytes = 60 - 14 - 20 - 8;

PacketPtr udp(PacketPool& pool, const test::Endpoints& ends, PortIndex ingress) {
  auto packet = test::make_udp(pool, ends, 1000, 2000, udp_payload_bytes);
  packet->ingress = ingress;
  return packet;
}

wire::Ipv4Address network_of(std::uint32_t route) {
  return wire::Ipv4Address((11u << 24) + (route << 8));
}

wire::IpAddress network6(std::uint32_t route) {
  return wire::IpAddress::of_halves(0x2a00000000000000 | std::uint64_t{route} << 8, 0);
}

}  // namespace

switching::SwitchConfig BridgeLoad::config() const {
  auto config = bridged_switch(ports_);
  config.fdb_capacity = 2 * stations_;
  return config;
}

PacketPtr BridgeLoad::frame(PacketPool& pool, std::uint32_t from, std::uint32_t to) const {
  const test::Endpoints ends{station_mac(from), station_mac(to), station_address(0, from),
                             station_address(1, to)};
  return udp(pool, ends, static_cast<PortIndex>(from % ports_));
}

// To itself, which is not forwarded.
PacketList BridgeLoad::introduction(PacketPool& pool, std::uint32_t station) const {
  PacketList packets;
  packets.push(frame(pool, station, station));
  return packets;
}

PacketList BridgeLoad::next(PacketPool& pool, std::size_t count) {
  PacketList packets;
  while (packets.size() < count) {
    const auto from = static_cast<std::uint32_t>(random_() % stations_);
    const auto to = static_cast<std::uint32_t>(random_() % stations_);
    if (from % ports_ != to % ports_) {
      packets.push(frame(pool, from, to));
    }
  }
  return packets;
}

switching::SwitchConfig RouterLoad::config() const {
  auto config = routed_switch(ports_);
  for (std::uint32_t i = 0; way_ == Way::routes && i < destinations_; ++i) {
    config.routes.push_back({{network_of(i), 24}, {neighbour(i % ports_)}});
  }
  const auto neighbours = way_ == Way::routes ? ports_ : destinations_;
  config.arp_capacity = 2 * neighbours;
  for (std::uint32_t i = 0; i < neighbours; ++i) {
    config.arp.push_back({neighbour(i), station_mac(i)});
  }
  if (way_ == Way::vlans) {
    put_into_vlans(config);
  }
  return config;
}

// The addresses of the ports become those of VLANs, and stations are known behind the ports.
void RouterLoad::put_into_vlans(switching::SwitchConfig& config) const {
  for (PortIndex i = 0; i < ports_; ++i) {
    auto& port = config.ports[i];
    port.vlan.untagged = static_cast<std::uint16_t>(10 + i);
    config.vlans.push_back({port.vlan.untagged, std::exchange(port.address, {}), {}});
  }
  config.fdb_capacity = 2 * destinations_;
  for (std::uint32_t i = 0; i < destinations_; ++i) {
    config.fdb.push_back({station_mac(i), config.ports[i % ports_].name});
  }
}

wire::Ipv4Address RouterLoad::neighbour(std::uint32_t index) const {
  return station_address(static_cast<PortIndex>(index % ports_), index / ports_);
}

wire::Ipv4Address RouterLoad::destination(std::uint32_t index) const {
  return way_ == Way::routes ? wire::Ipv4Address(network_of(index).value() + 7) : neighbour(index);
}

PacketList RouterLoad::next(PacketPool& pool, std::size_t count) {
  PacketList packets;
  while (packets.size() < count) {
    const auto index = static_cast<std::uint32_t>(random_() % destinations_);
    const auto ingress = static_cast<PortIndex>((index + 1) % ports_);
    const test::Endpoints ends{station_mac(0), port_mac(ingress), wire::Ipv4Address(12, 0, 0, 1),
                               destination(index)};
    packets.push(udp(pool, ends, ingress));
  }
  return packets;
}

switching::SwitchConfig Router6Load::config() const {
  auto config = bridged_switch(ports_);
  for (PortIndex i = 0; i < ports_; ++i) {
    config.ports[i].address6 = forwarding::InterfaceAddress6{test::ip6(i, 1), 64};
    config.neighbours6.push_back({test::ip6(i, 2), station_mac(i)});
  }
  for (std::uint32_t i = 0; i < destinations_; ++i) {
    const auto port = static_cast<std::uint16_t>(i % ports_);
    config.routes6.push_back({{network6(i), 64}, {test::ip6(port, 2)}});
  }
  return config;
}

PacketList Router6Load::next(PacketPool& pool, std::size_t count) {
  PacketList packets;
  while (packets.size() < count) {
    const auto index = static_cast<std::uint32_t>(random_() % destinations_);
    const auto ingress = static_cast<PortIndex>((index + 1) % ports_);
    const auto to = wire::IpAddress::of_halves(network6(index).high(), 7);
    const test::Endpoints6 ends{station_mac(0), port_mac(ingress), test::ip6(ingress, 9), to};
    auto packet = test::make_udp6(pool, ends, 1000, 2000, 0);
    packet->ingress = ingress;
    packets.push(std::move(packet));
  }
  return packets;
}

}  // namespace tributary::perf
