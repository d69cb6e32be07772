// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "forwarding/rows.h"
#include "packet/packet.h"
#include "switch/bridge.h"
#include "switch/outlet.h"
#include "switch/usual_headers.h"
#include "wire/ethernet.h"

namespace tributary::switching {

// What a bridge does all day, in two steps between which memory is waited for: a frame goes from a
// station that is known to one that is known behind another port.
class BridgeLane {
 public:
  struct Ticket {
    forwarding::ProbeHome source;
    forwarding::ProbeHome destination;
  };

  BridgeLane(Bridge& bridge, Outlet& outlet) : fdb_(bridge.fdb()), outlet_(outlet) {}

  // Whether a frame that came in by a bridged port, and that no engine claims, is of this kind as
  // far as it says itself.
  bool expects(const UsualHeaders& headers, Ticket& ticket) const {
    const auto& ethernet = headers.ethernet;
    if (ethernet.destination.is_group() || ethernet.source.is_group() ||
        ethernet.type.value() == wire::ethertype::arp) {
      return false;
    }
    ticket = {fdb_.prefetch(ethernet.source), fdb_.prefetch(ethernet.destination)};
    return true;
  }

  // Sends a frame that is expected. False, and nothing done, if there is something about its
  // addresses.
  bool send(PacketPtr& packet, const Ticket& ticket, Time now) const {
    const auto& ethernet = *reinterpret_cast<const wire::EthernetHeader*>(packet->data());
    const auto from = packet->ingress;
    const auto to = fdb_.find(ticket.destination, ethernet.destination, now);
    if (to >= forwarding::bridge_interface || to == from ||
        !fdb_.see_again(ticket.source, ethernet.source, from, now)) {
      return false;
    }
    packet->noted = 0;
    outlet_.send(std::move(packet), to, Account::received);
    return true;
  }

 private:
  forwarding::Fdb& fdb_;
  Outlet& outlet_;
};

}  // namespace tributary::switching
