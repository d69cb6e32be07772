// SPDX-License-Identifier: BSD-3-Clause
// Takes a process from one membership to the next, as communicator_membership.cpp does.
#include <array>
#include <chrono>
#include <cstring>
#include <vector>

#include "host/object_bytes.h"
#include "property/membership/process.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using host::Word;
using host::WordKind;

constexpr auto keeper_grace = 2s;
constexpr auto news_grace = 1s;
constexpr int attempts_max = 16;

// The data that members share by the keeper: their addresses, and the numbers that rank 0 has
// drawn.
struct [[gnu::packed]] Share {
  wire::be32 address;
  wire::be16 port;
  host::JobKey key{};
  std::array<char, 32> secret{};
};

}  // namespace

void Process::wait_for_place(std::uint64_t after) {
  after_ = after;
  state_ = State::placing;
  until_ = around_.now() + birth_.patience + keeper_grace;
}

bool Process::place() {
  const auto found = known_.place_after(after_);
  if (found && *found) {
    after_ = (*found)->epoch.value();
    share();
    state_ = State::meeting;
    until_ = around_.now() + birth_.patience;
    return true;
  }
  if (found) {
    const auto code = found->error().code;
    const bool was_dismissed = known_.is_dismissed() && known_.latest() != 0;
    if ((code == Error::Code::membership_ended) != was_dismissed) {
      blame("who is no member has another error than that: " + found->error().message);
    }
    ++errors_;
    kill();
    return false;
  }
  if (around_.now() >= until_) {
    fail_to_regroup();
    return true;
  }
  return false;
}

void Process::share() {
  Share mine;
  mine.address = birth_.address.address.value();
  mine.port = birth_.address.port;
  for (auto& byte : mine.key) {
    byte = static_cast<std::uint8_t>(random_());
  }
  for (auto& letter : mine.secret) {
    letter = static_cast<char>('a' + below(26));
  }
  const auto bytes = host::bytes_of(mine);
  Meant meant;
  meant.kind = Meant::Kind::share;
  meant.epoch = after_;
  meant.shared.assign(bytes.begin(), bytes.end());
  const Word word{WordKind::share, host::body_of(host::Epoch{wire::be64{after_}}, bytes)};
  if (stream_) {
    around_.say(birth_.id, stream_->write(word), meant);
  }
}

bool Process::meet() {
  const auto found = known_.take_shares(after_);
  if (!found) {
    if (around_.now() >= until_) {
      fail_to_meet();
      return true;
    }
    return false;
  }
  if (!*found) {
    fail_to_meet();
    return true;
  }
  const auto place = **known_.place_after(after_ - 1);
  const auto& bytes = **found;
  if (bytes.size() != sizeof(Share) * place.world_size.value()) {
    blame("what members have shared is not of all");
    return false;
  }
  job_ = {};
  job_.id = 7;  // as if it was chosen, for all worlds
  job_.rank = place.rank.value();
  job_.payload_bytes = 64;
  job_.window = 4;
  std::vector<Share> shares(place.world_size.value());
  std::memcpy(shares.data(), bytes.data(), bytes.size());
  for (const auto& one : shares) {
    job_.peers.push_back({wire::Ipv4Address(one.address.value()), one.port.value()});
  }
  const auto& first = shares.front();
  const host::Secret drawn({first.secret.data(), first.secret.size()});
  job_.key = (secret_.given() ? secret_ : drawn).job_key(first.key);
  if (!(job_.self() == birth_.address)) {
    blame("another member has the rank of this one");
  }
  state_ = State::joining;
  until_ = around_.now() + any_ms(20);
  return true;
}

bool Process::join() {
  if (known_.why_ended(after_)) {
    fail_to_meet();
    return true;
  }
  if (around_.now() < until_) {
    return false;
  }
  begin_work();
  return true;
}

void Process::fail_to_meet() {
  ++errors_;
  state_ = State::news;
  until_ = around_.now() + news_grace;
}

bool Process::await_news() {
  const auto found = known_.end_of(after_);
  if (found && *found && ++attempts_ < attempts_max) {
    ask(after_);
    wait_for_place(after_);
    return true;
  }
  if (found || around_.now() >= until_) {
    fail_to_regroup();
    return true;
  }
  return false;
}

// Without a communicator regroup() cannot be called.
void Process::fail_to_regroup() {
  ++errors_;
  if (epoch_ == 0 || (!calm_ && --regroups_left_ < 0)) {
    return kill();
  }
  state_ = State::thinking;
  until_ = around_.now() + any_ms(20);
}

void Process::ask(std::uint64_t epoch) {
  if (!stream_) {
    return;
  }
  const auto patience = std::chrono::ceil<std::chrono::milliseconds>(birth_.patience);
  const host::RegroupWish wish{wire::be64{epoch}, wire::be32{wish_},
                               wire::be32{static_cast<std::uint32_t>(patience.count())}};
  Meant meant;
  meant.kind = Meant::Kind::regroup;
  meant.epoch = epoch;
  meant.world_size = wish_;
  meant.patience = patience;
  around_.say(birth_.id, stream_->write({WordKind::regroup, host::body_of(wish)}), meant);
}

bool Process::think() {
  if (hangs_ && known_.is_dismissed() && is_cut_) {
    kill();  // as somebody does with it
    return false;
  }
  if (hangs_ || around_.now() < until_) {
    return false;
  }
  regroup();
  return true;
}

void Process::regroup() {
  ++regroupings_;
  wants_ = false;
  attempts_ = 0;
  machine_.reset();
  in_call_ = false;
  falls_out_at_.reset();
  const auto epoch = std::max(epoch_, known_.latest());
  ask(epoch);
  wait_for_place(epoch);
}

}  // namespace tributary::test
