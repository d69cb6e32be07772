// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "protocols/canary/engine/config.h"
#include "support/canary_packets.h"
#include "support/switch_bench.h"

// A switch of three hosts, of which the last leads a block of Canary.
namespace tributary::test {

using Elements = std::vector<std::int32_t>;

inline const Ip switch_ip(10, 0, 255, 1);

inline Ip host(std::uint8_t number) {
  return {10, 0, number, 9};
}

// Host n is behind port n; host 2 leads.
inline switching::SwitchConfig routed() {
  switching::SwitchConfig config;
  config.id = 1;
  config.address = switch_ip;
  config.protocols.emplace<canary::CanaryConfig>({});
  for (std::uint8_t i = 0; i < 3; ++i) {
    config.ports.push_back(
        routed_port(std::string(1, static_cast<char>('a' + i)), i, Ip(10, 0, i, 1)));
    config.arp.push_back({host(i), mac(i)});
  }
  return config;
}

// The same hosts on one segment; the switch is a host of it.
inline switching::SwitchConfig bridged() {
  auto config = routed();
  config.arp.clear();
  config.address = Ip(10, 0, 0, 254);
  config.bridge_address = forwarding::InterfaceAddress{config.address, 16};
  for (auto& port : config.ports) {
    port.address.reset();
  }
  return config;
}

inline CanarySpec contribution(std::uint8_t from, const wire::MacAddress& to) {
  CanarySpec spec;
  spec.hosts = 3;
  spec.rank = from;
  spec.destination = host(2);
  spec.child_address = host(from);
  spec.source_mac = mac(from);
  spec.destination_mac = to;
  spec.fingerprint = 100u + from;
  return spec;
}

inline std::int32_t first_element(Packet& packet) {
  std::int32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(canary_header(packet) + 1), sizeof value);
  return value;
}

inline void expect_sum(Packet& sum, std::int32_t value, const Ip& from) {
  EXPECT_EQ(sum.egress, 2);
  EXPECT_EQ(ethernet_of(sum).destination, mac(2));
  EXPECT_EQ(ip_of(sum).source, from);
  EXPECT_EQ(ip_of(sum).destination, host(2));
  EXPECT_EQ(ip_of(sum).ttl, 64);
  EXPECT_EQ(wire::internet_checksum(std::as_bytes(std::span(&ip_of(sum), 1))), 0);
  EXPECT_EQ(canary_header(sum)->counter.value(), 2);
  EXPECT_EQ(canary_header(sum)->fingerprint.value(), 201u);
  EXPECT_EQ(first_element(sum), value);
}

}  // namespace tributary::test
