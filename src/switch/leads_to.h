// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "switch/interfaces.h"
#include "switch/vlans.h"

namespace tributary::switching {

// Returns whether there may be hosts of that interface of the router behind a port: a routed port
// is an interface itself, and a bridged one leads to those that are in its VLANs.
inline bool leads_to(PortIndex port, PortIndex interface, const Interfaces& interfaces,
                     const Vlans& vlans) {
  if (!interfaces.port(port).bridged()) {
    return interface == port;
  }
  const auto* const on_bridge = interfaces.find_on_bridge(interface);
  return forwarding::is_on_bridge(interface) && on_bridge != nullptr &&
         vlans.carries(port, on_bridge->vid);
}

}  // namespace tributary::switching
