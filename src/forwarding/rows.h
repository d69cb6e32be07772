// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forwarding/config.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "wire/bfd.h"
#include "wire/ethernet.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::forwarding {

// The router has the bridge of a logical switch as one interface of this number. In the bridge it
// is the "port" behind which the switch's own MAC addresses are.
inline constexpr PortIndex bridge_interface = 0xfffe;

// Other interfaces of the router on the bridge are VLANs, numbered by their identifiers above this.
inline constexpr PortIndex vlan_interfaces = 0xe000;
constexpr PortIndex vlan_interface(std::uint16_t vid) {
  return static_cast<PortIndex>(vlan_interfaces + vid);
}
// Returns the VLAN of such an interface.
constexpr std::uint16_t vid_of_interface(PortIndex interface) {
  return static_cast<std::uint16_t>(interface - vlan_interfaces);
}
// Says whether an interface is on the bridge, and no port.
constexpr bool is_on_bridge(PortIndex interface) {
  return interface >= vlan_interfaces && interface != no_port;
}

// Rows show what the tables hold. Ports are indices; bridge_interface may appear.
struct FdbRow {
  wire::MacAddress mac;
  PortIndex port = no_port;
  bool is_static = false;
  Duration age{};
  std::uint16_t vid = 0;  // 0: the bridge has no VLANs, or the entry holds in all
};

// A bridge has learned so many addresses behind a port, and refused so many frames because they
// carried another one.
struct PortAddresses {
  std::uint32_t learned = 0;
  std::uint64_t refused = 0;
};

enum class NeighbourState : std::uint8_t { fixed, reachable, resolving };

// These count what the router has taken from an interface on the bridge, and sent by it.
struct InterfaceCounters {
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;

  InterfaceCounters& operator+=(const InterfaceCounters& other) {
    rx_packets += other.rx_packets;
    rx_bytes += other.rx_bytes;
    tx_packets += other.tx_packets;
    tx_bytes += other.tx_bytes;
    return *this;
  }
};

// This is an interface of the router on the bridge.
struct VlanRow {
  PortIndex interface = no_port;
  std::uint16_t vid = 0;  // 0: the bridge knows no VLANs, or its own interface is in none
  std::optional<InterfaceAddress> address;
  std::optional<InterfaceAddress6> address6;
  InterfaceCounters counters;
};

template <typename Address>
struct NeighbourRow {
  Address address;
  wire::MacAddress mac;
  PortIndex interface = no_port;
  NeighbourState state = NeighbourState::resolving;
  Duration age{};
};

using ArpRow = NeighbourRow<wire::Ipv4Address>;
using NeighbourRow6 = NeighbourRow<wire::IpAddress>;

template <typename Address>
struct NextHopRow {
  Address via;  // unspecified: the destination itself (connected)
  PortIndex interface = no_port;
  bool up = true;
  double share = 1;  // adaptive: what it keeps of the blocks of which it is the default root
};

// These count what the choice among next hops came to, where it is more than a hash.
struct SelectionCounters {
  std::uint64_t evaded = 0;          // adaptive: packets that left their default port
  std::uint64_t flowlets = 0;        // flowlet: choices made for a flow
  std::uint64_t flowlets_moved = 0;  // flowlet: choices that took it to another port than before

  SelectionCounters& operator+=(const SelectionCounters& other) {
    evaded += other.evaded;
    flowlets += other.flowlets;
    flowlets_moved += other.flowlets_moved;
    return *this;
  }
};

struct BfdRow {
  wire::IpAddress neighbour;  // of either version
  PortIndex interface = no_port;
  bool alive = true;  // the next hop is in use
  wire::BfdState state = wire::BfdState::down;
  wire::BfdState remote_state = wire::BfdState::down;
  wire::BfdDiagnostic diagnostic = wire::BfdDiagnostic::none;
  std::uint32_t discriminator = 0;
  std::uint32_t remote_discriminator = 0;
  Duration transmit_interval{};
  Duration detection_time{};
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  std::uint64_t failures = 0;
};

// The router has advertised itself to the hosts of an interface so often, and was asked so often
// (RFC 4861, 6.2).
struct AdvertiserRow {
  PortIndex interface = no_port;
  std::uint64_t advertisements = 0;
  std::uint64_t solicitations = 0;
};

template <typename PrefixOf, typename Address>
struct RouteRowBy {
  PrefixOf prefix;
  bool connected = false;
  std::vector<NextHopRow<Address>> next_hops;
  Policies policies;
  SelectionCounters counters;
};
using RouteRow = RouteRowBy<Prefix, wire::Ipv4Address>;
using RouteRow6 = RouteRowBy<Prefix6, wire::IpAddress>;

}  // namespace tributary::forwarding
