// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocols/canary/engine/config.h"
#include "support/canary_packets.h"
#include "support/switch_bench.h"

// A leaf that chooses among four up-ports.
namespace tributary::test {

inline const wire::Ipv4Address own(10, 1, 1, 1);
inline const wire::Ipv4Address below(10, 1, 1, 9);
inline const wire::Ipv4Address far(8, 8, 8, 8);
constexpr PortIndex first_up = 1;
constexpr PortIndex last_up = 4;

// One host behind port 0, four up-ports.
inline switching::SwitchConfig leaf_of_four(forwarding::Policies policies, std::uint16_t id = 1) {
  switching::SwitchConfig config;
  config.id = id;
  config.address = Ip(10, 1, 255, 1);
  config.protocols.emplace<canary::CanaryConfig>({});
  config.selection.policies = policies;
  config.ports = {routed_port("host", 0, own)};
  config.arp = {{below, mac(0)}};
  config.routes = {{{Ip(), 0}, {}}};
  for (std::uint8_t up = first_up; up <= last_up; ++up) {
    config.ports.push_back(routed_port("up" + std::to_string(up), up, Ip(10, 100, up, 1), 30));
    const Ip spine(10, 100, up, 2);
    config.routes[0].via.push_back(spine);
    config.arp.push_back({spine, mac(up)});
  }
  return config;
}

// One of two hosts leads, so that the other's contribution is the sum and leaves at once. It works
// once per block and switch.
inline PacketPtr block_of(SwitchBench& bench, std::uint32_t block, std::uint16_t hosts = 2,
                          std::uint8_t tos = 0) {
  CanarySpec spec;
  spec.id = block;
  spec.hosts = hosts;
  spec.rank = 1;
  spec.tos = tos;
  spec.destination = far;
  spec.child_address = below;
  spec.source_mac = mac(0);
  spec.destination_mac = mac(0, 0xee);
  return make_canary(bench.pool, spec, std::vector<std::int32_t>{1});
}
inline PortIndex way_of_block(SwitchBench& bench, std::uint32_t block) {
  return bench.send(0, block_of(bench, block)).at(0)->egress;
}

}  // namespace tributary::test
