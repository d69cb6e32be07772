// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "host/carrier.h"
#include "host/clock.h"
#include "host/communicator_options.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/rendezvous/messages.h"
#include "host/ring/ring.h"
#include "host/transport/peer_watch.h"
#include "host/transport/tcp.h"

namespace tributary::host {

// Returns the deadline of a collective that begins now.
Deadline deadline_of(const CommunicatorOptions& options, Time now);
// Returns how long a collective may stand still once a rank is gone.
Duration stall_of(const CommunicatorOptions& options);
// Returns how long another rank may be away without a word: the shorter of the limits there are.
Duration patience_of(const CommunicatorOptions& options);

// A communicator of several ranks stands on these.
struct Connections {
  Ring ring;
  std::unique_ptr<Carrier> carrier;
  std::unique_ptr<PeerWatch> watch;  // null unless ranks that are late are waited for longer
};

Result<void> check(const CommunicatorOptions& options);

// Returns what of a hello follows from the options alone. Precondition: they are checked.
RendezvousHello hello_of(const CommunicatorOptions& options);

// Opens the sockets, meets the other ranks, joins the ring, and starts the threads; the ranks then
// tell each other whether all that went well. The options are checked, and outlive the carrier. On
// rank 0, `listener` is where the ranks meet, if it listens already. `ready` is the outcome of what
// this rank had to do besides; if that failed, it tells the others.
Result<Connections> connect(const CommunicatorOptions& options, const Deadline& until,
                            std::optional<Listener> listener = std::nullopt,
                            const Result<void>& ready = {});

}  // namespace tributary::host
