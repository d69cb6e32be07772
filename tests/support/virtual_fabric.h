// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "control/config.h"
#include "host/canary_allreduce.h"
#include "packet/pool.h"
#include "switch/port.h"
#include "switch/switch.h"

// A whole fabric in one thread and in virtual time: the real switches, ports and host machines,
// joined by cables with a delay. One seed replays everything.
namespace tributary::test {

// A worker's host: one address behind one port of one switch.
struct HostSpec {
  std::string switch_name;
  std::string port_name;
  wire::Ipv4Address address;
  wire::Ipv4Address gateway;  // equal to `address`: peers are on the same segment
};

struct FabricSpec {
  std::vector<control::SwitchSection> switches;  // devices: InternalLink, or anything for a host
  std::vector<HostSpec> hosts;
  unsigned cores = 1;  // per switch
  Duration cable_delay = std::chrono::microseconds(5);
  std::uint64_t seed = 1;
};

// One frame on a cable arrives; ordered by time, then by when it was sent.
struct Flight {
  Time arrival{};
  std::uint64_t order = 0;
  std::size_t switch_index = 0;  // no_switch: `host_index` receives it
  std::size_t host_index = 0;
  PortIndex port = 0;
  std::shared_ptr<std::vector<std::byte>> frame;

  static constexpr std::size_t no_switch = ~std::size_t{0};
  friend bool operator>(const Flight& a, const Flight& b) {
    return a.arrival != b.arrival ? a.arrival > b.arrival : a.order > b.order;
  }
};

class VirtualFabric {
 public:
  explicit VirtualFabric(FabricSpec spec);
  ~VirtualFabric();

  // Endpoints by host, for the jobs of the machines.
  host::Endpoint endpoint(std::size_t host, std::uint16_t udp_port = 17000) const;

  // Plugs a machine in at a host; it receives what is sent to (host's address, udp_port).
  void attach(std::size_t host, std::uint16_t udp_port, host::CanaryAllreduce& machine);

  // Runs until no machine is running, or `limit` of virtual time has passed.
  void run(Duration limit);
  // A host whose workers do not send before this time.
  void hold_back(std::size_t host, Time until);

  Time now() const { return now_; }
  // The same point of time for the host machines, which have a clock type of their own.
  host::Time host_now() const { return host::Time(now_.time_since_epoch()); }
  std::vector<Ledger> ledgers() const;                // of all switches and cores
  std::uint64_t figure(std::string_view name) const;  // of all engines, added up

 private:
  struct SwitchNode;
  struct HostNode;

  void deliver(const Flight& flight);
  void deliver_to_switch(SwitchNode& node, PortIndex port, const std::vector<std::byte>& frame);
  void deliver_to_host(HostNode& node, std::vector<std::byte>& frame);
  void absorb_output(SwitchNode& node, unsigned core, switching::Output& output);
  void switch_burst(SwitchNode& node, PacketList ready);
  void service(SwitchNode& node);
  void service(HostNode& node);
  void send(HostNode& node, const host::Datagram& datagram, std::uint16_t source_port);
  void launch(Flight flight);
  Time next_time() const;
  bool any_running() const;

  FabricSpec spec_;
  HeapPacketPool pool_;
  std::vector<std::unique_ptr<SwitchNode>> switches_;
  std::vector<std::unique_ptr<HostNode>> hosts_;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> flights_;
  std::uint64_t next_order_ = 0;
  Time now_{std::chrono::seconds(1)};
};

}  // namespace tributary::test
