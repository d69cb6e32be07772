// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/collectives.h"

#include <algorithm>
#include <utility>

#include "protocols/netreduce/host/flow_control.h"
#include "protocols/netreduce/host/ring_flow.h"

namespace tributary::host {

NetReduceCollectives::NetReduceCollectives(const Job& job, const NetReducePlan& plan,
                                           const LinkPlan& link, const roce::Tuning& tuning,
                                           Adder adder)
    : job_(job), ends_(link), tuning_(tuning), adder_(adder) {
  begin_run(plan);
}

void NetReduceCollectives::begin_run(const NetReducePlan& plan) {
  if (flow_) {
    past_ = statistics();
  }
  job_.payload_bytes = plan.mtu;
  link_.emplace(plan, job_.self().ip(), ends_, tuning_);
  past_.ring = plan.ring;
  if (adder_ == Adder::hosts) {
    flow_ = std::make_unique<RingFlow>(job_, plan, *link_);
  } else {
    flow_ = std::make_unique<FlowControl>(job_, plan, *link_);
  }
}

void NetReduceCollectives::begin(const Call& call, Time now, const Deadline& deadline) {
  forget_failure();
  deadline_ = deadline;
  deadline_.begin(now);
  note(flow_->begin(call));
  note_link();
}

void NetReduceCollectives::receive(std::span<const Arrival> burst, Time now) {
  const auto passed = link_->packets_passed();
  link_->receive(burst, now);
  if (link_->packets_passed() != passed) {
    deadline_.progress(now);
  }
  note(flow_->acknowledged(link_->acknowledged()));
  while (const auto written = link_->next_arrived()) {
    note(flow_->arrived(written->immediate, written->bytes));
  }
  note_link();
}

Time NetReduceCollectives::deadline() const {
  return running() ? std::min(deadline_.due(), link_->deadline()) : link_->deadline();
}

void NetReduceCollectives::expire(Time now) {
  link_->expire(now);
  note_link();
  if (running() && deadline_.passed(now)) {
    give_up({Error::Code::timeout,
             deadline_.explain(name(flow_->call().collective)) + ": " + flow_->diagnose()});
  }
}

// A link that failed between two collectives has nobody to tell before the next begins.
void NetReduceCollectives::note_link() {
  if (running() && link_->failure()) {
    give_up({Error::Code::network, *link_->failure()});
  }
}

void NetReduceCollectives::note(const Result<void>& outcome) {
  if (!outcome) {
    give_up(outcome.error());
  }
}

void NetReduceCollectives::give_up(Error error) {
  error.message = with_trouble(std::move(error.message));
  flow_->abandon(error.message);
  failure_ = std::move(error);
}

NetReduceStatistics NetReduceCollectives::statistics() const {
  auto statistics = past_;
  statistics.messages_sent += flow_->messages_posted();
  statistics.roce += link_->statistics();
  return statistics;
}

}  // namespace tributary::host
