// SPDX-License-Identifier: BSD-3-Clause
// The work of a process between two epochs: allreduces with the other members.
#include <algorithm>
#include <utility>

#include "host/outbox.h"
#include "property/membership/process.h"

namespace tributary::test {
namespace {

using host::Time;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  auto mix = (a ^ (b + 0x9E3779B97F4A7C15u + (a << 6) + (a >> 2))) * 0xBF58476D1CE4E5B9u;
  mix ^= mix >> 29;
  return mix;
}

// A collective checks at this interval whether it was given up.
constexpr std::uint64_t look_ms = 100;

}  // namespace

void Process::begin_work() {
  epoch_ = after_;
  call_ = 0;
  in_call_ = false;
  regroups_left_ = 3;
  falls_out_at_.reset();
  state_ = State::working;
  until_ = around_.now() + any_ms(shape_.calls_ms);
  machine_ = job_.world_size() > 1 ? std::make_unique<host::CanaryCollectives>(job_) : nullptr;
}

std::size_t Process::elements() const {
  return 1 + mixed(epoch_, call_) % shape_.elements;
}

std::vector<std::int64_t> Process::contribution(ProcessId of) const {
  std::vector<std::int64_t> vector(elements());
  for (std::size_t i = 0; i < vector.size(); ++i) {
    vector[i] = static_cast<std::int64_t>(mixed(mixed(of, epoch_), mixed(call_, i)) >> 16);
  }
  return vector;
}

bool Process::work() {
  if (known_.why_ended(epoch_) && !falls_out_at_) {
    falls_out_at_ = around_.now() + any_ms(look_ms);
  }
  if (falls_out_at_ && around_.now() >= *falls_out_at_) {
    fall_out();
    return true;
  }
  if (in_call_ && (!machine_ || !machine_->running())) {
    end_call();
    return true;
  }
  if (in_call_ || around_.now() < until_) {
    return false;
  }
  if (retires_) {
    kill();
    return false;
  }
  if (falls_out_at_) {  // whatever is called now fails
    fall_out();
    return true;
  }
  const bool takes_in = calm_ && known_.waiting() != 0;
  if (wants_ || takes_in) {
    regroup();
    return true;
  }
  begin_call();
  return true;
}

void Process::begin_call() {
  in_call_ = true;
  until_ = host::never;
  in_ = contribution(birth_.id);
  out_.assign(in_.size(), -1);
  if (!machine_) {
    out_ = in_;
    return;
  }
  const auto call = host::call_of(host::Collective::allreduce, in_.data(), out_.data(), in_.size(),
                                  wire::ElementType::i64, wire::Operator::sum);
  machine_->begin(call, around_.now(), host::Deadline(host::never, birth_.patience));
}

void Process::end_call() {
  in_call_ = false;
  if (machine_ && machine_->failure()) {
    return fall_out();
  }
  check_sum();
  ++call_;
  ++sums_;
  // Calls become rarer, so that a long membership does not cost more than a short one.
  until_ = around_.now() + any_ms(shape_.calls_ms * (1 + call_));
}

void Process::check_sum() {
  const auto& members = around_.members(birth_.id, epoch_);
  if (members.size() != job_.world_size() || members[job_.rank] != birth_.id) {
    return blame("its membership " + std::to_string(epoch_) + " is not what the keeper has");
  }
  std::vector<std::int64_t> sum(in_.size(), 0);
  for (const auto member : members) {
    const auto part = contribution(member);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += part[i];
    }
  }
  if (sum != out_) {
    blame("a wrong sum, of call " + std::to_string(call_) + " in membership " +
          std::to_string(epoch_));
  }
}

// Ends the call with an error, after which the caller calls regroup() at some time.
void Process::fall_out() {
  ++errors_;
  if (machine_) {
    machine_->abandon();
  }
  in_call_ = false;
  falls_out_at_.reset();
  state_ = State::thinking;
  // It regroups with the processes that are there, or asks for one in the place of those that are
  // gone.
  wish_ = !calm_ && shape_.wish != 0 && below(2) == 0 ? job_.world_size() : 0;
  until_ = around_.now() + any_ms(20);
}

void Process::pump() {
  const auto now = around_.now();
  if (!machine_) {
    strays_ += datagrams_.size();
    datagrams_.clear();
    return;
  }
  for (auto& datagram : std::exchange(datagrams_, {})) {
    machine_->receive(datagram, now);
  }
  if (now >= machine_->deadline()) {
    machine_->expire(now);
  }
  host::Outbox outbox(16);
  for (machine_->poll(outbox, now); !outbox.empty(); machine_->poll(outbox, now)) {
    for (; !outbox.empty(); outbox.pop()) {
      const auto& out = outbox.front();
      const auto header = out.header();
      std::vector<std::byte> bytes(header.begin(), header.end());
      bytes.insert(bytes.end(), out.payload.begin(), out.payload.end());
      around_.send(out.destination, std::move(bytes));
    }
  }
}

}  // namespace tributary::test
