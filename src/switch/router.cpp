// SPDX-License-Identifier: BSD-3-Clause
#include "switch/router.h"

#include <algorithm>
#include <utility>

#include "protocols/engines.h"
#include "switch/raw_router.h"
#include "switch/routes.h"
#include "wire/ethernet.h"

namespace tributary::switching {
namespace {

using forwarding::Route;

bool is_loopback(const wire::Ipv4Address& address) {
  return (address.value() >> 24) == 127;
}
bool is_reserved(const wire::Ipv4Address& address) {  // 0/8 and 240/4
  return (address.value() >> 24) == 0 || (address.value() >> 28) == 0xf;
}

// These addresses must not be routed (RFC 1812, 5.3.7).
bool is_martian(const wire::Ipv4Header& ip) {
  return !ip.source.is_routable_unicast() || is_loopback(ip.destination) ||
         (ip.destination.value() >> 24) == 0;
}

QueuesBehind state_of(const forwarding::Filling& queue) {
  constexpr std::uint64_t long_ms = 10;
  if (!queue.above_half()) {
    return queue.bytes > 0 ? QueuesBehind::in_use : QueuesBehind::empty;
  }
  return queue.bytes * 8 < long_ms * queue.rate_kbps ? QueuesBehind::crowded
                                                     : QueuesBehind::crowded_for_long;
}

wire::Bytes l4_of(const engine::Frame& frame) {
  const auto* start = reinterpret_cast<const std::byte*>(frame.ipv4) + frame.ipv4->header_bytes();
  return {start, frame.ipv4->total_length.value() - frame.ipv4->header_bytes()};
}

}  // namespace

Router::Router(const SwitchConfig& config, const Interfaces& interfaces, Neighbours& neighbours,
               Liveness& liveness, Outlet& outlet)
    : interfaces_(interfaces),
      neighbours_(neighbours),
      liveness_(liveness),
      outlet_(outlet),
      chooser_(config, outlet.queues()) {
  reconfigure(config);
}

void Router::reconfigure(const SwitchConfig& config) {
  auto routes = routes_of(config, interfaces_);
  neighbours_.set_gateways(gateways_of(routes));
  only_ways_ = only_ways_of(routes, routes6_of(config, interfaces_));
  forwarding::RouteTable table(std::move(routes), config.selection.tree_seed);
  table.continue_counters(routes_);
  routes_ = std::move(table);
  chooser_.reconfigure(config, routes_.groups());
  for (PortIndex port = 0; port < interfaces_.count(); ++port) {
    if (!interfaces_.port(port).up) {
      routes_.set_interface_up(port, false);
    }
  }
}

QueuesBehind Router::queues_behind() const {
  const auto& queues = outlet_.queues();
  auto fullest = QueuesBehind::empty;
  for (std::size_t traffic_class = 0; traffic_class < queues.classes(); ++traffic_class) {
    if (!outlet_.reduction_classes().has(traffic_class)) {
      continue;
    }
    for (const auto port : only_ways_) {
      fullest = std::max(fullest, state_of(queues.filling(port, traffic_class)));
    }
  }
  return fullest;
}

void Router::receive(PacketPtr packet, const engine::Frame& frame, PortIndex interface,
                     const forwarding::Way* way, Time now) {
  if (!interfaces_.address(interface)) {
    outlet_.drop(std::move(packet), DropReason::local_unserved, Account::received);
    return;
  }
  if (const auto type = frame.ethernet->type.value(); type != wire::ethertype::ipv4) {
    const auto* protocol = protocols::protocol_over_ethernet(type);
    const auto not_served = protocol != nullptr ? protocol->not_served : std::nullopt;
    outlet_.drop(std::move(packet), not_served.value_or(DropReason::unknown_ethertype),
                 Account::received);
    return;
  }
  if (frame.ipv4 == nullptr) {
    outlet_.drop(std::move(packet), DropReason::ip_malformed, Account::received);
    return;
  }
  if (!has_right_ip_checksum(frame)) {
    outlet_.drop(std::move(packet), DropReason::ip_checksum, Account::received);
    return;
  }
  if (is_martian(*frame.ipv4)) {
    outlet_.drop(std::move(packet), DropReason::ip_martian, Account::received);
    return;
  }
  const auto& destination = frame.ipv4->destination;
  if (frame.ethernet->destination.is_group() || destination.is_multicast() ||
      is_reserved(destination)) {
    outlet_.drop(std::move(packet), DropReason::ip_not_for_us, Account::received);
    return;
  }
  forward_by(way != nullptr ? *way : routes_.way_to(destination), std::move(packet), frame,
             destination, std::nullopt, Account::received, now);
}

void Router::learn(const engine::Answer& answer) {
  if (!chooser_.learns()) {
    return;
  }
  const auto& way = routes_.way_to(answer.path.destination);
  if (way.live > 1) {
    chooser_.learn(*routes_.group_of(way), answer);
  }
}

void Router::forward_by(const forwarding::Way& way, PacketPtr&& packet, const engine::Frame& frame,
                        const wire::Ipv4Address& towards, const std::optional<engine::Path>& path,
                        Account account, Time now) {
  auto& ip = *frame.ipv4;
  if (!way.leads_on) {
    end(std::move(packet), frame, routes_.group_of(way), account, now);
    return;
  }
  if (account == Account::received && is_of_one_link(ip)) {
    outlet_.drop(std::move(packet), DropReason::ip_martian, account);
    return;
  }
  if (account == Account::received && ip.ttl <= 1) {
    reject(std::move(packet), frame, DropReason::ttl_exceeded, icmp_error::ttl_exceeded, account,
           now);
    return;
  }
  if (way.live == 0) {
    reject(std::move(packet), frame, DropReason::next_hops_down, icmp_error::net_unreachable,
           account, now);
    return;
  }
  const auto hop = way.live == 1 ? way.hop
                   : path        ? chooser_.choose(*routes_.group_of(way), now, *packet, *path)
                          : chooser_.choose(*routes_.group_of(way), now, *packet, ip, l4_of(frame));
  // There is no fragmentation; the sender is told so even without "don't fragment".
  if (const auto mtu = interfaces_.mtu(hop.interface); ip.total_length.value() > mtu) {
    reject(std::move(packet), frame, DropReason::fragmentation_needed,
           icmp_error::fragmentation_needed(mtu), account, now);
    return;
  }
  if (account == Account::received) {
    decrement_ttl(ip);
  }
  trim(*packet, ip);
  const auto neighbour = hop.via.is_unspecified() ? towards : hop.via;
  neighbours_.send(std::move(packet), hop.interface, neighbour, account, now);
}

// Ends a packet that goes no further: it is for the switch itself, for everybody on a link, or has
// no route.
void Router::end(PacketPtr packet, const engine::Frame& frame,
                 const forwarding::NextHopGroup* group, Account account, Time now) {
  if (group == nullptr) {
    reject(std::move(packet), frame, DropReason::no_route, icmp_error::net_unreachable, account,
           now);
  } else if (group->route.kind == Route::Kind::local && account == Account::received) {
    deliver(std::move(packet), frame, now);
  } else {
    outlet_.drop(std::move(packet), DropReason::ip_not_for_us, account);
  }
}

void Router::forward_raw(PacketPtr packet, const engine::Path& path, Account account, Time now) {
  const RawRouter raw(routes_, chooser_, interfaces_, neighbours_, outlet_,
                      {DropReason::no_route, DropReason::fragmentation_needed});
  raw.forward(std::move(packet), path.destination, path, account, now);
}

void Router::give_up(PacketList unresolved, Time now) {
  while (auto packet = unresolved.pop()) {
    const auto frame = engine::parse_frame(*packet);
    const bool is_forwarded = frame.ipv4 != nullptr && packet->ingress < interfaces_.count() &&
                              frame.ipv4->source != own_address_for(*packet) &&
                              frame.ipv4->source != interfaces_.switch_address();
    if (is_forwarded && may_answer_with_error(frame) && icmp_limiter_.allow(now)) {
      send_error(*packet, frame, icmp_error::host_unreachable, now);
    }
    neighbours_.drop_unresolved(std::move(packet));
  }
}

void Router::deliver(PacketPtr packet, const engine::Frame& frame, Time now) {
  const auto& ip = *frame.ipv4;
  if (liveness_.serves(frame)) {
    liveness_.receive(std::move(packet), bfd_of(frame), now);
    return;
  }
  if (ip.is_fragment()) {  // what it is a part of is not known
    outlet_.drop(std::move(packet), DropReason::local_unserved, Account::received);
    return;
  }
  if (ip.protocol != wire::ip_protocol::icmp) {
    const bool has_ports =
        ip.protocol == wire::ip_protocol::udp || ip.protocol == wire::ip_protocol::tcp;
    reject(std::move(packet), frame, DropReason::local_unserved,
           has_ports ? icmp_error::port_unreachable : icmp_error::protocol_unreachable,
           Account::received, now);
    return;
  }
  if (!is_echo_request(frame)) {
    const bool other =
        !frame.payload.empty() && frame.payload[0] != std::byte{wire::IcmpHeader::echo_request};
    outlet_.drop(std::move(packet), other ? DropReason::local_unserved : DropReason::icmp_malformed,
                 Account::received);
    return;
  }
  turn_into_echo_reply(frame);
  outlet_.keep(Account::received);
  outlet_.count_originated();
  forward(std::move(packet), frame, frame.ipv4->destination, std::nullopt, Account::originated,
          now);
}

void Router::reject(PacketPtr packet, const engine::Frame& frame, DropReason reason,
                    const IcmpError& error, Account account, Time now) {
  if (account == Account::received && may_answer_with_error(frame) && icmp_limiter_.allow(now)) {
    send_error(*packet, frame, error, now);
  }
  outlet_.drop(std::move(packet), reason, account);
}

wire::Ipv4Address Router::own_address_for(const Packet& packet) const {
  if (packet.ingress < interfaces_.count()) {
    if (const auto& own = interfaces_.address(interfaces_.interface_of(packet))) {
      return own->address;
    }
  }
  return interfaces_.switch_address();
}

void Router::send_error(const Packet& packet, const engine::Frame& frame, const IcmpError& error,
                        Time now) {
  auto message = outlet_.originate();
  if (!message) {
    return;
  }
  if (!make_icmp_error(*message, frame, error, own_address_for(packet))) {
    outlet_.drop(std::move(message), DropReason::no_buffer, Account::originated);
    return;
  }
  const auto parsed = engine::parse_frame(*message);
  forward(std::move(message), parsed, parsed.ipv4->destination, std::nullopt, Account::originated,
          now);
}

}  // namespace tributary::switching
