// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/error.h"
#include "host/rendezvous/rendezvous.h"
#include "host/transport/tcp.h"
#include "system/file_descriptor.h"

namespace tributary::host {

// A connection to another rank.
struct RingPeer {
  std::uint32_t rank = 0;
  FileDescriptor fd;
  std::size_t wake_bytes = 1;  // received bytes that end a wait
};

// The connections that the collectives of the hosts use.
struct RingConnections {
  RingPeer next;                   // sent to
  RingPeer previous;               // received from
  std::vector<RingPeer> partners;  // of recursive doubling; used both ways
};

// Connects this rank with the others. Everybody has listened, at `listener`, since before the
// meeting. An error of `wait` is returned as it is.
Result<RingConnections> connect_ring(const Meeting& meeting, const Listener& listener, Time until,
                                     const Wait& wait);

// This text goes behind what a rank did not do in time.
inline constexpr auto lateness =
    ": it is late or has ended, or the network loses too much between the hosts; see what it says "
    "itself and 'tributaryctl drops' on the switches, or allow more time (TRIBUTARY_STALL_TIMEOUT, "
    "or TRIBUTARY_DEADLINE where that is set)";

// Returns the error that says that the connection with `who` broke.
Error lost(const std::string& who, const std::string& why);

}  // namespace tributary::host
