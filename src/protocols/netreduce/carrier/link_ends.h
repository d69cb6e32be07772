// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/error.h"
#include "host/rendezvous/messages.h"
#include "host/rendezvous/rendezvous.h"
#include "protocols/netreduce/host/collectives.h"
#include "protocols/netreduce/host/link.h"

namespace tributary::host {

// Draws the numbers of an endpoint in software, so that nobody can guess them.
Result<LinkEnd> draw_link_end();

// Writes what a rank tells the others of its connections.
RendezvousEnd to_wire(const LinkEnd& end);
// Reads what this rank's neighbours told of their connections.
LinkPlan link_plan_of(const Meeting& meeting, const LinkEnd& mine);
// Returns whether some ranks have an RDMA device, and others an endpoint in software.
bool is_mixed(const Meeting& meeting);

}  // namespace tributary::host
