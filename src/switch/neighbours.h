// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "switch/resolver.h"
#include "wire/arp.h"
#include "wire/cursor.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::switching {

// Asks for neighbours of IPv4 by ARP (RFC 826), and answers for the switch.
class Neighbours : public Resolver<wire::Ipv4Address> {
 public:
  Neighbours(const SwitchConfig& config, const Interfaces& interfaces, Bridge& bridge,
             Outlet& outlet, CoreShare share, std::uint64_t seed);

  // An address is the same neighbour on all interfaces, as it is not in IPv6 (see Neighbours6).
  void send_on(PacketPtr frame, PortIndex interface, const wire::Ipv4Address& address,
               Account account, Time now) {
    send(std::move(frame), interface, address, account, now);
  }
  bool has_sent_on(const Packet& frame, PortIndex /*interface*/, const wire::Ipv4Address& address,
                   Time now) const {
    return has_sent(frame, address, now);
  }

  // Returns the ARP message in a frame, or null. A message whose sender gives another address than
  // its frame came from was damaged or forged, and would be believed for minutes.
  static const wire::ArpHeader* parse(const wire::EthernetHeader& ethernet, wire::Bytes payload) {
    if (ethernet.type.value() != wire::ethertype::arp) {
      return nullptr;
    }
    const auto* arp = wire::Cursor(payload).take<wire::ArpHeader>();
    const bool is_sound =
        arp != nullptr && arp->is_ethernet_ipv4() && arp->sender_mac == ethernet.source;
    return is_sound ? arp : nullptr;
  }

  // Learns from ARP and answers it. Returns true if the switch was asked or answered: nobody else
  // is meant.
  bool receive(const Packet& frame, const wire::ArpHeader& arp, PortIndex interface, Time now);
  // Learns what another core learned.
  void learn_quietly(const wire::ArpHeader& arp, PortIndex interface, Time now);
  // Tells everybody on an interface which addresses it answers for there, if there are any.
  void announce(PortIndex interface, Time now);

  void reconfigure(const SwitchConfig& config);

 private:
  void ask(const Question& question, Time now) override;

  bool learn(const wire::ArpHeader& arp, PortIndex interface, Time now);
  void add_static(const SwitchConfig& config);
  void announce(const wire::Ipv4Address& address, PortIndex interface, Time now);
  void answer(const wire::ArpHeader& request, PortIndex interface, Time now);
  void send_arp(const wire::ArpHeader& arp, PortIndex interface,
                const wire::MacAddress& destination, Time now);
};

}  // namespace tributary::switching
