// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/settings.h"
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
  // Frames come from a kernel of this machine, which may leave their checksums to hardware.
  bool from_kernel = true;
  forwarding::LearningConfig learning;  // of a bridged port
  forwarding::QueueConfig queue;
  forwarding::FlowControlConfig flow;
  std::uint64_t line_bps = 0;  // of the device, filled in like `mac`; 0: unknown
  forwarding::ImpairmentConfig impair_in;
  forwarding::ImpairmentConfig impair_out;
};

struct RouteConfig {
  forwarding::Prefix prefix;
  std::vector<wire::Ipv4Address> via;  // next-hop group, in order; each on a connected prefix
  // How one of the group is chosen; without a value as SwitchConfig::selection says.
  std::optional<forwarding::Policy> ordinary{};
  std::optional<forwarding::Policy> reduction{};
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
  // The next hops of static routes are watched; without it they are believed.
  std::optional<forwarding::BfdConfig> bfd;
  std::uint32_t arp_capacity = 2048;  // neighbours; not a setting of the file
  std::uint64_t table_seed = 0;       // of the hashes of both tables; 0: drawn
  std::uint64_t ecmp_seed = 0;        // of the 5-tuple hash; 0: derived from id
  forwarding::SelectionConfig selection;
  std::vector<PortConfig> ports;
  std::vector<RouteConfig> routes;
  std::vector<FdbEntryConfig> fdb;
  std::vector<ArpEntryConfig> arp;
  engine::Settings protocols;  // of which there are engines
};

}  // namespace tributary::switching
