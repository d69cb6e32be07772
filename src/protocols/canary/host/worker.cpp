// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/worker.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "host/tags.h"
#include "protocols/canary/host/packets.h"

namespace tributary::host {
namespace {

// So many requests may leave at once, and the next that much later. This bounds what a rank adds to
// a network that is in trouble.
constexpr std::size_t requests_at_once = 16;
constexpr auto request_pause = std::chrono::milliseconds(1);

// Returns whether the result came because it was asked for.
bool is_replay(const wire::CanaryHeader& header) {
  return header.rank.value() != wire::CanaryHeader::no_rank;
}

}  // namespace

CanaryWorker::CanaryWorker(CollectiveState& state)
    : state_(state), entries_(state.progress.reach()), overdue_(state.progress.reach()) {
  again_.reserve(entries_.size());
  asking_.reserve(requests_at_once);
}

void CanaryWorker::begin() {
  const auto used = std::min<std::size_t>(entries_.size(), state_.blocks.count());
  std::fill_n(entries_.begin(), used, Entry{});
  std::fill_n(overdue_.begin(), used, Overdue{});
  again_.clear();
  asking_.clear();
  newest_sent_ = request_pause_until_ = Time{};
  next_check_ = never;
  awaited_ = {};
  disbelieved_ = 0;
  failure_.reset();
}

bool CanaryWorker::in_flight(std::uint32_t block) const {
  return block < state_.progress.next() && !state_.progress.done(block) &&
         state_.blocks.leader(block) != state_.job.rank;
}

void CanaryWorker::poll(Outbox& outbox, Time now) {
  while (!again_.empty() && !outbox.full()) {
    const auto block = again_.back();
    again_.pop_back();
    entry(block).again = false;
    if (in_flight(block)) {
      contribute(block, outbox, now);
    }
  }
  while (!asking_.empty() && !outbox.full()) {
    const auto block = asking_.back();
    asking_.pop_back();
    entry(block).asking = false;
    if (in_flight(block)) {
      request(block, outbox, now);
    }
  }
  while (!outbox.full() && state_.progress.may_open(state_.window.size())) {
    const auto block = state_.progress.open_next();
    if (in_flight(block)) {
      contribute(block, outbox, now);
    }
  }
}

void CanaryWorker::contribute(std::uint32_t block, Outbox& outbox, Time now) {
  const auto& blocks = state_.blocks;
  const auto& job = state_.job;
  auto& mine = entry(block);
  const auto leader = blocks.leader(block);
  CanaryPacket packet{job.peers[leader], header_of(job, blocks, blocks.id(block, mine.attempt)),
                      blocks.up(block)};
  auto& header = packet.header;
  header.destination = job.peers[leader].address;
  header.counter = 1;
  header.kind = wire::CanaryKind::contribution;
  header.elements = blocks.elements(packet.payload.size());
  header.fingerprint = tag_of(blocks.key(), header.id.value(), job.rank);
  header.rank = static_cast<std::uint16_t>(job.rank);
  if (mine.attempt == wire::canary_direct_attempt) {
    header.flags |= wire::CanaryHeader::bypass_bit;
  }
  seal(header, packet.payload);
  packet.send(outbox);
  mine.sent_at = mine.timer_from = now;
  mine.done_before = state_.window.blocks_done();
  next_check_ = std::min(next_check_, due(mine));
}

void CanaryWorker::request(std::uint32_t block, Outbox& outbox, Time now) {
  auto& mine = entry(block);
  auto packet = control(state_.job, state_.blocks, wire::CanaryKind::request,
                        state_.blocks.id(block, mine.attempt), state_.blocks.leader(block));
  packet.header.children = state_.blocks.sequence(state_.progress.next());
  seal(packet.header, {});
  packet.send(outbox);
  mine.timer_from = now;
  mine.asked = true;
  mine.unanswered = static_cast<std::uint8_t>(std::min(mine.unanswered + 1, 255));
  mine.expirations = static_cast<std::uint8_t>(std::min(mine.expirations + 1, 255));
  next_check_ = std::min(next_check_, due(mine));
}

// What was overtaken by the result of a later contribution is asked about early, and again: the
// network works. The timer backs off only while nothing comes, by a share that differs from rank to
// rank: ranks in step would overflow the same queue each time.
Time CanaryWorker::due(const Entry& entry) const {
  auto wait = state_.rtt.timeout(entry.expirations);
  if (entry.expirations > 0) {
    const auto draw = wire::mix_key(
        static_cast<std::uint64_t>(entry.timer_from.time_since_epoch().count()), state_.job.rank);
    wait -= wait / 1024 * static_cast<Duration::rep>(draw % 256);
  }
  const auto timeout = entry.timer_from + wait;
  if (entry.timer_from < newest_sent_) {
    return std::min(timeout, entry.timer_from + newest_rtt_ + state_.rtt.reordering_window());
  }
  return timeout;
}

void CanaryWorker::expire(Time now) {
  if (now < next_check_) {
    return;
  }
  if (now < request_pause_until_) {
    next_check_ = request_pause_until_;
    return;
  }
  next_check_ = never;
  for (auto block = state_.progress.base(); block < state_.progress.next(); ++block) {
    auto& mine = entry(block);
    if (!in_flight(block) || mine.again || mine.asking) {
      continue;
    }
    const auto when = due(mine);
    if (when > now) {
      next_check_ = std::min(next_check_, when);
    } else if (asking_.size() < requests_at_once) {
      mine.asking = true;
      asking_.push_back(block);
    } else {
      next_check_ = now;  // after the pause
      break;
    }
  }
  if (!asking_.empty()) {
    request_pause_until_ = now + request_pause;
    next_check_ = std::max(next_check_, request_pause_until_);
  }
}

bool CanaryWorker::is_total(const wire::CanaryHeader& header) const {
  return header.fingerprint.value() == total_tag(state_.job, state_.blocks, header.id.value());
}

Verdict CanaryWorker::take_result(const wire::CanaryHeader& header, wire::Bytes payload,
                                  std::uint32_t block, Time now) {
  if (state_.progress.done(block)) {
    measure_overdue(header, block, now);
    return Verdict::duplicate;
  }
  // Nobody can know the result of a block that lacks this rank's data.
  if (!in_flight(block)) {
    return Verdict::foreign;
  }
  if (!agrees(header, state_.job, state_.blocks, state_.blocks.bytes_down(block))) {
    return Verdict::mismatch;
  }
  // Without the job's key nobody can make up a result.
  if (!is_total(header)) {
    ++disbelieved_;
    return Verdict::foreign;
  }
  if (!payload.empty()) {
    std::memcpy(state_.blocks.out(block).data(), payload.data(), payload.size());
  }
  auto& mine = entry(block);
  measure(header, mine, now);
  const bool queued_again = mine.again;
  const bool queued_asking = mine.asking;
  const bool congested = header.congested() || mine.congested;
  if (queued_again) {
    std::erase(again_, block);
  }
  if (queued_asking) {
    std::erase(asking_, block);
  }
  mine = Entry{};
  state_.complete(block, congested);
  state_.deadline.progress(now);
  look_at_base();
  return Verdict::taken;
}

// Neither a replay nor waiting for ranks that are late tells how long the network takes. (Karn's
// rule would leave out all that was asked about: only the fast ones would be left.)
void CanaryWorker::measure(const wire::CanaryHeader& header, const Entry& entry, Time now) {
  const auto attempt = wire::canary_attempt(header.id.value());
  if (attempt != entry.attempt || attempt == wire::canary_direct_attempt) {
    return;
  }
  if (is_replay(header)) {
    const auto block = state_.blocks.block_of(header.id.value());
    state_.rtt.asked_rightly();
    overdue_[block % overdue_.size()] = {header.id.value(), entry.sent_at};
    return;
  }
  if (!entry.awaits_ranks) {
    if (entry.asked) {
      count_needless(now);
    }
    state_.rtt.sample(now - entry.sent_at);
    state_.window.measure(entry.done_before, now - entry.sent_at);
  }
  if (entry.sent_at >= newest_sent_) {
    newest_sent_ = entry.sent_at;
    newest_rtt_ = now - entry.sent_at;
  }
}

void CanaryWorker::count_needless(Time now) {
  ++state_.statistics.requests_needless;
  state_.rtt.asked_needlessly(now);
}

// The result was not lost, only asked about too early.
void CanaryWorker::measure_overdue(const wire::CanaryHeader& header, std::uint32_t block,
                                   Time now) {
  auto& overdue = overdue_[block % overdue_.size()];
  if (is_replay(header) || overdue.sent_at == never || overdue.id != header.id.value() ||
      !is_total(header)) {
    return;
  }
  count_needless(now);
  state_.rtt.sample(now - overdue.sent_at);
  overdue = Overdue{};
}

// The lowest block is the one that was most probably overtaken.
void CanaryWorker::look_at_base() {
  const auto base = state_.progress.base();
  if (base < state_.progress.blocks() && in_flight(base) && !entry(base).again &&
      !entry(base).asking) {
    next_check_ = std::min(next_check_, due(entry(base)));
  }
}

bool CanaryWorker::is_by_leader(const wire::CanaryHeader& header, std::uint32_t block) const {
  return header.rank.value() == state_.blocks.leader(block) &&
         is_authentic(header, state_.job, state_.blocks.key());
}

Verdict CanaryWorker::take_failure(const wire::CanaryHeader& header, std::uint32_t block) {
  const auto attempt = static_cast<std::uint8_t>(wire::canary_attempt(header.id.value()));
  if (!is_by_leader(header, block)) {
    return Verdict::foreign;
  }
  if (state_.progress.done(block)) {
    return Verdict::duplicate;
  }
  if (attempt == wire::canary_direct_attempt && !state_.tuning.host_fallback) {
    failure_ =
        Error{Error::Code::network,
              "block " + std::to_string(block) + ": rank " + std::to_string(header.rank.value()) +
                  ", which leads it, could not have it reduced in the network, and a "
                  "fallback to the hosts is not allowed"};
    return Verdict::taken;
  }
  if (block >= state_.progress.base() + state_.progress.reach()) {
    return Verdict::early;
  }
  auto& mine = entry(block);
  // Only a direct contribution may use the same id twice: each rank is counted by itself there.
  const bool once_more =
      attempt == mine.attempt && attempt == wire::canary_direct_attempt && in_flight(block);
  if (attempt <= mine.attempt && !once_more) {
    return Verdict::duplicate;
  }
  mine.attempt = attempt;
  mine.congested |= header.congested();
  mine.expirations = 0;
  mine.asked = once_more;
  mine.awaits_ranks = false;
  mine.unanswered = 0;
  if (in_flight(block) && !mine.again) {
    mine.again = true;
    again_.push_back(block);
  }
  return Verdict::taken;
}

Verdict CanaryWorker::take_pending(const wire::CanaryHeader& header, wire::Bytes payload,
                                   std::uint32_t block) {
  if (!is_by_leader(header, block) || header.element_type != wire::ElementType::i16) {
    return Verdict::foreign;
  }
  if (!in_flight(block)) {
    return Verdict::duplicate;
  }
  entry(block).awaits_ranks = true;
  entry(block).congested |= header.congested();
  entry(block).unanswered = 0;
  if (awaited_.count != 0 && !state_.progress.done(awaited_.block) && awaited_.block < block) {
    return Verdict::taken;
  }
  awaited_.block = block;
  awaited_.count = std::min(payload.size() / sizeof(std::uint16_t), Awaited::ranks_max);
  for (std::size_t i = 0; i < awaited_.count; ++i) {
    awaited_.ranks[i] =
        static_cast<std::uint16_t>(std::to_integer<unsigned>(payload[2 * i]) |
                                   std::to_integer<unsigned>(payload[2 * i + 1]) << 8);
  }
  return Verdict::taken;
}

// One answer may be lost, or on the way.
bool CanaryWorker::is_unanswered(std::uint32_t block) const {
  constexpr std::uint8_t unanswered_min = 2;
  return in_flight(block) && entry(block).unanswered >= unanswered_min;
}

std::vector<std::uint32_t> CanaryWorker::silent_leaders() const {
  std::vector<std::uint32_t> ranks;
  for (auto block = state_.progress.base(); block < state_.progress.next(); ++block) {
    const auto leader = state_.blocks.leader(block);
    if (is_unanswered(block) && std::find(ranks.begin(), ranks.end(), leader) == ranks.end()) {
      ranks.push_back(leader);
    }
  }
  return ranks;
}

std::vector<std::uint32_t> CanaryWorker::awaited(std::uint32_t block) const {
  if (awaited_.block != block) {
    return {};
  }
  return {awaited_.ranks.begin(),
          awaited_.ranks.begin() + static_cast<std::ptrdiff_t>(awaited_.count)};
}

}  // namespace tributary::host
