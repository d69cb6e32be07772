// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "engine/actions.h"
#include "forwarding/route_table6.h"
#include "switch/advertiser6.h"
#include "switch/hop_chooser.h"
#include "switch/icmp.h"
#include "switch/icmp6.h"
#include "switch/interfaces.h"
#include "switch/liveness.h"
#include "switch/neighbours6.h"
#include "switch/outlet.h"

namespace tributary::switching {

// An engine steers a packet: it takes the way to `towards`, if there is one, and not to its
// destination, and `path` chooses among several next hops.
struct Steering {
  std::optional<wire::IpAddress> towards;
  std::optional<engine::Path> path;

  const wire::IpAddress& way_from(const wire::IpAddress& destination) const {
    return towards ? *towards : destination;
  }
};
inline constexpr Steering not_steered{};

// This is the IPv6 router of a logical switch (RFC 8200, 4443, 4861), on the interfaces that have
// an address of this version. It looks at extension headers where a packet is for the switch
// itself, and passes over those of packets that go on, options for every hop among them (RFC 8200,
// section 4).
class Router6 {
 public:
  Router6(const SwitchConfig& config, const Interfaces& interfaces, Neighbours6& neighbours,
          Liveness& liveness, Advertiser6& advertiser, Outlet& outlet);

  // Takes a frame of IPv6 for the switch on the link layer or for a group. It came in by an
  // interface which speaks IPv6.
  void receive(PacketPtr packet, PortIndex interface, Time now,
               const Steering& steering = not_steered);
  // Takes a packet that was to go on and that an engine has kept: it goes on as if it came now.
  void resume(PacketPtr packet, Time now, const Steering& steering);
  // Takes a packet that an engine made.
  void originate(PacketPtr packet, Time now, const Steering& steering);
  // Sends on a frame of an engine that has no IP header, towards the address that its own embeds.
  void forward_raw(PacketPtr packet, const wire::IpAddress& destination, const engine::Path& path,
                   Account account, Time now);
  // Drops packets whose neighbour gave no answer, and tells their senders (RFC 4861, 7.2.2).
  void give_up(PacketList unresolved, Time now);
  // Takes a frame for a group, on the bridge. Returns true if nobody but the switch is meant by it.
  bool hear(Packet& packet, PortIndex interface, Time now);

  // Learns what the result of a block told of the queues on its way to `leader`.
  void learn(const engine::Answer& answer, const wire::IpAddress& leader);

  void set_port_up(PortIndex port, bool up) { routes_.set_interface_up(port, up); }
  // Next hops are treated as in Router.
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
  // Sends a packet on: it looks at the hop limit (of received packets), the route and the MTU.
  void forward(PacketPtr packet, const Datagram6& datagram, const Steering& steering,
               Account account, Time now);
  // Sends what begins here; if the destination is link-local, it goes back by `interface`.
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
  HopChooser chooser_;
  IcmpLimiter icmp_limiter_;
};

}  // namespace tributary::switching
