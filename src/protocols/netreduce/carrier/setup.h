// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/communicator_options.h"
#include "host/error.h"
#include "host/rendezvous/messages.h"
#include "host/rendezvous/rendezvous.h"
#include "host/roce/tuning.h"
#include "protocols/netreduce/host/collectives.h"
#include "protocols/netreduce/host/link.h"
#include "protocols/netreduce/host/plan.h"

namespace tributary::host {

Result<void> check_netreduce(const CommunicatorOptions& options);

// Precondition: checked.
NetReducePlan netreduce_plan_of(const CommunicatorOptions& options);

// IP bytes of the longest packet.
std::uint32_t ip_bytes_of(const NetReducePlan& plan);

// Of an endpoint in software: numbers that nobody can guess.
Result<LinkEnd> draw_link_end();

// What a rank tells the others of its ring ...
void tell(const NetReducePlan& plan, const LinkEnd& end, RendezvousHello& hello);
// ... and is told of its neighbours.
LinkPlan link_plan_of(const Meeting& meeting, const LinkEnd& mine);
// Whether some ranks have an RDMA device, and others an endpoint in software.
bool is_mixed(const Meeting& meeting);

// A connection is not given up before the collective is: a rank may be that late.
roce::Tuning roce_tuning_of(const CommunicatorOptions& options);

}  // namespace tributary::host
