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
#include "wire/ip_address.h"

namespace tributary::host {

// One of the interfaces over which this rank spreads vectors.
struct CubeInterface {
  std::string name;
  Listener listener;  // for lower ranks on its network, at the interface's address

  wire::IpAddress address() const { return listener.local.ip(); }
};

// Opens interfaces by their names or addresses, in the order that is given; all of them listen. If
// none is given, opens that of `own`, the rank's address. Over IPv6 all have the prefix of that, as
// others know them by the lower 32 bits.
Result<std::vector<CubeInterface>> open_interfaces(const std::vector<std::string>& given,
                                                   const wire::IpAddress& own);

// Names the interface: "eth1 (10.1.0.4)".
std::string text_of(const CubeInterface& interface);
// Names the interface of a rank: "rank 2 over eth1 (10.1.0.4)".
std::string text_of(std::uint32_t rank, const CubeInterface& interface);

// Tells whether it is up and has a carrier.
bool is_running(const CubeInterface& interface);
// Returns the error where it is not.
Error down(std::uint32_t rank, const CubeInterface& interface);
// Says at the end of an error what people can do about an interface that has failed.
inline constexpr auto without_it =
    "; make a communicator without that interface (TRIBUTARY_INTERFACES), or mend it";

// Returns where its interfaces listen, as a rank tells the others.
RendezvousEnd end_of(const std::vector<CubeInterface>& interfaces);
// Returns endpoints by rank and interface. All ranks have as many: otherwise it is an error, on all
// of them.
Result<std::vector<std::vector<Endpoint>>> endpoints_of(const Meeting& meeting);

}  // namespace tributary::host
