// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/verbs/verbs_runner.h"

#include <algorithm>

namespace tributary::host {

Result<void> VerbsRunner::begin_run(const NetReducePlan& plan) {
  past_messages_ += flow_ ? flow_->messages_posted() : 0;
  job_.payload_bytes = plan.mtu;
  flow_.emplace(job_, plan, *link_);
  return link_->connect(plan, ends_.next, ends_.before);
}

Result<void> VerbsRunner::run(const Call& call, Deadline until) {
  until.begin(Clock::now());
  auto done = flow_->begin(call).and_then([&] { return drive(until); });
  if (!done) {
    flow_->abandon(done.error().message);
  }
  return done;
}

Result<void> VerbsRunner::drive(Deadline& until) {
  while (flow_->running()) {
    if (until.passed(Clock::now())) {
      return fail(Error::Code::timeout,
                  until.explain(name(flow_->call().collective)) + ": " + flow_->diagnose());
    }
    const auto stepped = step(std::min(until.due(), Clock::now() + Deadline::look_interval));
    if (!stepped) {
      // It is the device that has waited too long, and knows nothing of what is in messages.
      const auto& [code, message] = stepped.error();
      return fail(code, message + (code == Error::Code::timeout ? flow_->likely_cause() : ""));
    }
    if (*stepped) {
      until.progress(Clock::now());
    }
  }
  return {};
}

// Returns whether the next rank may still need something that was sent.
bool VerbsRunner::retaining() {
  return step(Time::min()).has_value() && !flow_->settled();
}

Result<bool> VerbsRunner::step(Time until) {
  const auto events = link_->wait(until);
  if (!events) {
    return tl::make_unexpected(events.error());
  }
  for (const auto& event : *events) {
    auto taken = event.kind == LinkEvent::Kind::arrived ? flow_->arrived(event.message, event.bytes)
                                                        : flow_->acknowledged(event.message + 1);
    if (!taken) {
      return tl::make_unexpected(taken.error());
    }
  }
  return !events->empty();
}

}  // namespace tributary::host
