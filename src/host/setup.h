// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "host/clock.h"
#include "host/communicator.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/job.h"
#include "host/ring/ring.h"
#include "host/transport/uring_transport.h"
#include "protocols/netreduce/carrier/verbs/verbs_runner.h"
#include "protocols/netreduce/host/collectives.h"
#include "protocols/netreduce/host/plan.h"
#include "protocols/panama/host/plan.h"

namespace tributary::host {

// Of a collective that begins now.
Deadline deadline_of(const CommunicatorOptions& options, Time now);
// For how long another rank may be away, without a word: the shorter of the limits there are.
Duration patience_of(const CommunicatorOptions& options);

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
