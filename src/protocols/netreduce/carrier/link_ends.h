// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/error.h"
#include "host/rendezvous/messages.h"
#include "host/rendezvous/rendezvous.h"
#include "protocols/netreduce/host/collectives.h"
#include "protocols/netreduce/host/link.h"

namespace tributary::host {

// Of an endpoint in software: numbers that nobody can guess.
Result<LinkEnd> draw_link_end();

// What a rank tells the others of its connections ...
RendezvousEnd to_wire(const LinkEnd& end);
// ... and is told of its neighbours'.
LinkPlan link_plan_of(const Meeting& meeting, const LinkEnd& mine);
// Whether some ranks have an RDMA device, and others an endpoint in software.
bool is_mixed(const Meeting& meeting);

}  // namespace tributary::host
