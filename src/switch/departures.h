// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <utility>

#include "engine/actions.h"
#include "engine/frame.h"
#include "forwarding/rows.h"
#include "switch/bridge.h"
#include "switch/embedding.h"
#include "switch/interfaces.h"
#include "switch/outlet.h"
#include "switch/router.h"
#include "switch/router6.h"

namespace tributary::switching {

// Sends what the engines want sent on its way: by the bridge or by a router.
class Departures {
 public:
  Departures(const Interfaces& interfaces, const Embedding& embedding, Bridge& bridge,
             Router& router, Router6& router6, Outlet& outlet)
      : interfaces_(interfaces),
        embedding_(embedding),
        bridge_(bridge),
        router_(router),
        router6_(router6),
        outlet_(outlet) {}

  // Empties `actions` of its packets, and of the answers from which the routers learn about queues.
  void send(engine::Actions& actions, Time now) {
    while (auto frame = actions.frames().pop()) {
      depart_by(std::move(frame));
    }
    auto origins = Ports(actions.origins());
    for (auto& departure : actions.departures()) {
      const auto count = departure.origins;
      depart(departure, origins.first(count), now);
      origins = origins.subspan(count);
    }
    actions.departures().clear();
    actions.origins().clear();
    for (const auto& answer : actions.answers()) {
      if (answer.over_ipv6) {
        router6_.learn(answer, embedding_.embed(answer.path.destination));
      } else {
        router_.learn(answer);
      }
    }
    actions.answers().clear();
  }

 private:
  using Ports = std::span<const PortIndex>;

  void depart(engine::Departure& departure, Ports origins, Time now) {
    auto& packet = departure.packet;
    const auto account = departure.received ? Account::received : Account::originated;
    if (departure.frame.ethernet == nullptr) {
      departure.frame = engine::parse_frame(*packet);
    }
    const auto& frame = departure.frame;
    if (frame.ethernet == nullptr) {
      outlet_.drop(std::move(packet), DropReason::truncated, account);
      return;
    }
    if (departure.path) {
      outlet_.note_reduction(*packet, now);
    }
    const bool bridged = is_bridged(*packet, frame, now);
    // A group means whichever switch is next. What another switch has sent to a station's address
    // stays on the bridge: it has no TTL, and might go to and fro between the two for ever.
    const bool to_switch = frame.ethernet->destination.is_group() || !bridged;
    const bool is_raw = frame.ipv4 == nullptr && departure.path;
    if (is_raw && to_switch && (packet->over_ipv6 || !comes_from_apart(*packet))) {
      route_raw(departure, account, now);
    } else if (bridged) {
      bridge(departure, origins, account, now);
    } else {
      route(departure, account, now);
    }
  }

  // Routes a frame without an IP header.
  void route_raw(engine::Departure& departure, Account account, Time now) {
    auto& packet = departure.packet;
    if (packet->over_ipv6) {
      embedding_.leave(*packet);
      router6_.forward_raw(std::move(packet), embedding_.embed(departure.path->destination),
                           *departure.path, account, now);
    } else {
      router_.forward_raw(std::move(packet), *departure.path, account, now);
    }
  }

  // A sum does not go back to another switch that has sent a part of it, be the leader behind it or
  // unknown: switches that believe in each other would send it to and fro.
  void bridge(engine::Departure& departure, Ports origins, Account account, Time now) {
    auto& packet = departure.packet;
    const auto& frame = departure.frame;
    // A packet in transit keeps its source address, as on any bridge.
    const bool in_transit = departure.received || departure.resumed;
    const bool rewritten =
        frame.ipv4 != nullptr && frame.ipv4->source == interfaces_.switch_address();
    if (rewritten || !in_transit) {
      frame.ethernet->source = interfaces_.bridge_mac();
    }
    const auto to = bridge_.find(*packet, frame.ethernet->destination, now);
    if (packet->over_ipv6) {
      embedding_.leave(*packet);
    }
    if (in_transit) {
      const auto ingress = packet->ingress;
      bridge_.forward(std::move(packet), ingress, to, account);
    } else {
      bridge_.forward_sum(std::move(packet), origins, to, account);
    }
  }

