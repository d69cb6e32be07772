// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "forwarding/occupancy.h"
#include "forwarding/rows.h"
#include "packet/clock.h"
#include "packet/fate.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "packet/runs.h"
#include "switch/config.h"

namespace tributary::switching {

// The tables hold so many entries; aged ones count until they are swept out.
struct TableSizes {
  std::size_t fdb = 0;
  std::size_t arp = 0;
  std::size_t routes = 0;
  std::size_t neighbours6 = 0;
  std::size_t routes6 = 0;
};

// This is core `core` of `cores`.
struct CoreShare {
  unsigned core = 0;
  unsigned cores = 1;
};

struct Output {
  // Complete frames are listed by the port that they leave by, which is also Packet::egress. The
  // account of a packet is settled (forwarded or sent) when it is put here.
  PacketRuns departures;
  // Copies of frames that taught this core something (FDB, ARP) go to learn() on the other cores.
  // There are none if there is one core only.
  PacketList table_updates;
  // MAC control frames that came in and were absorbed go to Port::obey() of their ingress ports.
  PacketList controls;
  // By core, these are the packets that it is to receive() in the place of this one, which has not
  // counted them, and the sums for its merge(). There are none if there is one core only.
  PacketRuns passed_on;
  PacketRuns partial_sums;
};

struct EngineView {
  std::string_view name;
  const engine::Engine* engine = nullptr;
};

// A Switch is one core's share of one logical switch: bridge, router, aggregation engines. It has
// no I/O, no clock, no locks. All ports are up until set_port_up() says otherwise.
class Switch {
 public:
  // Choices by occupancy look at `gauges`, by port, which outlive the switch. Without them all
  // queues seem empty.
  Switch(const SwitchConfig& config, CoreShare share, PacketPool& pool,
         std::span<const forwarding::QueueGauge> gauges = {});
  ~Switch();
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  // Takes every packet of `burst`; Packet::ingress is set and Packet::pool is this core's pool.
  // What Owners::core_of() noted is not looked for again.
  void receive(PacketList burst, Time now, Output& out);
  // Takes partial sums that other cores have handed over; Packet::pool is this core's pool.
  void merge(PacketList sums, Time now, Output& out);
  // Learns what another core learned from `update`. Packets that waited for it leave by the next
  // expire(), which is then due at once.
  void learn(const Packet& update, Time now);

  // Serves the timers of tables and engines. deadline() may lie in the past: then expire() is due
  // now.
  void expire(Time now, Output& out);
  Time deadline() const;

  // The switch begins its work: the next expire(), which is then due at once, and some after it
  // tell hosts of its addresses. The same happens for the addresses of a port that comes up.
  void announce();
  // The switch is about to end: the next expire(), which is then due at once, tells the hosts that
  // took it for a router by its advertisements.
  void withdraw();

  // Next hops behind a port that is down leave their groups at once.
  void set_port_up(PortIndex port, bool up);

  // Puts VLANs, routes, up-port selection, BFD, static FDB and ARP entries, ageing, ECMP seed and
  // what engines are told of `config` in force. Learned entries, packets that wait and, as far as
  // an engine's settings allow, the jobs that it holds are kept. The ports must be the same.
  void reconfigure(const SwitchConfig& config);

  const Ledger& ledger() const;
  std::uint64_t dropped_from(PortIndex port) const;  // received packets among the ledger's drops
  TableSizes table_sizes() const;                    // in no time, however large they are
  std::vector<forwarding::FdbRow> fdb(Time now) const;
  forwarding::PortAddresses addresses(PortIndex port) const;  // zeros for a routed port
  std::vector<forwarding::VlanRow> vlans() const;  // of the router's interfaces on the bridge
  std::vector<forwarding::ArpRow> arp(Time now) const;
  std::vector<forwarding::RouteRow> routes() const;
  std::vector<forwarding::NeighbourRow6> neighbours6(Time now) const;
  std::vector<forwarding::RouteRow6> routes6() const;
  // Lists the interfaces that advertise the router. One core advertises, the others list none.
  std::vector<forwarding::AdvertiserRow> advertisers() const;
  // Lists the sessions with next hops. They live on one core, the others list none.
  std::vector<forwarding::BfdRow> bfd() const;
  std::vector<EngineView> engines() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tributary::switching
