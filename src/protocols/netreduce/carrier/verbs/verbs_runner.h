// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "host/call.h"
#include "host/clock.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/job.h"
#include "host/runner.h"
#include "protocols/netreduce/carrier/verbs/verbs_link.h"
#include "protocols/netreduce/host/flow_control.h"
#include "protocols/netreduce/host/statistics.h"

namespace tributary::host {

// Runs the collectives of one ring over an RDMA device, on the caller's thread. What is sent again,
// or acknowledged again, between collectives is the device's business.
class VerbsRunner final : public Runner {
 public:
  // Precondition: the link is connected.
  VerbsRunner(Job job, const NetReducePlan& plan, std::unique_ptr<VerbsLink> link)
      : link_(std::move(link)), flow_(std::move(job), plan, *link_) {}

  Result<void> run(const Call& call, Deadline until) override;
  void skip(const Call& call) override { flow_.skip(call); }
  bool retaining() override;
  const Job& job() const override { return flow_.job(); }
  NetReduceStatistics statistics() const {
    return {flow_.plan().ring, flow_.messages_posted(), {}};
  }

 private:
  Result<void> drive(Deadline& until);
  // Returns whether something came.
  Result<bool> step(Time until);

  std::unique_ptr<VerbsLink> link_;
  FlowControl flow_;
};

}  // namespace tributary::host
