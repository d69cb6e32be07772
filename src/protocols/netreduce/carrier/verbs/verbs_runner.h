// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  // begin_run() comes before all else.
  VerbsRunner(Job job, const LinkPlan& ends, std::unique_ptr<VerbsLink> link)
      : job_(std::move(job)), ends_(ends), link_(std::move(link)) {}

  // Begins a run as planned, and forgets what is left of the one before. All ranks of the ring do
  // so while none of them reduces.
  Result<void> begin_run(const NetReducePlan& plan);

  Result<void> run(const Call& call, Deadline until) override;
  void skip(const Call& call) override { flow_->skip(call); }
  bool retaining() override;
  const Job& job() const override { return job_; }
  NetReduceStatistics statistics() const {
    return {flow_->plan().ring, past_messages_ + flow_->messages_posted(), {}};
  }

 private:
  Result<void> drive(Deadline& until);
  // Returns whether something came.
  Result<bool> step(Time until);

  Job job_;
  LinkPlan ends_;
  std::unique_ptr<VerbsLink> link_;
  std::optional<FlowControl> flow_;
  std::uint64_t past_messages_ = 0;  // of the runs before
};

}  // namespace tributary::host
