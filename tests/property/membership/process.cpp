// SPDX-License-Identifier: BSD-3-Clause
#include "property/membership/process.h"

#include <algorithm>
#include <utility>

#include "host/object_bytes.h"
#include "host/rendezvous/table.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using host::Time;
using host::Word;
using host::WordKind;

constexpr std::size_t datagrams_max = 256;  // that a socket keeps

}  // namespace

Process::Process(const MembershipShape& shape, Surroundings& around, Birth birth)
    : shape_(shape),
      around_(around),
      birth_(std::move(birth)),
      random_(shape.seed * 1000003 + birth_.id),
      secret_(birth_.secret),
      until_(around.now() + birth_.patience) {
  wake(until_);
}

host::Duration Process::any_ms(std::uint64_t most) {
  return std::chrono::microseconds(below(most * 1000 + 1));
}

void Process::wake(Time when) {
  if (when < planned_) {
    planned_ = when;
    around_.wake(birth_.id, when);
  }
}

void Process::take_words(const std::vector<std::byte>& bytes) {
  unread_.insert(unread_.end(), bytes.begin(), bytes.end());
}

void Process::take_datagram(std::vector<std::byte> bytes) {
  if (datagrams_.size() < datagrams_max) {
    datagrams_.push_back(std::move(bytes));
  }
}

void Process::want(std::uint32_t world_size) {
  wants_ = true;
  wish_ = world_size;
}

void Process::calm_down(host::Duration patience) {
  calm_ = true;
  hangs_ = false;
  wants_ = true;
  wish_ = 0;
  frozen_until_ = {};
  birth_.patience = std::max(birth_.patience, patience);
}

void Process::kill() {
  machine_.reset();
  state_ = State::over;
  around_.hang_up(birth_.id);
}

void Process::step_at(Time planned) {
  if (planned == planned_) {
    planned_ = host::never;
    step();
  }
}

void Process::step() {
  if (is_over()) {
    return;
  }
  if (is_frozen()) {
    return wake(frozen_until_);
  }
  // The threads of a process that wakes up run in any order.
  const bool datagrams_first = below(2) == 0;
  if (datagrams_first) {
    pump();
  }
  hear();
  while (!is_over() && move()) {
  }
  if (!is_over()) {
    pump();
    while (!is_over() && move()) {
    }
  }
  if (!is_over()) {
    wake(next_time());
  }
}

Time Process::next_time() const {
  auto next = hangs_ && state_ == State::thinking ? host::never : until_;
  if (machine_ && (machine_->running() || machine_->retaining())) {
    next = std::min(next, machine_->deadline());
  }
  if (falls_out_at_) {
    next = std::min(next, *falls_out_at_);
  }
  return std::max(next, around_.now() + 1us);
}

void Process::hear() {
  if (state_ == State::coming && unread_.size() >= sizeof(host::RendezvousWelcome)) {
    come();
  }
  if (stream_ && !unread_.empty()) {
    stream_->feed(std::exchange(unread_, {}));
    for (;;) {
      const auto word = stream_->next();
      if (!word) {
        known_.lose(word.error().message);
        stream_.reset();
        break;
      }
      if (!*word) {
        break;
      }
      heard_.push_back(**word);
      hear(**word);
      if (!stream_) {
        break;
      }
    }
  }
  if (is_cut_) {
    known_.lose("the connection has ended");
  }
}

void Process::hear(const Word& word) {
  const auto before = known_.latest();
  if (!known_.hear(word)) {
    stream_.reset();
    if (known_.is_dismissed() && before != 0 && !known_.why_ended(before)) {
      blame("who is dismissed holds a membership that has not ended");
    }
  }
  if (word.kind == WordKind::place) {
    if (known_.latest() <= before) {
      blame("a membership has a number that is not larger than the one before");
    }
    if (before != 0 && !known_.why_ended(before)) {
      blame("an old membership has not ended");
    }
    if (known_.why_ended(known_.latest())) {
      blame("a new membership has ended already");
    }
  }
}

bool Process::come() {
  host::RendezvousWelcome welcome;
  std::copy_n(unread_.begin(), sizeof welcome, reinterpret_cast<std::byte*>(&welcome));
  unread_.erase(unread_.begin(), unread_.begin() + sizeof welcome);
  host::MemberHello hello;
  hello.joins = birth_.joins ? 1 : 0;
  hello.options.rank = birth_.rank;
  hello.options.world_size = birth_.world_size;
  hello.options.job = birth_.options;
  hello.options.algorithm = host::rendezvous_name("auto");
  hello.options.protocol = host::rendezvous_name("canary");
  host::RendezvousSession session{welcome.nonce, {}};
  for (auto& byte : session.guest) {
    byte = static_cast<std::uint8_t>(random_());
  }
  around_.introduce(birth_.id, session.guest);
  stream_.emplace(secret_, session, host::WordStream::End::member);
  const auto greeting = host::greeting_of(hello, session, secret_);
  const auto bytes = host::bytes_of(greeting);
  Meant meant;
  meant.kind = birth_.joins ? Meant::Kind::join : Meant::Kind::found;
  meant.rank = birth_.rank;
  meant.world_size = birth_.world_size;
  meant.options = birth_.options;
  around_.say(birth_.id, {bytes.begin(), bytes.end()}, meant);
  wait_for_place(0);
  return true;
}

bool Process::move() {
  switch (state_) {
    case State::coming:
      if (around_.now() >= until_ || is_cut_) {
        kill();
      }
      return false;
    case State::placing:
      return place();
    case State::meeting:
      return meet();
    case State::joining:
      return join();
    case State::news:
      return await_news();
    case State::working:
      return work();
    case State::thinking:
      return think();
    default:
      return false;
  }
}

void Process::blame(const std::string& what) {
  if (fault_.empty()) {
    fault_ = "process " + std::to_string(birth_.id) + ": " + what;
  }
}

std::string Process::state_text() const {
  constexpr const char* names[] = {
      "comes", "waits for a place", "waits for shares", "joins", "waits for news",
      "works", "will regroup",      "is over"};
  return "process " + std::to_string(birth_.id) + " " + names[static_cast<std::size_t>(state_)] +
         ", in " + std::to_string(epoch_) + ", latest " + std::to_string(known_.latest()) +
         ", after " + std::to_string(after_) + ", call " + std::to_string(call_) +
         (in_call_ ? " runs" : "") + (is_cut_ ? ", cut off" : "") +
         (known_.is_dismissed() ? ", dismissed" : "");
}

}  // namespace tributary::test
