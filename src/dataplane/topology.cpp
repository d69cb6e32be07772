// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/topology.h"

#include <map>
#include <utility>

namespace tributary::dataplane {

Topology plan_topology(const control::DaemonConfig& config) {
  Topology topology;
  std::map<std::pair<std::string, std::string>, std::uint32_t> by_name;
  for (std::uint32_t s = 0; s < config.switches.size(); ++s) {
    const auto& section = config.switches[s];
    topology.first_port.push_back(static_cast<std::uint32_t>(topology.ports.size()));
    for (std::size_t p = 0; p < section.config.ports.size(); ++p) {
      by_name[{section.config.name, section.config.ports[p].name}] =
          static_cast<std::uint32_t>(topology.ports.size());
      topology.ports.push_back({s, static_cast<PortIndex>(p)});
    }
  }
  const auto cores = static_cast<unsigned>(config.cores.size());
  unsigned next = 0;
  const auto deal = [&] { return next++ % cores; };
  const auto device = [&](const PortPlace& place) -> const control::DeviceConfig& {
    return config.switches[place.switch_index].devices[place.port];
  };
  for (auto& place : topology.ports) {
    if (const auto* link = std::get_if<control::InternalLink>(&device(place))) {
      const auto peer = by_name.find({link->peer_switch, link->peer_port});
      place.peer = peer == by_name.end() ? no_peer : peer->second;
    } else {
      place.core = deal();
    }
  }
  for (std::uint32_t number = 0; number < topology.ports.size(); ++number) {
    auto& place = topology.ports[number];
    if (place.peer != no_peer && number <= place.peer) {
      place.core = topology.ports[place.peer].core = deal();
    }
  }
  return topology;
}

wire::MacAddress derived_mac(std::uint16_t switch_id, PortIndex port) {
  const auto octet = [](unsigned value) { return static_cast<std::uint8_t>(value & 0xff); };
  return {{0x02, 0x54, octet(switch_id >> 8u), octet(switch_id), octet(port >> 8u), octet(port)}};
}

}  // namespace tributary::dataplane
