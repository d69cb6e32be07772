// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "host/clock.h"
#include "host/communicator.h"
#include "host/error.h"
#include "host/job.h"
#include "host/netreduce/collectives.h"
#include "host/netreduce/plan.h"
#include "host/panama/plan.h"
#include "host/ring/ring.h"
#include "host/transport/uring_transport.h"
#include "host/verbs/verbs_runner.h"

namespace tributary::host {

// Beyond that the arithmetic of clocks ends.
inline constexpr std::chrono::hours deadline_max{24 * 365};

// What a communicator of several ranks stands on.
struct Connections {
  Job job;
  PanamaPlan plan;  // without trees unless PANAMA is wanted
  std::optional<NetReducePlan> netreduce = {};
  LinkPlan link = {};  // of NetReduce
  bool mixed = false;  // some of its ranks have an RDMA device, others an endpoint in software
  // Either datagrams, or a device that is told of whole messages.
  std::optional<UringTransport> transport = {};
  std::unique_ptr<VerbsRunner> device = {};
  Ring ring;
};

Result<void> check(const CommunicatorOptions& options);

// Opens the sockets, meets the other ranks, and joins the ring.
Result<Connections> connect(const CommunicatorOptions& options, Time until);

}  // namespace tributary::host
