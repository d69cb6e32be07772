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

// One of those over which this rank spreads vectors.
struct CubeInterface {
  std::string name;
  wire::Ipv4Address address;
  Listener listener;  // for the ranks below on its network
};

// By their names or addresses, in the order that is given; all of them listen. Without any, that of
// `address`.
Result<std::vector<CubeInterface>> open_interfaces(const std::vector<std::string>& given,
                                                   wire::Ipv4Address address);

// "eth1 (10.1.0.4)"
std::string text_of(const CubeInterface& interface);

// Whether it is up and has a carrier.
bool is_running(const CubeInterface& interface);

// Where its interfaces listen, as a rank tells the others.
RendezvousEnd end_of(const std::vector<CubeInterface>& interfaces);
// By rank and interface. All ranks have as many: otherwise it is an error, on all of them.
Result<std::vector<std::vector<Endpoint>>> endpoints_of(const Meeting& meeting);

}  // namespace tributary::host
