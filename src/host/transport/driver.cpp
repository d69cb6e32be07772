// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/driver.h"

#include <algorithm>

namespace tributary::host {
namespace {

constexpr auto send_patience = std::chrono::seconds(1);

}  // namespace

Result<void> Driver::run(const Call& call, Deadline until) {
  const OwnerScope here(progress_);
  lost_ = false;
  const auto begun = Clock::now();
  until.begin(begun);
  transport_.forget_trouble();
  Result<void> result;
  try {
    machine_.begin(call, begun, until);
    result = drive(until);
  } catch (...) {  // no memory: nobody is to use the caller's buffers
    give_up();
    (void)transport_.flush(Clock::now() + send_patience);
    throw;
  }
  if (!result) {
    give_up();
  }
  // The caller may reuse its buffers as soon as this returns.
  const auto now = Clock::now();
  const auto flushed =
      transport_.flush((result ? std::max(until.due(), now) : now) + send_patience);
  return result ? flushed : result;
}

void Driver::give_up() {
  machine_.abandon();
  outbox_.clear();
}

Result<void> Driver::let_go() {
  outbox_.clear();
  return transport_.flush(Clock::now() + send_patience);
}

// Drives the machine until it has an answer.
Result<void> Driver::drive(Deadline& until) {
  auto now = Clock::now();
  for (;;) {
    machine_.poll(outbox_, now);
    if (machine_.failure()) {  // what came early may already have made begin() fail
      return tl::make_unexpected(*machine_.failure());
    }
    if (!machine_.running() && outbox_.empty()) {
      return {};
    }
    // Once the machine is done there are only its last packets to send, and nothing to wait for.
    const auto wait_until =
        machine_.running() ? std::min(machine_.deadline(), now + Deadline::look_interval) : now;
    const auto arrived = transport_.exchange(outbox_, wait_until);
    if (!arrived) {
      return tl::make_unexpected(arrived.error());
    }
    now = Clock::now();
    machine_.receive(*arrived, now);
    machine_.note_trouble(transport_.trouble());
    machine_.expire(now);
    if (machine_.running()) {
      until.begin(now);  // for its last packets, once it is done
    } else if (until.passed(now - send_patience)) {
      return fail(Error::Code::timeout, "the socket does not take the last results of this rank");
    }
  }
}

void Driver::skip(const Call& call) {
  const OwnerScope here(progress_);
  machine_.skip(call);
}

bool Driver::retaining() {
  const OwnerScope here(progress_, true);
  return machine_.retaining();
}

void Driver::progress() {
  lost_ = !answer();
}

// Takes what came and sends what the machine says to it. What is sent lies in the machine, so that
// it must be gone before the machine is used again.
Result<void> Driver::answer() {
  constexpr int rounds_max = 64;  // the owner may be waiting
  auto now = Clock::now();
  machine_.expire(now);
  for (int round = 0; round < rounds_max; ++round) {
    machine_.poll(outbox_, now);
    const auto arrived = transport_.attend(outbox_);
    if (!arrived) {
      return tl::make_unexpected(arrived.error());
    }
    now = Clock::now();
    machine_.receive(*arrived, now);
    if (auto sent = transport_.flush(now + send_patience); !sent) {
      return sent;
    }
    if (arrived->empty() && outbox_.empty()) {
      return {};
    }
  }
  return {};
}

}  // namespace tributary::host
