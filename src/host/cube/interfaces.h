// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/job.h"
#include "host/rendezvous/messages.h"
#include "host/rendezvous/rendezvous.h"
#include "host/transport/tcp.h"
#include "wire/ipv4.h"

namespace tributary::host {

// One of the interfaces over which this rank spreads vectors.
struct CubeInterface {
  std::string name;
  wire::Ipv4Address address;
  Listener listener;  // for lower ranks on its network
};

// Opens interfaces by their names or addresses, in the order that is given; all of them listen. If
// none is given, opens that of `address`.
Result<std::vector<CubeInterface>> open_interfaces(const std::vector<std::string>& given,
                                                   wire::Ipv4Address address);

// Names the interface: "eth1 (10.1.0.4)".
std::string text_of(const CubeInterface& interface);

// Tells whether it is up and has a carrier.
bool is_running(const CubeInterface& interface);

// Returns where its interfaces listen, as a rank tells the others.
RendezvousEnd end_of(const std::vector<CubeInterface>& interfaces);
// Returns endpoints by rank and interface. All ranks have as many: otherwise it is an error, on all
// of them.
Result<std::vector<std::vector<Endpoint>>> endpoints_of(const Meeting& meeting);

}  // namespace tributary::host
