// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forwarding/config.h"
#include "packet/clock.h"
#include "switch/bridge.h"
#include "switch/interfaces.h"
#include "switch/neighbours.h"
#include "switch/neighbours6.h"

namespace tributary::switching {

// Tells the hosts of each interface, unasked and a few times, which link-layer address the router
// has there: they may remember that of a switch which was replaced. It uses gratuitous ARP (RFC
// 5227, 2.3) and unsolicited neighbour advertisements (RFC 4861, 7.2.6). One core of a switch
// announces. It does not look whether somebody else has the same addresses, as the operator has
// assigned them.
class Announcer {
 public:
  // This core announces.
  static constexpr unsigned core = 0;

  Announcer(const Interfaces& interfaces, const Bridge& bridge, Neighbours& neighbours,
            Neighbours6& neighbours6, CoreShare share);

  // The switch begins its work, so everything is announced.
  void announce();
  // The link of a port came up, so the hosts behind it, and with them all of its VLANs, are told.
  void hurry(PortIndex port);
  // Addresses that an interface did not have before are announced.
  void reconfigure();

  void expire(Time now);
  Time deadline() const { return deadline_; }

 private:
  // A speech is what one interface is still to be told.
  struct Speech {
    PortIndex interface = no_port;
    std::uint16_t vid = 0;  // of an interface on the bridge
    std::optional<forwarding::InterfaceAddress> address;
    std::optional<forwarding::InterfaceAddress6> address6;
    std::uint32_t left = 0;  // how often it is still to be said
    Time due{};              // it is said no earlier
  };

  static std::vector<Speech> speeches_of(const Interfaces& interfaces);
  void refresh_deadline();

  const Interfaces& interfaces_;
  const Bridge& bridge_;
  Neighbours& neighbours_;
  Neighbours6& neighbours6_;
  bool speaks_;
  std::vector<Speech> speeches_;
  Time deadline_ = never;
};

}  // namespace tributary::switching
