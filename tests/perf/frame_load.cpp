// SPDX-License-Identifier: BSD-3-Clause
#include "frame_load.h"

#include "addresses.h"
#include "support/frames.h"

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
  const auto neighbours = way_ == Way::stations ? destinations_ : ports_;
  config.arp_capacity = 2 * neighbours;
  for (std::uint32_t i = 0; i < neighbours; ++i) {
    config.arp.push_back({neighbour(i), station_mac(i)});
  }
  return config;
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

}  // namespace tributary::perf
