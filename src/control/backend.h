// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "control/config.h"
#include "control/handler_loader.h"
#include "control/runtime_seeds.h"
#include "control/runtime_trees.h"
#include "engine/status.h"
#include "forwarding/class_queues.h"
#include "forwarding/flow_control.h"
#include "forwarding/port_counters.h"
#include "forwarding/rows.h"
#include "packet/fate.h"

namespace tributary::control {

// The control protocol can ask this of a running data plane. The data plane implements it, and so
// does a fake in tests. All methods are called from the control thread; they take what they need
// from the packet cores at a quiescent point and never stop them for longer than that.

// A core that shares its CPU may be kept from it. Where nobody says more, this is waited for it.
inline constexpr std::chrono::milliseconds core_patience_default{3000};

struct CoreStatus {
  unsigned cpu = 0;
  std::uint64_t loops = 0;
  std::uint64_t busy_loops = 0;  // loops that found something to do
  std::uint64_t sleeps = 0;
  std::uint64_t handed_over = 0;    // packets given to their owning core
  std::uint64_t handover_full = 0;  // packets that found its ring full
  std::uint64_t handover_lost = 0;  // of these, frames that had left their switch's account
};

struct DaemonStatus {
  std::string version;
  double uptime_s = 0;
  std::uint64_t resident_bytes = 0;
  std::uint32_t packets_total = 0;
  std::uint32_t packets_free = 0;
  std::string idle;
  bool hugepages = false;
  std::vector<CoreStatus> cores;
};

struct SwitchStatus {
  std::string name;
  std::uint16_t id = 0;
  wire::Ipv4Address address;
  std::size_t ports = 0;
  std::size_t routes = 0;
  std::size_t fdb_entries = 0;
  std::size_t arp_entries = 0;
  std::size_t routes6 = 0;
  std::size_t neighbours6 = 0;
  std::uint64_t reduction_seed = 0;  // of the file or of a controller; 0: neither gave one
  std::vector<std::string> engines;
  Ledger ledger;
};

// This is one of the traffic classes of a port.
struct ClassStatus {
  std::string switch_name;
  std::string port;
  std::string name;
  forwarding::TrafficClass settings;  // in force; capacity_bytes is of each port's queue
  std::uint64_t queue_packets = 0;
  std::uint64_t queue_bytes = 0;
  forwarding::ClassCounters counters;
};

struct PortStatus {
  std::string switch_name;
  std::string name;
  PortIndex index = 0;
  std::string device;  // "af_packet veth0", "link spine1:leaf1"
  wire::MacAddress mac;
  std::optional<forwarding::InterfaceAddress> address;
  std::optional<forwarding::InterfaceAddress6> address6;
  std::optional<forwarding::AdvertiserRow> advertise6;  // none: hosts are told nothing
  std::uint16_t mtu = 0;
  bool up = false;
  unsigned cpu = 0;            // of the core that polls its first queue, and owns its shaper
  std::vector<unsigned> cpus;  // by queue of the device: of the core that polls it
  std::uint64_t rate_bps = 0;  // of the shaper; 0: none
  std::uint64_t line_bps = 0;  // of the device; 0: it does not say
  std::uint64_t queue_packets = 0;
  std::uint64_t queue_bytes = 0;
  std::uint64_t queue_capacity_bytes = 0;
  forwarding::LearningConfig learning;
  forwarding::PortAddresses addresses;  // behind a bridged port
  forwarding::VlanConfig vlan;
  bool trusts_tags = false;  // classes go by the priority of the tag of what comes by it
  forwarding::FlowControl flow_control = forwarding::FlowControl::off;
  forwarding::BufferLimits limits;    // in force, where there is flow control
  std::uint64_t dropped = 0;          // by the switch, of what came in by this port
  std::uint64_t charged_bytes = 0;    // of what waits in the switch and came in by this port
  bool paused = false;                // the neighbour has stopped it, or some class
  forwarding::PortCounters counters;  // of all its queues
  std::vector<ClassStatus> classes;
};

template <typename Address>
struct NextHopStatus {
  Address address;
  std::string port;
  bool up = false;
  double share = 1;  // of the blocks of which it is the default root; src/forwarding/root_shares.h
};
template <typename PrefixOf, typename Address>
struct RouteStatusBy {
  std::string switch_name;
  PrefixOf prefix;
  bool connected = false;
  std::vector<NextHopStatus<Address>> next_hops;
  forwarding::Policies policies;  // they choose one of several next hops
  forwarding::SelectionCounters selection;
};
using RouteStatus = RouteStatusBy<forwarding::Prefix, wire::Ipv4Address>;
using RouteStatus6 = RouteStatusBy<forwarding::Prefix6, wire::IpAddress>;
// This is a session with a next hop; src/forwarding/bfd_session.h.
struct BfdStatus {
  std::string switch_name;
  std::string port;
  forwarding::BfdRow row;
};
struct FdbStatus {
  std::string switch_name;
  wire::MacAddress mac;
  std::string port;
  bool is_static = false;
  double age_s = 0;
  std::uint16_t vlan = 0;  // 0: the bridge has none, or the entry is the switch's own
};
// This is an interface of the router on the bridge: a VLAN, or the bridge where it knows none.
struct VlanStatus {
  std::string switch_name;
  std::uint16_t vlan = 0;  // 0: none
  std::string interface;   // "vlan20", "bridge"
  std::optional<forwarding::InterfaceAddress> address;
  std::optional<forwarding::InterfaceAddress6> address6;
  std::optional<forwarding::AdvertiserRow> advertise6;  // none: hosts are told nothing
  forwarding::InterfaceCounters counters;
};
struct ArpStatus {
  std::string switch_name;
  wire::Ipv4Address address;
  wire::MacAddress mac;
  std::string port;
  std::string state;  // static, reachable, resolving
  double age_s = 0;
};
// This is the same for IPv6.
struct NeighbourStatus6 {
  std::string switch_name;
  wire::IpAddress address;
  wire::MacAddress mac;
  std::string port;
  std::string state;
  double age_s = 0;
};
struct EngineStatus {
  std::string switch_name;
  std::string engine;
  std::vector<std::pair<std::string, std::uint64_t>> figures;
};
struct JobRow {
  std::string switch_name;
  std::string engine;
  engine::JobStatus job;
};
struct DescriptorRow {
  std::string switch_name;
  std::string engine;
  engine::DescriptorStatus descriptor;
};

struct StallRow {
  std::string switch_name;
  std::string engine;
  engine::StallStatus stall;
  std::vector<std::string> missing_ports;  // the names of stall.missing_ports
};

struct TreeRow {
  std::string switch_name;
  engine::TreeStatus tree;
  std::optional<Duration> idle{};  // since tree.used
  std::string engine{};
};

// These packet cores have not come round yet since something was changed.
using LateCpus = std::vector<unsigned>;
using Outcome = tl::expected<void, std::string>;  // the error says what to do
// The packet cores were asked for this. The error says which of them did not come round in time,
// and what to do: there is no answer without one of them.
template <class Value>
using Queried = tl::expected<Value, std::string>;

class Backend {
 public:
  virtual ~Backend() = default;