  // Nearly all sums go this way, so a call would be noticed.
  [[gnu::always_inline]] void route(engine::Departure& departure, Account account, Time now) {
    auto& packet = departure.packet;
    const auto& frame = departure.frame;
    if (packet->over_ipv6) {
      embedding_.leave(*packet);
      route6(departure, account, now);
    } else if ((frame.ipv4 != nullptr || departure.path) && comes_from_apart(*packet)) {
      outlet_.drop(std::move(packet), DropReason::local_unserved, account);
    } else if (frame.ipv4 == nullptr) {
      route6(departure, account, now);
    } else {
      route4(departure, account, now);
    }
  }

  [[gnu::always_inline]] void route4(engine::Departure& departure, Account account, Time now) {
    auto& packet = departure.packet;
    auto& ip = *departure.frame.ipv4;
    if (departure.resumed && ip.ttl <= 1) {
      outlet_.drop(std::move(packet), DropReason::ttl_exceeded, account);
      return;
    }
    if (departure.resumed) {
      decrement_ttl(ip);
    }
    const auto towards = departure.towards ? departure.towards->v4() : ip.destination;
    router_.forward(std::move(packet), departure.frame, towards, departure.path, account, now);
  }

  // Of what has no IPv4 header, IPv6 has a way through a router, where it came by an interface that
  // speaks it.
  [[gnu::noinline]] void route6(engine::Departure& departure, Account account, Time now) {
    auto& packet = departure.packet;
    const auto* ethernet = wire::Cursor(packet->bytes()).take<wire::EthernetHeader>();
    const bool is_ipv6 = ethernet->type.value() == wire::ethertype::ipv6;
    const auto interface =
        packet->ingress < interfaces_.count() ? interfaces_.interface_of(*packet) : no_port;
    if (!is_ipv6 || !interfaces_.address6(interface)) {
      outlet_.drop(std::move(packet),
                   is_ipv6 ? DropReason::unknown_ethertype : DropReason::ip_malformed, account);
    } else if (departure.received) {
      router6_.receive(std::move(packet), interface, now, {departure.towards, departure.path});
    } else if (departure.resumed) {
      router6_.resume(std::move(packet), now, {departure.towards, departure.path});
    } else {
      router6_.originate(std::move(packet), now, {departure.towards, departure.path});
    }
  }

  // Sends a complete frame by the port that it names.
  void depart_by(PacketPtr&& packet) {
    const auto port = packet->egress;
    if (packet->over_ipv6) {
      embedding_.leave(*packet);
    }
    wire::MutableCursor(packet->bytes()).take<wire::EthernetHeader>()->source =
        interfaces_.mac(port);
    if (bridge_.vlans().on()) {
      depart_in_vlan(std::move(packet), port);
      return;
    }
    outlet_.send(std::move(packet), port, Account::originated);
  }
  [[gnu::noinline]] void depart_in_vlan(PacketPtr&& packet, PortIndex port) {
    if (port < interfaces_.count() && interfaces_.port(port).bridged()) {
      bridge_.send(std::move(packet), port, Account::originated);
    } else {
      outlet_.send(std::move(packet), port, Account::originated);
    }
  }

  // Nothing is routed from an interface without an address, whatever an engine claims, nor is a sum
  // that began there.
  bool comes_from_apart(const Packet& packet) const {
    return packet.ingress < interfaces_.count() &&
           !interfaces_.address(interfaces_.interface_of(packet)).has_value();
  }
  // A frame that came in by the bridge for another host's MAC address stays on the bridge.
  bool is_bridged(const Packet& packet, const engine::Frame& frame, Time now) const {
    return packet.ingress < interfaces_.count() && interfaces_.port(packet.ingress).bridged() &&
           bridge_.find(packet, frame.ethernet->destination, now) != forwarding::bridge_interface;
  }

  const Interfaces& interfaces_;
  const Embedding& embedding_;
  Bridge& bridge_;
  Router& router_;
  Router6& router6_;
  Outlet& outlet_;
};

}  // namespace tributary::switching
