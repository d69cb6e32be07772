// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>

#include "engine/actions.h"
#include "forwarding/route_table.h"
#include "packet/fate.h"
#include "switch/hop_chooser.h"
#include "switch/interfaces.h"
#include "switch/outlet.h"
#include "wire/ethernet.h"

namespace tributary::switching {

// Each version of IP has reasons of its own for these.
struct RawReasons {
  DropReason no_route;
  DropReason too_big;
};

// A RawRouter sends on frames of engines that have no IP header, by what the router of either
// version of IP knows of routes and neighbours.
template <typename Routes, typename Neighbours>
class RawRouter {
 public:
  RawRouter(Routes& routes, HopChooser& chooser, const Interfaces& interfaces,
            Neighbours& neighbours, Outlet& outlet, const RawReasons& reasons)
      : routes_(routes),
        chooser_(chooser),
        interfaces_(interfaces),
        neighbours_(neighbours),
        outlet_(outlet),
        reasons_(reasons) {}

  template <typename Address>
  void forward(PacketPtr packet, const Address& destination, const engine::Path& path,
               Account account, Time now) const {
    const auto drop = [&](DropReason reason) { outlet_.drop(std::move(packet), reason, account); };
    auto* group = routes_.find(destination);
    if (const auto reason = refusal(group)) {
      return drop(*reason);
    }
    const auto hop = chooser_.choose(*group, now, *packet, path);
    if (account == Account::received && comes_from(*packet, hop, now)) {
      return drop(DropReason::ttl_exceeded);
    }
    if (packet->length - sizeof(wire::EthernetHeader) > interfaces_.mtu(hop.interface)) {
      return drop(reasons_.too_big);
    }
    const auto neighbour = hop.via.is_unspecified() ? destination : hop.via;
    neighbours_.send_on(std::move(packet), hop.interface, neighbour, account, now);
  }

 private:
  template <typename Group>
  std::optional<DropReason> refusal(const Group* group) const {
    using Kind = forwarding::Route::Kind;
    if (group == nullptr) {
      return reasons_.no_route;
    }
    if (group->route.kind == Kind::local) {
      return DropReason::local_unserved;
    }
    if (group->route.kind == Kind::broadcast) {
      return DropReason::ip_not_for_us;
    }
    return group->live.empty() ? std::optional(DropReason::next_hops_down) : std::nullopt;
  }
  // Says whether a frame would go back to the router from which it came. As it has no TTL, it might
  // go to and fro for ever.
  template <typename Hop>
  bool comes_from(const Packet& packet, const Hop& hop, Time now) const {
    return !hop.via.is_unspecified() && hop.interface == interfaces_.interface_of(packet) &&
           neighbours_.has_sent_on(packet, hop.interface, hop.via, now);
  }

  Routes& routes_;
  HopChooser& chooser_;
  const Interfaces& interfaces_;
  Neighbours& neighbours_;
  Outlet& outlet_;
  RawReasons reasons_;
};

}  // namespace tributary::switching
