// SPDX-License-Identifier: BSD-3-Clause
#include "switch/router6.h"

#include <algorithm>
#include <utility>

#include "switch/raw_router.h"
#include "switch/routes.h"
#include "wire/ethernet.h"

namespace tributary::switching {
namespace {

using forwarding::Route;
using wire::IpAddress;

// No packet on a link has these addresses (RFC 4291, 2.5.2, 2.5.3, 2.5.5.2, 2.5.6 and 2.7).
bool is_martian6(const Datagram6& datagram) {
  const auto& [ethernet, ip, payload, source, destination] = datagram;
  return source.is_multicast() || source.is_loopback() || source.is_v4() ||
         destination.is_unspecified() || destination.is_loopback() || destination.is_v4() ||
         is_of_a_link_and_wrong(source) || is_of_a_link_and_wrong(destination);
}

// Returns the error about a packet for the switch itself that nobody there serves.
Icmp6Error unserved(const Carried6& carried) {
  const bool has_ports = carried.next_header == wire::ip_protocol::udp ||
                         carried.next_header == wire::ip_protocol::tcp;
  return has_ports ? icmp6_error::port_unreachable
                   : icmp6_error::unknown_next_header(carried.named_at);
}

void trim6(Packet& packet, const Datagram6& datagram) {
  const auto frame_bytes =
      static_cast<std::uint32_t>(sizeof(wire::EthernetHeader)) + datagram.bytes();
  packet.length = std::min(packet.length, std::max(frame_bytes, wire::ethernet_min_frame_bytes));
}

}  // namespace

Router6::Router6(const SwitchConfig& config, const Interfaces& interfaces, Neighbours6& neighbours,
                 Liveness& liveness, Advertiser6& advertiser, Outlet& outlet)
    : interfaces_(interfaces),
      neighbours_(neighbours),
      liveness_(liveness),
      advertiser_(advertiser),
      outlet_(outlet),
      chooser_(config, outlet.queues()) {
  reconfigure(config);
}

void Router6::reconfigure(const SwitchConfig& config) {
  auto routes = routes6_of(config, interfaces_);
  neighbours_.set_gateways(gateways6_of(routes));
  forwarding::RouteTable6 table(std::move(routes), config.selection.tree_seed);
  table.continue_counters(routes_);
  routes_ = std::move(table);
  chooser_.reconfigure(config, routes_.groups());
  for (PortIndex port = 0; port < interfaces_.count(); ++port) {
    if (!interfaces_.port(port).up) {
      routes_.set_interface_up(port, false);
    }
  }
}

bool Router6::hear(Packet& packet, PortIndex interface, Time now) {
  const auto datagram = parse_ipv6(packet);
  const auto carried = datagram ? carried_by(*datagram) : std::nullopt;
  if (carried && asks_for_routers(*carried, interface)) {
    hear_of_host(packet, *datagram, *carried, interface, now);
    return false;  // other routers are asked, too
  }
  if (!carried || !Neighbours6::is_neighbour_discovery(*carried) ||
      !is_sound_icmp6(*datagram, *carried)) {
    return false;
  }
  const auto message = Neighbours6::parse(*datagram, *carried);
  return message && neighbours_.receive(packet, *message, interface, now);
}

bool Router6::asks_for_routers(const Carried6& carried, PortIndex interface) const {
  return icmp6_type(carried) == wire::Icmp6Header::router_solicitation &&
         advertiser_.advertises(interface);
}

// Returns false if the solicitation is not as RFC 4861 (6.1.1) wants it.
bool Router6::hear_of_host(const Packet& packet, const Datagram6& datagram, const Carried6& carried,
                           PortIndex interface, Time now) {
  if (!is_sound_icmp6(datagram, carried) || !Advertiser6::is_valid(datagram, carried)) {
    return false;
  }
  advertiser_.receive(packet, interface, now);
  return true;
}

void Router6::receive(PacketPtr packet, PortIndex interface, Time now, const Steering& steering) {
  const auto drop = [&](DropReason reason) {
    outlet_.drop(std::move(packet), reason, Account::received);
  };
  const auto datagram = parse_ipv6(*packet);
  if (!datagram) {
    return drop(DropReason::ip6_malformed);
  }
  if (is_martian6(*datagram)) {
    return drop(DropReason::ip6_martian);
  }
  const auto& destination = datagram->destination;
  const bool is_to_group = destination.is_multicast() || datagram->ethernet->destination.is_group();
  const bool is_ours = interfaces_.answers(interface, destination);
  if (is_to_group || is_ours || destination.is_link_local()) {
    if (!is_to_group && !is_ours) {
      return drop(DropReason::ip6_scope);
    }
    return deliver(std::move(packet), *datagram, interface, now);
  }
  if (datagram->source.is_unspecified()) {
    return drop(DropReason::ip6_martian);
  }
  if (datagram->source.is_link_local()) {
    return reject(std::move(packet), *datagram, DropReason::ip6_scope, icmp6_error::beyond_scope,
                  Account::received, now);
  }
  forward(std::move(packet), *datagram, steering, Account::received, now);
}

void Router6::resume(PacketPtr packet, Time now, const Steering& steering) {
  const auto datagram = parse_ipv6(*packet);
  if (!datagram || datagram->ip->hop_limit <= 1) {
    const auto reason = datagram ? DropReason::hop_limit_exceeded : DropReason::ip6_malformed;
    return outlet_.drop(std::move(packet), reason, Account::originated);
  }
  --datagram->ip->hop_limit;
  forward(std::move(packet), *datagram, steering, Account::originated, now);
}

void Router6::originate(PacketPtr packet, Time now, const Steering& steering) {
  const auto datagram = parse_ipv6(*packet);
  if (!datagram) {
    return outlet_.drop(std::move(packet), DropReason::ip6_malformed, Account::originated);
  }
  forward(std::move(packet), *datagram, steering, Account::originated, now);
}

void Router6::forward_raw(PacketPtr packet, const IpAddress& destination, const engine::Path& path,
                          Account account, Time now) {
  const RawRouter raw(routes_, chooser_, interfaces_, neighbours_, outlet_,
                      {DropReason::ip6_no_route, DropReason::packet_too_big});
  raw.forward(std::move(packet), destination, path, account, now);
}

void Router6::give_up(PacketList unresolved, Time now) {
  while (auto packet = unresolved.pop()) {
    const auto datagram = parse_ipv6(*packet);
    const auto interface =
        packet->ingress < interfaces_.count() ? interfaces_.interface_of(*packet) : no_port;
    const bool is_forwarded =
        datagram && interface != no_port && !interfaces_.answers(interface, datagram->source);
    if (is_forwarded && may_answer_with_error(*datagram) && icmp_limiter_.allow(now)) {
      send_error(*datagram, icmp6_error::address_unreachable, interface, now);
    }
    neighbours_.drop_unresolved(std::move(packet));
  }
}

// Takes a packet for the switch itself, or for a group.
void Router6::deliver(PacketPtr packet, const Datagram6& datagram, PortIndex interface, Time now) {
  const auto carried = carried_by(datagram);
  const bool is_to_group = datagram.destination.is_multicast();
  if (!carried) {
    outlet_.drop(std::move(packet), DropReason::ip6_malformed, Account::received);
  } else if (Neighbours6::is_neighbour_discovery(*carried)) {
    const bool is_sound = is_sound_icmp6(datagram, *carried);
    const auto message = is_sound ? Neighbours6::parse(datagram, *carried) : std::nullopt;
    if (message) {
      neighbours_.receive(*packet, *message, interface, now);
      outlet_.absorb(std::move(packet));
    } else {
      outlet_.drop(std::move(packet), DropReason::nd_malformed, Account::received);
    }
  } else if (asks_for_routers(*carried, interface)) {
    if (hear_of_host(*packet, datagram, *carried, interface, now)) {
      outlet_.absorb(std::move(packet));
    } else {
      outlet_.drop(std::move(packet), DropReason::nd_malformed, Account::received);
    }
  } else if (is_to_group || datagram.ethernet->destination.is_group()) {
    outlet_.drop(std::move(packet), DropReason::ip_not_for_us, Account::received);
  } else if (datagram.source.is_unspecified()) {
    outlet_.drop(std::move(packet), DropReason::ip6_martian, Account::received);
  } else if (carried->next_header == wire::ipv6_next::icmp) {
    deliver_icmp(std::move(packet), datagram, *carried, interface, now);
  } else if (liveness_.serves(datagram)) {
    liveness_.receive(std::move(packet), bfd_of(datagram), now);
  } else if (carried->next_header == wire::ipv6_next::nothing) {
    outlet_.drop(std::move(packet), DropReason::local_unserved, Account::received);
  } else {
    reject(std::move(packet), datagram, DropReason::local_unserved, unserved(*carried),
           Account::received, now);
  }
}

void Router6::deliver_icmp(PacketPtr packet, const Datagram6& datagram, const Carried6& carried,
                           PortIndex interface, Time now) {
  const auto* icmp = wire::Cursor(carried.payload).take<wire::Icmp6Header>();
  const bool is_sound = is_sound_icmp6(datagram, carried);
  if (!is_sound || icmp->type != wire::Icmp6Header::echo_request || icmp->code != 0) {
    outlet_.drop(std::move(packet),
                 is_sound ? DropReason::local_unserved : DropReason::icmp6_malformed,
                 Account::received);
    return;
  }
  turn_into_echo_reply(*packet, datagram, carried);
  outlet_.keep(Account::received);
  outlet_.count_originated();
  send_from_here(std::move(packet), interface, now);
}

void Router6::send_from_here(PacketPtr packet, PortIndex interface, Time now) {
  const auto datagram = parse_ipv6(*packet);
  if (datagram->destination.is_link_local()) {
    trim6(*packet, *datagram);
    neighbours_.send_on(std::move(packet), interface, datagram->destination, Account::originated,
                        now);
  } else {
    forward(std::move(packet), *datagram, not_steered, Account::originated, now);
  }
}

void Router6::learn(const engine::Answer& answer, const IpAddress& leader) {
  auto* group = chooser_.learns() ? routes_.find(leader) : nullptr;
  if (group != nullptr) {
    chooser_.learn(*group, answer);
  }
}

void Router6::forward(PacketPtr packet, const Datagram6& datagram, const Steering& steering,
                      Account account, Time now) {
  const auto& towards = steering.way_from(datagram.destination);
  auto* group = routes_.find(towards);
  if (group == nullptr) {
    return reject(std::move(packet), datagram, DropReason::ip6_no_route, icmp6_error::no_route,
                  account, now);
  }
  if (group->route.kind == Route::Kind::local) {  // the address is another interface's
    if (account == Account::received) {
      const auto interface = interfaces_.interface_of(*packet);
      return deliver(std::move(packet), datagram, interface, now);
    }
    return outlet_.drop(std::move(packet), DropReason::ip_not_for_us, account);
  }
  if (account == Account::received && datagram.ip->hop_limit <= 1) {
    return reject(std::move(packet), datagram, DropReason::hop_limit_exceeded,
                  icmp6_error::hop_limit_exceeded, account, now);
  }
  if (group->live.empty()) {
    return reject(std::move(packet), datagram, DropReason::next_hops_down, icmp6_error::no_route,
                  account, now);
  }
  const auto hop = steering.path
                       ? chooser_.choose(*group, now, *packet, *steering.path)
                       : chooser_.choose(*group, now, *packet, *datagram.ip, datagram.payload);
  if (const auto mtu = interfaces_.mtu(hop.interface); datagram.bytes() > mtu) {
    return reject(std::move(packet), datagram, DropReason::packet_too_big,
                  icmp6_error::packet_too_big(mtu), account, now);
  }
  if (account == Account::received) {
    --datagram.ip->hop_limit;
  }
  trim6(*packet, datagram);
  const auto neighbour = hop.via.is_unspecified() ? towards : hop.via;
  neighbours_.send_on(std::move(packet), hop.interface, neighbour, account, now);
}

void Router6::reject(PacketPtr packet, const Datagram6& datagram, DropReason reason,
                     const Icmp6Error& error, Account account, Time now) {
  if (account == Account::received && may_answer_with_error(datagram) && icmp_limiter_.allow(now)) {
    send_error(datagram, error, interfaces_.interface_of(*packet), now);
  }
  outlet_.drop(std::move(packet), reason, account);
}

void Router6::send_error(const Datagram6& about, const Icmp6Error& error, PortIndex interface,
                         Time now) {
  const auto& own = interfaces_.address6(interface);
  auto message = own ? outlet_.originate() : nullptr;
  if (!message) {
    return;
  }
  // What was for this switch is answered from the address that was asked (RFC 4443, 2.2).
  const auto* group = about.destination.is_link_local() ? nullptr : routes_.find(about.destination);
  const bool was_for_us = interfaces_.answers(interface, about.destination) ||
                          (group != nullptr && group->route.kind == Route::Kind::local);
  const auto source = was_for_us                     ? about.destination
                      : about.source.is_link_local() ? interfaces_.link_local(interface)
                                                     : own->address;
  if (!make_icmp6_error(*message, about, error, source)) {
    outlet_.drop(std::move(message), DropReason::no_buffer, Account::originated);
    return;
  }
  send_from_here(std::move(message), interface, now);
}

}  // namespace tributary::switching
