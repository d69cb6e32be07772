// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "forwarding/ecmp.h"
#include "forwarding/route_table6.h"
#include "switch/advertiser6.h"
#include "switch/icmp.h"
#include "switch/icmp6.h"
#include "switch/interfaces.h"
#include "switch/liveness.h"
#include "switch/neighbours6.h"
#include "switch/outlet.h"

namespace tributary::switching {

// The IPv6 router of a logical switch (RFC 8200, 4443, 4861), on the interfaces that have an
// address of this version. Extension headers are looked at where a packet is for the switch itself,
// and passed over by those that go on, options for every hop among them (RFC 8200, section 4).
class Router6 {
 public:
  Router6(const SwitchConfig& config, const Interfaces& interfaces, Neighbours6& neighbours,
          Liveness& liveness, Advertiser6& advertiser, Outlet& outlet);

  // A frame of IPv6 that came in by an interface which speaks it, for the switch on the link layer
  // or for a group.
  void receive(PacketPtr packet, PortIndex interface, Time now);
  // A frame for a group, on the bridge: true if nobody but the switch is meant by it.
  bool hear(Packet& packet, PortIndex interface, Time now);

  void set_port_up(PortIndex port, bool up) { routes_.set_interface_up(port, up); }
  // As Router.
  void set_unhealthy(const std::vector<forwarding::UnhealthyNeighbour>& neighbours) {
    routes_.set_unhealthy(neighbours);
  }
  void reconfigure(const SwitchConfig& config);
  const forwarding::RouteTable6& routes() const { return routes_; }

 private:
  bool asks_for_routers(const Carried6& carried, PortIndex interface) const;
  bool hear_of_host(const Packet& packet, const Datagram6& datagram, const Carried6& carried,
                    PortIndex interface, Time now);
  void deliver(PacketPtr packet, const Datagram6& datagram, PortIndex interface, Time now);
  void deliver_icmp(PacketPtr packet, const Datagram6& datagram, const Carried6& carried,
                    PortIndex interface, Time now);
  // Sends a packet on: hop limit (of received ones), route, MTU.
  void forward(PacketPtr packet, const Datagram6& datagram, Account account, Time now);
  // Sends what begins here, back by `interface` where the destination is of that link.
  void send_from_here(PacketPtr packet, PortIndex interface, Time now);
  void reject(PacketPtr packet, const Datagram6& datagram, DropReason reason,
              const Icmp6Error& error, Account account, Time now);
  void send_error(const Datagram6& about, const Icmp6Error& error, PortIndex interface, Time now);

  const Interfaces& interfaces_;
  Neighbours6& neighbours_;
  Liveness& liveness_;
  Advertiser6& advertiser_;
  Outlet& outlet_;
  forwarding::RouteTable6 routes_;
  forwarding::EcmpHash ecmp_;
  IcmpLimiter icmp_limiter_;
};

}  // namespace tributary::switching