  // Says how long the calls that follow wait for packet cores that are late, each call for all
  // cores together.
  virtual void set_core_patience(std::chrono::milliseconds patience) = 0;

  virtual Queried<DaemonStatus> status() = 0;
  virtual Queried<std::vector<SwitchStatus>> switches() = 0;
  virtual Queried<std::vector<PortStatus>> ports() = 0;
  virtual Queried<std::vector<RouteStatus>> routes() = 0;
  virtual Queried<std::vector<BfdStatus>> bfd() = 0;
  virtual Queried<std::vector<FdbStatus>> fdb() = 0;
  virtual Queried<std::vector<VlanStatus>> vlans() = 0;
  virtual Queried<std::vector<ArpStatus>> arp() = 0;
  virtual Queried<std::vector<RouteStatus6>> routes6() = 0;
  virtual Queried<std::vector<NeighbourStatus6>> neighbours6() = 0;
  virtual Queried<std::vector<EngineStatus>> engines() = 0;
  virtual Queried<std::vector<JobRow>> jobs() = 0;
  virtual Queried<std::vector<DescriptorRow>> descriptors(std::size_t limit) = 0;
  // Lists blocks that wait unusually long, one row for each switch that knows of one.
  virtual Queried<std::vector<StallRow>> stalled(std::size_t limit) = 0;
  // Says how the installed aggregation trees stand, each once for each switch.
  virtual Queried<std::vector<TreeRow>> tree_states() = 0;

  // Returns the configuration that is in force, as it was written.
  virtual const DaemonConfig& config() const = 0;
  // Returns the aggregation trees beside those of the configuration.
  virtual const RuntimeTrees& trees() const = 0;
  // Puts `next` in force, as reload() does, and keeps it for the daemon's next start; or nothing
  // changes.
  virtual Outcome set_trees(const RuntimeTrees& next) = 0;
  // Seeds of reductions beside those of the configuration are treated likewise.
  virtual const RuntimeSeeds& seeds() const = 0;
  virtual Outcome set_seeds(const RuntimeSeeds& next) = 0;
  // Puts `next` in force: routes, static entries, queues, impairments, engine settings, handlers,
  // log level. Anything else that differs (cores, switches, ports, devices) is refused and nothing
  // changes. Each packet core takes up all of it before its next burst.
  virtual tl::expected<LateCpus, std::string> reload(const DaemonConfig& next) = 0;
  // Says why reload() would refuse `next`.
  virtual tl::expected<std::vector<ConfigChange>, std::string> check_reload(
      const DaemonConfig& next) = 0;
  // Lists the operators that people brought (docs/reference/handlers.md).
  virtual std::vector<HandlerRow> handlers() = 0;
  // Loads what is not there yet; its number is below wire::handlers_max.
  virtual Outcome load_handler(const HandlerConfig& wanted) = 0;
  // Unloads a handler that is there. It fails where a packet core is late: then no packet finds the
  // handler any more, and the request can be repeated.
  virtual Outcome unload_handler(unsigned number) = 0;
  // Sets the administrative state of a port.
  virtual Outcome set_port(const std::string& switch_name, const std::string& port, bool up) = 0;
  virtual void shutdown() = 0;
};

}  // namespace tributary::control
