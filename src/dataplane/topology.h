// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/config.h"

namespace tributary::dataplane {

inline constexpr std::uint32_t no_peer = UINT32_MAX;

// Where one port of one logical switch is. All ports of the daemon are numbered, switch by switch.
struct PortPlace {
  std::uint32_t switch_index = 0;
  PortIndex port = 0;            // within its switch
  unsigned core = 0;             // polls the device and owns the egress queue
  std::uint32_t peer = no_peer;  // number of the far end, for an internal link
};

// The fabric inside the process; fixed while the daemon runs.
struct Topology {
  std::vector<PortPlace> ports;
  std::vector<std::uint32_t> first_port;  // by switch

  std::uint32_t number(std::uint32_t switch_index, PortIndex port) const {
    return first_port[switch_index] + port;
  }
};

// Ports with a device are dealt round robin to the cores, then pairs of link ends: both ends of a
// link live on one core, so that crossing it needs no ring.
Topology plan_topology(const control::DaemonConfig& config);

// A MAC address for a port whose device has none: locally administered, from the switch's id.
wire::MacAddress derived_mac(std::uint16_t switch_id, PortIndex port);

}  // namespace tributary::dataplane
