// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "support/frames.h"
#include "switch/config.h"

// Who is who in the networks of the benchmarks: stations are numbered, those of a routed port p
// are in 10.p.0.0/16.
namespace tributary::perf {

inline wire::MacAddress station_mac(std::uint32_t station) {
  const auto octet = [&](unsigned shift) { return static_cast<std::uint8_t>(station >> shift); };
  return {{0x02, 1, octet(24), octet(16), octet(8), octet(0)}};
}
inline wire::MacAddress port_mac(PortIndex port) {
  return test::mac(static_cast<std::uint8_t>(port), 0xee);
}
inline wire::Ipv4Address station_address(PortIndex port, std::uint32_t index) {
  return wire::Ipv4Address((10u << 24) + (std::uint32_t{port} << 16) + index + 1);
}
inline const wire::Ipv4Address aggregation_address(10, 255, 255, 1);
inline wire::Ipv4Address group_of(std::uint32_t job) {
  return wire::Ipv4Address(wire::Ipv4Address(239, 192, 0, 1).value() + job);
}

// Seeds are fixed: what is counted has to be the same every time.
inline switching::SwitchConfig bridged_switch(PortIndex ports) {
  switching::SwitchConfig config;
  config.name = "perf";
  config.id = 1;
  config.table_seed = 1;
  config.ecmp_seed = 1;
  for (PortIndex i = 0; i < ports; ++i) {
    auto& port = config.ports.emplace_back();
    port.name = "p" + std::to_string(i);
    port.mac = port_mac(i);
  }
  return config;
}
inline switching::SwitchConfig routed_switch(PortIndex ports) {
  auto config = bridged_switch(ports);
  for (PortIndex i = 0; i < ports; ++i) {
    config.ports[i].address = forwarding::InterfaceAddress{station_address(i, 0xfffd), 16};
  }
  return config;
}

}  // namespace tributary::perf
