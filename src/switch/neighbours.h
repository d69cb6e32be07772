// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "forwarding/arp_table.h"
#include "forwarding/route_table.h"
#include "switch/bridge.h"
#include "switch/interfaces.h"
#include "switch/outlet.h"
#include "wire/arp.h"
#include "wire/ethernet.h"

namespace tributary::switching {

// The router's way onto a link: finds the neighbour's link-layer address (ARP, RFC 826), addresses
// the frame to it and sends it, keeping what has to wait for an answer. Answers for the switch.
class Neighbours {
 public:
  Neighbours(const SwitchConfig& config, const Interfaces& interfaces, Bridge& bridge,
             Outlet& outlet, CoreShare share, std::uint64_t seed);

  // A frame is about to be sent to `address`.
  [[gnu::always_inline]] forwarding::ProbeHome prefetch(const wire::Ipv4Address& address) const {
    return table_.prefetch(address);
  }
  // Sends a frame with room for an Ethernet header, type filled in, to `address` on `interface`.
  [[gnu::always_inline]] void send(PacketPtr&& frame, PortIndex interface,
                                   const wire::Ipv4Address& address, Account account, Time now) {
    const auto known = table_.find(address, now);
    if (known.mac == nullptr) {
      send_later(std::move(frame), interface, address, account, now);
      return;
    }
    transmit(std::move(frame), interface, *known.mac, account, now);
    if (known.ask) {
      ask({address, interface}, now);
    }
  }

  // Learns from ARP and answers it. True if the switch was asked or answered: nobody else is meant.
  bool receive(const Packet& frame, const wire::ArpHeader& arp, PortIndex interface, Time now);
  // What another core learned.
  void learn_quietly(const wire::ArpHeader& arp, PortIndex interface, Time now);

  // Sends what waited for neighbours that became known.
  void flush(Time now);
  void expire(Time now);
  Time deadline() const;

  // Next hops that are resolved before the first packet needs them, and kept so.
  void set_gateways(std::vector<forwarding::NextHop> gateways);
  void reconfigure(const SwitchConfig& config);

  const forwarding::ArpTable& table() const { return table_; }

 private:
  static constexpr Duration gateway_check_interval = std::chrono::seconds(1);

  bool learn(const wire::ArpHeader& arp, PortIndex interface, Time now);
  void add_static(const SwitchConfig& config);
  void ask(const forwarding::ArpQuestion& question, Time now);
  void answer(const wire::ArpHeader& request, PortIndex interface, Time now);
  void send_arp(const wire::ArpHeader& arp, PortIndex interface,
                const wire::MacAddress& destination, Time now);
  [[gnu::always_inline]] void transmit(PacketPtr&& frame, PortIndex interface,
                                       const wire::MacAddress& destination, Account account,
                                       Time now) {
    wire::MutableCursor cursor(frame->bytes());
    auto* ethernet = cursor.take<wire::EthernetHeader>();
    ethernet->destination = destination;
    ethernet->source = interfaces_.mac(interface);
    if (forwarding::is_on_bridge(interface)) {
      bridge_.send_routed(std::move(frame), interface, account, now);
    } else {
      outlet_.send(std::move(frame), interface, account);
    }
  }
  // When the neighbour has answered, which is asked if nobody has.
  void send_later(PacketPtr frame, PortIndex interface, const wire::Ipv4Address& address,
                  Account account, Time now);
  void check_gateways(Time now);

  const Interfaces& interfaces_;
  Bridge& bridge_;
  Outlet& outlet_;
  bool keeps_gateways_;  // one core asks, the others are taught
  forwarding::ArpTable table_;
  std::vector<forwarding::ArpQuestion> questions_;  // scratch
  std::vector<forwarding::NextHop> gateways_;
  Time gateway_check_at_ = never;
};

}  // namespace tributary::switching
