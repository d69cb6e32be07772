// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/config.h"

namespace tributary::dataplane {

inline constexpr std::uint32_t no_peer = UINT32_MAX;

// A port's device has so many queues that receive, and of these so many that send as well.
struct QueueCount {
  std::uint16_t receivers = 1;
  std::uint16_t senders = 1;
};

// This says where one port of one logical switch is. All ports of the daemon are numbered, switch
// by switch.
struct PortPlace {
  std::uint32_t switch_index = 0;
  PortIndex port = 0;                 // within its switch
  std::vector<unsigned> cores = {0};  // by queue of the device: the core that polls it
  unsigned senders = 1;               // so many queues, the first ones, send as well
  std::uint32_t peer = no_peer;       // number of the far end, for an internal link
};

// This is the fabric inside the process; it is fixed while the daemon runs.
struct Topology {
  std::vector<PortPlace> ports;
  std::vector<std::uint32_t> first_port;  // by switch

  std::uint32_t number(std::uint32_t switch_index, PortIndex port) const {
    return first_port[switch_index] + port;
  }
};

// Numbers the ports and joins the ends of links; all are on core 0.
Topology plan_topology(const control::DaemonConfig& config);

// Puts ports on `cores` cores; `queues` is by port number. A device with as many queues as there
// are cores has one on each, in order: by that a card's hash finds the owner of a block
// (spreading.h). The queues of other devices are dealt round robin, then pairs of link ends: both
// ends of a link live on one core, so that crossing it needs no ring.
void deal_queues(Topology& topology, unsigned cores, const std::vector<QueueCount>& queues);

// A shaper has one owner, and so have impairments, which look at the order of packets.
bool has_one_owner(const forwarding::PortConfig& port);

// Returns the core whose queue sends what `core` sends to a port: its own where it has one.
unsigned sender_of(const PortPlace& place, bool one_owner, unsigned core);

// Returns a MAC address for a port whose device has none: locally administered, from the switch's
// id.
wire::MacAddress derived_mac(std::uint16_t switch_id, PortIndex port);

}  // namespace tributary::dataplane
