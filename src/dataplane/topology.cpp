// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/topology.h"

#include <algorithm>
#include <map>
#include <numeric>
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
  for (auto& place : topology.ports) {
    const auto& device = config.switches[place.switch_index].devices[place.port];
    if (const auto* link = std::get_if<control::InternalLink>(&device)) {
      const auto peer = by_name.find({link->peer_switch, link->peer_port});
      place.peer = peer == by_name.end() ? no_peer : peer->second;
    }
  }
  return topology;
}

void deal_queues(Topology& topology, unsigned cores, const std::vector<QueueCount>& queues) {
  unsigned dealt = 0;
  for (std::uint32_t number = 0; number < topology.ports.size(); ++number) {
    auto& place = topology.ports[number];
    if (place.peer != no_peer) {
      continue;
    }
    place.cores.resize(queues[number].receivers);
    place.senders = queues[number].senders;
    if (place.cores.size() == cores) {
      std::iota(place.cores.begin(), place.cores.end(), 0u);
    } else {
      std::generate(place.cores.begin(), place.cores.end(), [&] { return dealt++ % cores; });
    }
  }
  for (std::uint32_t number = 0; number < topology.ports.size(); ++number) {
    auto& place = topology.ports[number];
    if (place.peer != no_peer && number <= place.peer) {
      place.cores = topology.ports[place.peer].cores = {dealt++ % cores};
    }
  }
}

bool has_one_owner(const forwarding::PortConfig& port) {
  const auto& classes = port.queue.classes;
  return port.queue.rate_bps > 0 || port.impair_out.any() ||
         std::any_of(classes.begin(), classes.end(),
                     [](const auto& one) { return one.rate_bps > 0; });
}

unsigned sender_of(const PortPlace& place, bool one_owner, unsigned core) {
  const auto senders = place.cores.begin() + place.senders;
  if (!one_owner && std::find(place.cores.begin(), senders, core) != senders) {
    return core;
  }
  return place.cores[one_owner ? 0 : core % place.senders];
}

wire::MacAddress derived_mac(std::uint16_t switch_id, PortIndex port) {
  const auto octet = [](unsigned value) { return static_cast<std::uint8_t>(value & 0xff); };
  return {{0x02, 0x54, octet(switch_id >> 8u), octet(switch_id), octet(port >> 8u), octet(port)}};
}

}  // namespace tributary::dataplane
