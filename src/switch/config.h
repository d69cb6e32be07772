// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engines/canary/config.h"
#include "forwarding/config.h"
#include "packet/clock.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::switching {

// A port of a logical switch. With an address it is routed; without one it belongs to the bridge.
struct PortConfig {
  std::string name;
  wire::MacAddress mac;  // filled in by whoever builds the switch if zero
  std::optional<forwarding::InterfaceAddress> address;
  std::uint16_t mtu = 1500;  // IP bytes, without the Ethernet header
  forwarding::QueueConfig queue;
  forwarding::ImpairmentConfig impair_in;
  forwarding::ImpairmentConfig impair_out;
};

struct RouteConfig {
  forwarding::Prefix prefix;
  std::vector<wire::Ipv4Address> via;  // next-hop group, in order; each on a connected prefix
};

struct FdbEntryConfig {
  wire::MacAddress mac;
  std::string port;
};

struct ArpEntryConfig {
  wire::Ipv4Address address;
  wire::MacAddress mac;
};

struct SwitchConfig {
  std::string name;
  std::uint16_t id = 0;       // the paper's Switch Address; unique in the fabric
  wire::Ipv4Address address;  // of the switch itself; required by aggregation engines
  // Address of the bridge as a host on its own segment, so that bridged hosts reach the switch.
  std::optional<forwarding::InterfaceAddress> bridge_address;
  Duration fdb_ageing = std::chrono::seconds(300);
  std::uint32_t fdb_capacity = 8192;
  Duration arp_timeout = std::chrono::seconds(600);
  std::uint64_t ecmp_seed = 0;  // of the 5-tuple hash; 0: derived from id
  std::vector<PortConfig> ports;
  std::vector<RouteConfig> routes;
  std::vector<FdbEntryConfig> fdb;
  std::vector<ArpEntryConfig> arp;
  std::optional<canary::CanaryConfig> canary;  // no value: Canary packets are ordinary UDP
};

}  // namespace tributary::switching
