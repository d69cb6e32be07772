// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "forwarding/config.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::forwarding {

// The bridge of a logical switch seen as one interface of its router, and as the "port" behind
// which the switch's own MAC addresses are.
inline constexpr PortIndex bridge_interface = 0xfffe;

// What the tables hold, for introspection. Ports are indices; bridge_interface may appear.
struct FdbRow {
  wire::MacAddress mac;
  PortIndex port = no_port;
  bool is_static = false;
  Duration age{};
};

enum class ArpState : std::uint8_t { fixed, reachable, resolving };

struct ArpRow {
  wire::Ipv4Address address;
  wire::MacAddress mac;
  PortIndex interface = no_port;
  ArpState state = ArpState::resolving;
  Duration age{};
};

struct NextHopRow {
  wire::Ipv4Address via;  // unspecified: the destination itself (connected)
  PortIndex interface = no_port;
  bool up = true;
};

struct RouteRow {
  Prefix prefix;
  bool connected = false;
  std::vector<NextHopRow> next_hops;
};

}  // namespace tributary::forwarding
