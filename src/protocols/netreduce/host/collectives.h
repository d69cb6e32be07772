// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "host/clock.h"
#include "host/deadline.h"
#include "host/machine.h"
#include "protocols/netreduce/host/flow.h"
#include "protocols/netreduce/host/plan.h"
#include "protocols/netreduce/host/software_link.h"
#include "protocols/netreduce/host/statistics.h"

namespace tributary::host {

// Runs one rank's part in the collectives of one job, by NetReduce or by the hosts' ring, over
// connections made in software. It goes on answering the rank before after a collective: its
// acknowledgements may have been lost.
class NetReduceCollectives final : public Machine {
 public:
  enum class Adder : std::uint8_t { the_switch, hosts };
  // Preconditions: those of FlowControl, or of RingFlow where the hosts add.
  NetReduceCollectives(const Job& job, const NetReducePlan& plan, const LinkPlan& link,
                       const roce::Tuning& tuning = {}, Adder adder = Adder::the_switch);

  // Begins another run as planned, and forgets what is left of the one before, whose datagrams must
  // be sent. All ranks of the ring do so while none of them reduces.
  void begin_run(const NetReducePlan& plan);

  void begin(const Call& call, Time now, const Deadline& deadline) override;
  void skip(const Call& call) override { flow_->skip(call); }
  void abandon() override { flow_->abandon("this rank could not use its socket"); }

  void receive(std::span<const Arrival> burst, Time now) override;
  void poll(Outbox& outbox, Time now) override { link_->poll(outbox, now); }
  Time deadline() const override;
  void expire(Time now) override;

  bool running() const override { return flow_->running(); }
  bool retaining() const override { return !link_->idle(); }
  bool listening() const override { return true; }

  const Job& job() const override { return flow_->job(); }
  NetReduceStatistics statistics() const;

 private:
  void note(const Result<void>& outcome);
  void note_link();
  void give_up(Error error);

  Job job_;
  LinkPlan ends_;
  roce::Tuning tuning_;
  Adder adder_;
  std::optional<SoftwareLink> link_;
  std::unique_ptr<Flow> flow_;
  NetReduceStatistics past_;  // of the runs before
  Deadline deadline_;
};

}  // namespace tributary::host
