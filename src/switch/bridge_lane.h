// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "forwarding/rows.h"
#include "packet/packet.h"
#include "switch/bridge.h"
#include "switch/outlet.h"
#include "switch/usual_headers.h"
#include "wire/ethernet.h"
#include "wire/vlan.h"

namespace tributary::switching {

// BridgeLane does what a bridge does all day, in two steps between which memory is waited for: a
// frame goes from a station that is known to one that is known behind another port. The code is
// instantiated twice, so that a bridge without VLANs does nothing for them.
class BridgeLane {
 public:
  struct Ticket {
    forwarding::ProbeHome source;
    forwarding::ProbeHome destination;
  };

  BridgeLane(Bridge& bridge, Outlet& outlet)
      : bridge_(bridge), fdb_(bridge.fdb()), outlet_(outlet) {}

  bool has_vlans() const { return bridge_.vlans().on(); }

  // Says whether a frame is of this kind as far as its headers tell. It came in by a bridged port,
  // and no engine claims it.
  template <bool has_vlans>
  bool expects(const Packet& packet, const UsualHeaders& headers, Ticket& ticket) const {
    const auto& ethernet = headers.ethernet;
    const auto type = has_vlans ? ethernet.type.value() : headers.carried_type();
    if (ethernet.destination.is_group() || ethernet.source.is_group() ||
        type == wire::ethertype::arp || type == wire::ethertype::mac_control) {
      return false;
    }
    const auto vid = vid_of<has_vlans>(packet);
    ticket = {fdb_.prefetch({ethernet.source, vid}), fdb_.prefetch({ethernet.destination, vid})};
    return true;
  }

  // Sends a frame that is expected. Returns false, with nothing done, if the bridge has more to do
  // for one of its addresses.
  template <bool has_vlans>
  bool send(PacketPtr& packet, const Ticket& ticket, Time now) const {
    const auto& ethernet = *reinterpret_cast<const wire::EthernetHeader*>(packet->data());
    const auto from = packet->ingress;
    const auto vid = vid_of<has_vlans>(*packet);
    const auto to = fdb_.find(ticket.destination, {ethernet.destination, vid}, now);
    if (to >= forwarding::bridge_interface || to == from ||
        !fdb_.see_again(ticket.source, {ethernet.source, vid}, from, now)) {
      return false;
    }
    packet->noted = 0;
    if constexpr (has_vlans) {
      bridge_.send(std::move(packet), to, Account::received);
    } else {
      outlet_.send(std::move(packet), to, Account::received);
    }
    return true;
  }

 private:
  template <bool has_vlans>
  static std::uint16_t vid_of(const Packet& packet) {
    return has_vlans ? wire::vid_of(packet.vlan) : std::uint16_t{0};
  }

  Bridge& bridge_;
  forwarding::Fdb& fdb_;
  Outlet& outlet_;
};

}  // namespace tributary::switching
