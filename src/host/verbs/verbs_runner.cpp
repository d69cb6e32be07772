// SPDX-License-Identifier: BSD-3-Clause
#include "host/verbs/verbs_runner.h"

namespace tributary::host {

Result<void> VerbsRunner::run(const Call& call, Time until) {
  auto done = flow_.begin(call).and_then([&] { return drive(until); });
  if (!done) {
    flow_.abandon(done.error().message);
  }
  return done;
}

Result<void> VerbsRunner::drive(Time until) {
  while (flow_.running()) {
    if (Clock::now() >= until) {
      return fail(Error::Code::timeout, flow_.diagnose());
    }
    if (auto stepped = step(until); !stepped) {
      return stepped;
    }
  }
  return {};
}

// Whether the next rank may still need something that was sent.
bool VerbsRunner::retaining() {
  return step(Time::min()) && !flow_.settled();
}

Result<void> VerbsRunner::step(Time until) {
  const auto events = link_->wait(until);
  if (!events) {
    return tl::make_unexpected(events.error());
  }
  for (const auto& event : *events) {
    auto taken = event.kind == LinkEvent::Kind::arrived ? flow_.arrived(event.message, event.bytes)
                                                        : flow_.acknowledged(event.message + 1);
    if (!taken) {
      return taken;
    }
  }
  return {};
}

}  // namespace tributary::host
