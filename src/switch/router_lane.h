// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "forwarding/route_table.h"
#include "packet/packet.h"
#include "switch/interfaces.h"
#include "switch/neighbours.h"
#include "switch/outlet.h"
#include "switch/router.h"
#include "switch/usual_headers.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::switching {

// RouterLane does what a router does all day, in two steps between which memory is waited for: a
// sound IPv4 packet without options goes by its only next hop to a neighbour that is known.
class RouterLane {
 public:
  struct Ticket {
    const forwarding::Way* way = nullptr;
    forwarding::ProbeHome neighbour;
  };

  RouterLane(const Interfaces& interfaces, const Neighbours& neighbours, const Router& router,
             Outlet& outlet)
      : interfaces_(interfaces),
        neighbours_(neighbours),
        routes_(router.routes()),
        outlet_(outlet) {}

  // Says whether a packet is of this kind as far as it and the routes tell. It came in by the
  // routed port `port`, and no engine claims it.
  bool expects(const Packet& packet, const UsualHeaders& headers, const Interfaces::PortFacts& port,
               Ticket& ticket) const {
    const auto& [ethernet, ip, udp] = headers;
    if (ethernet.destination != port.mac || ethernet.source.is_group() ||
        !headers.is_ipv4_without_options() || !port.address) {
      return false;
    }
    const auto bytes = ip.total_length.value();
    if (bytes < sizeof ip || bytes > packet.length - sizeof ethernet || ip.ttl <= 1 ||
        !sums_up(ip) || is_unroutable(ip) || is_of_one_link(ip)) {
      return false;
    }
    const auto& way = routes_.way_to(ip.destination);
    ticket = {&way, neighbours_.prefetch(next_of(way, ip))};
    return way.leads_on && way.live == 1 && way.hop.interface < interfaces_.count();
  }

  // Sends a packet that is expected. Returns false, and leaves the packet as it was, if it is too
  // large for its next hop or the neighbour is not settled.
  bool send(PacketPtr& packet, const Ticket& ticket, Time now) const {
    auto& [ethernet, ip, udp] = *reinterpret_cast<UsualHeaders*>(packet->data());
    const auto& port = interfaces_.port(ticket.way->hop.interface);
    const auto* mac =
        neighbours_.table().find_settled(ticket.neighbour, next_of(*ticket.way, ip), now);
    if (mac == nullptr || ip.total_length.value() > port.mtu) {
      return false;
    }
    decrement_ttl(ip);
    ethernet.destination = *mac;
    ethernet.source = port.mac;
    trim(*packet, ip);
    packet->noted = 0;
    outlet_.send(std::move(packet), ticket.way->hop.interface, Account::received);
    return true;
  }

 private:
  static wire::Ipv4Address next_of(const forwarding::Way& way, const wire::Ipv4Header& ip) {
    return way.hop.via.is_unspecified() ? ip.destination : way.hop.via;
  }

  const Interfaces& interfaces_;
  const Neighbours& neighbours_;
  const forwarding::RouteTable& routes_;
  Outlet& outlet_;
};

}  // namespace tributary::switching
