// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/collectives.h"

#include <algorithm>
#include <utility>

#include "protocols/canary/host/diagnosis.h"

namespace tributary::host {
namespace {

constexpr std::size_t deferred_max = 1024;

// Contributions that come before their collective has begun here are kept up to this; what is
// beyond is lost.
constexpr std::size_t stash_bytes_max = std::size_t{16} << 20;

// An answer goes to the address that a contribution names; only unicast makes sense there.
bool is_plausible_host(wire::Ipv4Address address) {
  return !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast();
}

bool is_answerable(const wire::CanaryHeader& header, wire::Encapsulation encapsulation) {
  if (encapsulation == wire::Encapsulation::udp &&
      !wire::is_canary_udp_port(header.child_port.value())) {
    return false;
  }
  return is_plausible_host(header.child_address) &&
         (!header.bypass() || is_direct(header) || is_plausible_host(header.switch_ipv4));
}

wire::Bytes write_ranks(const std::vector<std::uint32_t>& ranks, wire::MutableBytes bytes) {
  std::size_t written = 0;
  for (const auto rank : ranks) {
    if (written + sizeof(std::uint16_t) > bytes.size()) {
      break;
    }
    bytes[written++] = static_cast<std::byte>(rank & 0xff);
    bytes[written++] = static_cast<std::byte>(rank >> 8);
  }
  return bytes.first(written);
}

}  // namespace

CanaryCollectives::CanaryCollectives(Job job, const CanaryTuning& tuning,
                                     std::uint32_t first_sequence)
    : state_(job, tuning),
      deferred_(deferred_max),
      worker_(state_),
      leader_(state_, deferred_),
      retention_(tuning.implicit_release_max),
      next_sequence_(first_sequence & wire::canary_sequence_mask),
      lists_(pending_lists) {}

Blocks CanaryCollectives::blocks_of(const Call& call) const {
  return Blocks(call, state_.job, key_of_call(state_.job.key, next_call_), next_sequence_,
                state_.tuning.implicit_release_max);
}

void CanaryCollectives::skip(const Call& call) {
  if (call.buffers.count == 0 && call.collective != Collective::barrier) {
    return;
  }
  next_sequence_ = blocks_of(call).next_first();  // as many as with an operator that there is
  ++next_call_;
}

void CanaryCollectives::begin(const Call& call, Time now, const Deadline& deadline) {
  const auto blocks = blocks_of(call);
  forget_failure();
  running_ = blocks.count() != 0;
  if (!running_) {
    return;  // nothing to do: what is stashed belongs to the next one
  }
  state_.begin(blocks, now, deadline);
  next_sequence_ = blocks.next_first();
  ++next_call_;
  worker_.begin();
  leader_.begin();
  auto early = std::exchange(stash_, {});
  for (auto& datagram : early) {
    receive(datagram, now);
  }
}

void CanaryCollectives::receive(std::span<const Arrival> burst, Time now) {
  for (const auto& arrival : burst) {
    receive(arrival.bytes, now, arrival.ecn);
  }
}

void CanaryCollectives::receive(wire::MutableBytes datagram, Time now, std::uint8_t ecn) {
  state_.statistics.bytes_received += datagram.size();
  state_.statistics.ignored.count(examine(datagram, ecn, now));
  if (running_ && state_.presence.all_began()) {
    retention_.release();
  }
  if (running_ && fault()) {
    stop(fault());
  }
}

const std::optional<Error>& CanaryCollectives::fault() const {
  return leader_.failure() ? leader_.failure() : worker_.failure();
}

Verdict CanaryCollectives::examine(wire::MutableBytes datagram, std::uint8_t ecn, Time now) {
  const auto view = wire::parse_canary(datagram, state_.job.encapsulation);
  if (view.error != wire::CanaryError::none) {
    return Verdict::malformed;
  }
  // Whoever looks at it, now or later, need not know whether the last queue or another was
  // congested.
  if (ecn == wire::ecn::ce) {
    view.header->flags |= wire::CanaryHeader::congested_bit;
    reseal(*view.header);
  }
  const auto& header = *view.header;
  if (header.job.value() != state_.job.id || header.destination != state_.job.self().address ||
      header.kind == wire::CanaryKind::restoration) {
    return Verdict::foreign;
  }
  const auto ahead =
      (wire::canary_sequence(header.id.value()) - next_sequence_) & wire::canary_sequence_mask;
  if (!Blocks::is_past(ahead)) {
    return stash(header, datagram);
  }
  const auto block = state_.blocks.block_of(header.id.value());
  if (!running_ || block >= state_.blocks.count()) {
    return take_past(header);
  }
  return dispatch(header, view.payload, block, now);
}

Verdict CanaryCollectives::dispatch(const wire::CanaryHeader& header, wire::Bytes payload,
                                    std::uint32_t block, Time now) {
  auto& statistics = state_.statistics;
  auto verdict = Verdict::foreign;
  switch (header.kind) {
    case wire::CanaryKind::contribution:
      return take_contribution(header, payload, block, now);
    case wire::CanaryKind::request:
      if (state_.blocks.leader(block) == state_.job.rank &&
          block < state_.progress.base() + state_.progress.span()) {
        verdict = leader_.take_request(header, block, now);
      }
      statistics.requests_received += verdict == Verdict::taken ? 1 : 0;
      return verdict;
    case wire::CanaryKind::result:
      verdict = worker_.take_result(header, payload, block, now);
      statistics.results_received += verdict == Verdict::taken ? 1 : 0;
      return verdict;
    case wire::CanaryKind::failure:
      verdict = worker_.take_failure(header, block);
      statistics.failures_received += verdict == Verdict::taken ? 1 : 0;
      return verdict;
    case wire::CanaryKind::pending:
      verdict = worker_.take_pending(header, payload, block);
      statistics.pendings_received += verdict == Verdict::taken ? 1 : 0;
      return verdict;
    case wire::CanaryKind::release:  // meant for the switches on the way
      ++statistics.releases_received;
      return Verdict::taken;
    case wire::CanaryKind::restoration:
      break;
  }
  return verdict;
}

Verdict CanaryCollectives::take_contribution(const wire::CanaryHeader& header, wire::Bytes payload,
                                             std::uint32_t block, Time now) {
  if (state_.blocks.leader(block) != state_.job.rank) {
    return Verdict::foreign;
  }
  if (!is_answerable(header, state_.job.encapsulation)) {
    return Verdict::malformed;
  }
  if (block >= state_.progress.base() + state_.progress.span()) {
    return Verdict::early;
  }
  const auto verdict = leader_.take(header, payload, block, now);
  if (verdict == Verdict::taken) {
    ++state_.statistics.contributions_received;
    state_.statistics.collisions_received += header.bypass() && !is_direct(header) ? 1 : 0;
  }
  return verdict;
}

// Takes a packet of a collective that is over. Who asks gets what is kept, or comes late to what
// was given up; a switch that still holds a descriptor learns that it need not.
Verdict CanaryCollectives::take_past(const wire::CanaryHeader& header) {
  const std::uint32_t rank = header.rank.value();
  if (header.kind == wire::CanaryKind::request &&
      is_authentic(header, state_.job, retention_.blocks().key()) &&
      retention_.find(wire::canary_sequence(header.id.value()))) {
    deferred_.push({DeferredReply::Kind::replay, header.id.value(), rank,
                    reply_to(state_.job.peers[rank]), header.congested()});
    ++state_.statistics.requests_received;
    return Verdict::taken;
  }
  if (const auto block = state_.blocks.block_of(header.id.value());
      refused() && header.kind == wire::CanaryKind::request && block < state_.blocks.count() &&
      state_.blocks.leader(block) == state_.job.rank &&
      is_authentic(header, state_.job, state_.blocks.key())) {
    const auto told = state_.blocks.id(block, wire::canary_direct_attempt);
    deferred_.push({DeferredReply::Kind::failure, told, rank, {}});
    ++state_.statistics.requests_received;
    return Verdict::taken;
  }
  if (header.kind == wire::CanaryKind::contribution && rank == wire::CanaryHeader::no_rank &&
      is_answerable(header, state_.job.encapsulation)) {
    deferred_.push({DeferredReply::Kind::release, header.id.value(), 0, reply_to(header)});
  }
  return Verdict::stale;
}

// Nobody can be further ahead than a span; and what a rank contributed alone can be told from a
// stranger's.
bool CanaryCollectives::is_stranger(const wire::CanaryHeader& header) const {
  const auto ahead =
      (wire::canary_sequence(header.id.value()) - next_sequence_) & wire::canary_sequence_mask;
  return ahead >= state_.progress.span() ||
         (header.rank.value() != wire::CanaryHeader::no_rank &&
          !is_authentic_contribution(header, state_.job, key_of_call(state_.job.key, next_call_)));
}

// Only contributions can be early: the others follow upon something that this rank did.
Verdict CanaryCollectives::stash(const wire::CanaryHeader& header, wire::MutableBytes datagram) {
  if (header.kind != wire::CanaryKind::contribution) {
    return header.kind == wire::CanaryKind::request ? Verdict::early : Verdict::foreign;
  }
  if (is_stranger(header)) {
    return Verdict::foreign;
  }
  // There is room for contributions of all others to all blocks that fit into a window, while that
  // is not too much.
  const std::size_t others = state_.job.world_size() - 1;
  const auto fitting = stash_bytes_max / (sizeof header + state_.job.payload_bytes);
  if (stash_.size() >= std::min((state_.progress.window() + 1) * others, fitting)) {
    return Verdict::early;
  }
  stash_.emplace_back(datagram.begin(), datagram.end());
  ++state_.statistics.stashed;
  state_.statistics.bytes_received -= datagram.size();  // counted again when it is taken up
  return Verdict::taken;
}

void CanaryCollectives::poll(Outbox& outbox, Time now) {
  const auto before = outbox.size();
  if (running_) {
    leader_.poll(outbox);  // first: these unblock others
  }
  send_deferred(outbox);
  if (running_) {
    worker_.poll(outbox, now);
  }
  for (auto i = before; i < outbox.size(); ++i) {
    count_sent(outbox.at(i));
  }
  if (running_ && state_.presence.all_began()) {
    retention_.release();
  }
  if (running_ && (fault() || state_.progress.finished())) {
    stop(fault());
  }
}

void CanaryCollectives::send_deferred(Outbox& outbox) {
  for (; !deferred_.empty() && !outbox.full(); deferred_.pop()) {
    send(deferred_.front(), outbox);
  }
}

void CanaryCollectives::send(const DeferredReply& deferred, Outbox& outbox) {
  const auto& job = state_.job;
  switch (deferred.kind) {
    case DeferredReply::Kind::replay:
      replay(deferred, outbox);
      break;
    case DeferredReply::Kind::failure: {
      auto packet =
          control(job, state_.blocks, wire::CanaryKind::failure, deferred.id, deferred.rank);
      seal(packet.header, {});
      packet.send(outbox);
      break;
    }
    case DeferredReply::Kind::pending:
      tell_pending(deferred, outbox);
      break;
    case DeferredReply::Kind::release:
      release(job, state_.blocks, deferred.id, deferred.reply).send(outbox);
      break;
  }
}

// Sends once more what became of a block, from where it lies now.
void CanaryCollectives::replay(const DeferredReply& deferred, Outbox& outbox) {
  const auto& job = state_.job;
  const auto block = state_.blocks.block_of(deferred.id);
  const auto rank =
      deferred.rank == wire::CanaryHeader::no_rank ? wire::CanaryHeader::no_rank : job.rank;
  if (running_ && block < state_.blocks.count()) {
    const auto& blocks = state_.blocks;
    const auto id = blocks.id(block, leader_.attempt_done(block));
    const Sum sum{blocks.down(block), total_tag(job, blocks, id), rank, deferred.congested};
    answer(job, blocks, id, deferred.reply, sum).send(outbox);
  } else if (const auto kept = retention_.find(wire::canary_sequence(deferred.id))) {
    const auto& blocks = retention_.blocks();
    answer(job, blocks, kept->id, deferred.reply,
           {kept->payload, total_tag(job, blocks, kept->id), rank, deferred.congested})
        .send(outbox);
  } else {
    return;
  }
  ++state_.statistics.replays_sent;
}

void CanaryCollectives::tell_pending(const DeferredReply& deferred, Outbox& outbox) {
  const auto block = state_.blocks.block_of(deferred.id);
  if (!running_ || block >= state_.blocks.count()) {
    return;
  }
  auto& bytes = lists_[next_list_++ % pending_lists];
  // Where all have contributed but this rank, it tells whom it waits for itself.
  auto ranks = leader_.missing(block, pending_bytes / sizeof(std::uint16_t));
  ranks = ranks.empty() ? worker_.silent_leaders() : ranks;
  auto packet =
      control(state_.job, state_.blocks, wire::CanaryKind::pending, deferred.id, deferred.rank);
  auto& header = packet.header;
  packet.payload = write_ranks(ranks, bytes);
  header.counter = static_cast<std::uint16_t>(
      std::min(leader_.contributions(block), state_.job.world_size() - 1));
  header.element_type = wire::ElementType::i16;
  header.op = wire::Operator::sum;
  header.elements = static_cast<std::uint16_t>(packet.payload.size() / sizeof(std::uint16_t));
  seal(header, packet.payload);
  packet.send(outbox);
}

Time CanaryCollectives::deadline() const {
  return running_ ? std::min({state_.deadline.due(), worker_.deadline(), leader_.deadline()})
                  : never;
}

void CanaryCollectives::expire(Time now) {
  if (!running_) {
    return;
  }
  if (state_.deadline.passed(now)) {
    auto text = with_trouble(diagnose(state_, worker_, leader_));
    return stop(Error{Error::Code::timeout, std::move(text)});
  }
  worker_.expire(now);
  leader_.expire(now);
  if (fault()) {
    stop(fault());
  }
}

void CanaryCollectives::stop(std::optional<Error> failure) {
  running_ = false;
  failure_ = std::move(failure);
  if (!failure_) {
    retention_.keep(state_.job, state_.blocks, leader_.attempts_done());
  }
}

}  // namespace tributary::host
