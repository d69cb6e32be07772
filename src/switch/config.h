// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/settings.h"
#include "forwarding/config.h"
#include "packet/clock.h"
#include "wire/embedding_prefix.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::switching {

template <typename Prefix, typename Address>
struct RouteConfigBy {
  Prefix prefix;
  std::vector<Address> via;  // next-hop group, in order; each on a connected prefix
  // These say how one of the group is chosen; without a value, SwitchConfig::selection does.
  std::optional<forwarding::Policy> ordinary{};
  std::optional<forwarding::Policy> reduction{};
};
using RouteConfig = RouteConfigBy<forwarding::Prefix, wire::Ipv4Address>;
using RouteConfig6 = RouteConfigBy<forwarding::Prefix6, wire::IpAddress>;

// The router has an interface in this VLAN of the bridge, beside SwitchConfig::bridge_vlan.
struct VlanInterfaceConfig {
  std::uint16_t vid = 0;
  std::optional<forwarding::InterfaceAddress> address;
  std::optional<forwarding::InterfaceAddress6> address6;
  bool advertise6 = false;  // as PortConfig::advertise6
};

struct NeighbourConfig6 {
  wire::IpAddress address;
  wire::MacAddress mac;
};

struct FdbEntryConfig {
  wire::MacAddress mac;
  std::string port;
  std::uint16_t vlan = 0;  // 0: the VLAN of frames that come to the port without a tag
};

// Returns the VLAN in which the entry is. `port` is its port.
inline std::uint16_t vlan_of(const FdbEntryConfig& entry, const forwarding::PortConfig& port) {
  return entry.vlan != 0 ? entry.vlan : port.vlan.untagged;
}

struct ArpEntryConfig {
  wire::Ipv4Address address;
  wire::MacAddress mac;
};

struct SwitchConfig {
  std::string name;
  std::uint16_t id = 0;       // the paper's Switch Address; unique in the fabric
  wire::Ipv4Address address;  // of the switch itself; required by aggregation engines
  // With this address the bridge is a host on its own segment, so that bridged hosts reach the
  // switch.
  std::optional<forwarding::InterfaceAddress> bridge_address;
  std::optional<forwarding::InterfaceAddress6> bridge_address6;
  // Hosts with IPv6 addresses of this prefix take part in protocols that know them by 32 bits.
  std::optional<wire::EmbeddingPrefix> embedding_prefix;
  bool bridge_advertise6 = false;  // as PortConfig::advertise6
  // In a bridge with VLANs, the switch itself is in this one, with its address and its engines; 0:
  // it is in none.
  std::uint16_t bridge_vlan = 0;
  Duration fdb_ageing = std::chrono::seconds(300);
  std::uint32_t fdb_capacity = 8192;
  Duration arp_timeout = std::chrono::seconds(600);
  // With BFD, the next hops of static routes are watched; without it they are believed.
  std::optional<forwarding::BfdConfig> bfd;
  std::uint32_t arp_capacity = 2048;  // neighbours of each version of IP; not a setting of the file
  std::uint64_t table_seed = 0;       // of the hashes of both tables; 0: drawn at random
  std::uint64_t ecmp_seed = 0;        // of the 5-tuple hash; 0: derived from id
  forwarding::SelectionConfig selection;
  std::vector<forwarding::PortConfig> ports;
  // These classes hold for what leaves by any of the ports, which have them, too; without any,
  // there is one queue for all.
  std::vector<forwarding::TrafficClass> classes;
  std::vector<VlanInterfaceConfig> vlans;
  std::vector<RouteConfig> routes;
  std::vector<RouteConfig6> routes6;
  std::vector<FdbEntryConfig> fdb;
  std::vector<ArpEntryConfig> arp;
  std::vector<NeighbourConfig6> neighbours6;
  engine::Settings protocols;  // of the protocols that have engines
  // Expected packets go by a shorter way, with the same result; this is not a setting of the file.
  bool express_lane = true;
};

// Says whether the bridge knows VLANs.
inline bool has_vlans(const SwitchConfig& config) {
  return std::any_of(config.ports.begin(), config.ports.end(),
                     [](const auto& port) { return port.vlan.any(); });
}

}  // namespace tributary::switching
