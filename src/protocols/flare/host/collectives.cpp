// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/collectives.h"

#include <algorithm>

#include "host/text.h"
#include "protocols/flare/host/diagnosis.h"
#include "wire/spread.h"

namespace tributary::host {
namespace {

// These bits change the last byte of a key; that of the call before it differs in the first eight.
constexpr std::uint8_t sparse_key_bits = 0x53;

// So many inquiries may wait for an answer; whoever asked for more asks again.
constexpr std::size_t flare_asked_max = 1024;

}  // namespace

FlareCollectives::FlareCollectives(Job job, FlarePlan plan, const FlareTuning& tuning)
    : job_(std::move(job)),
      plan_(plan),
      window_(plan_, tuning, job_.rank, job_.world_size(), flare_timer_seed(job_, false)),
      pause_(tuning.rto.rto_max),
      kept_(plan_.window, job_.payload_bytes),
      zeros_(job_.payload_bytes) {
  blocks_.run = run_of(job_.key);
  statistics_.group = to_string(plan_.group);
  if (plan_.sparse_window != 0 && flare_sparse_full(job_.payload_bytes) != 0) {
    sparse_.emplace(job_, plan_, tuning, statistics_);
  }
}

// Only the opening of a sparse call is known: how many blocks would have followed, the next one
// tells.
void FlareCollectives::skip(const Call& call) {
  const auto dense = dense_part_of(call);
  const Chunks chunks(dense, job_.rank, job_.payload_bytes);
  next_block_ += chunks.count();
  next_call_ += chunks.is_empty() ? 0 : 1;
}

void FlareCollectives::begin(const Call& call, Time now, const Deadline& deadline) {
  forget_failure();
  mismatches_before_ = statistics_.ignored[Verdict::mismatch];
  call_ = call;
  const auto dense = dense_part_of(call);
  running_ = !Reduction(dense, job_.rank).is_empty();
  if (!running_) {
    return;
  }
  begin_dense(dense, now);
  deadline_ = deadline;
  deadline_.begin(now);
}

void FlareCollectives::begin_dense(const Call& call, Time now) {
  blocks_.first = next_block_;
  blocks_.key = key_of_call(job_.key, next_call_++);
  if (call_.sparse != nullptr) {  // a dense call of six such numbers is no opening
    blocks_.key.back() ^= sparse_key_bits;
  }
  blocks_.chunks = Chunks(call, job_.rank, job_.payload_bytes);
  next_block_ = blocks_.end();
  window_.begin(static_cast<std::uint32_t>(blocks_.chunks.count()));
  hold_back(now);
}

Call FlareCollectives::dense_part_of(const Call& call) {
  return call.sparse == nullptr ? call
                                : opening_.call_for(call.sparse->buffers, sparse_->next_block());
}

// Ranks that do not agree on the vector cannot have the same blocks.
void FlareCollectives::end_opening() {
  if (const auto why = opening_.disagreement()) {
    return fail_with(Error::Code::mismatch, std::string(name(call_)) + ": " + *why);
  }
  sparse_->begin(*call_.sparse, blocks_.key, opening_.first_block(), opening_.present());
}

// Calls that were refused or given up here have no results, which would have shown that the others
// have all of the call before. Its last window is left in its slots until there is a result, or
// whoever lacks one of those has had the time to ask for it: as long as the longest timer.
void FlareCollectives::hold_back(Time now) {
  if (made_ != blocks_.first) {
    const auto end = std::max(made_ + plan_.window, blocks_.first);
    window_.hold(blocks_.index_of(end), now + pause_);
  }
  made_before_ = made_;
  made_ = next_block_;
}

void FlareCollectives::receive(std::span<const Arrival> burst, Time now) {
  for (const auto& arrival : burst) {
    statistics_.bytes_received += arrival.bytes.size();
    statistics_.ignored.count(examine(arrival, now));
  }
  if (running_ && (runs_sparse() ? sparse_->finished() : window_.finished())) {
    finish();
  }
}

void FlareCollectives::abandon() {
  if (std::exchange(running_, false)) {
    kept_.drop(blocks_.first, blocks_.end());
    made_ = window_.base() == 0 ? made_before_ : blocks_.first + window_.base();
  }
  if (sparse_) {
    sparse_->abandon();
  }
}

void FlareCollectives::fail_with(Error::Code code, std::string why) {
  abandon();
  failure_ = Error{code, std::move(why)};
}

// Others may lack results yet, and the buffers are the caller's again.
void FlareCollectives::finish() {
  retaining_ = true;
  if (runs_sparse()) {
    running_ = false;
    return sparse_->finish();
  }
  kept_.settle(blocks_.first, blocks_.end());
  if (call_.sparse != nullptr) {
    return end_opening();
  }
  running_ = false;
}

Verdict FlareCollectives::examine(const Arrival& arrival, Time now) {
  if (!wire::is_flare_sparse(arrival.bytes)) {
    return examine_dense(arrival, now);
  }
  return sparse_ ? sparse_->examine(arrival.bytes, now, deadline_) : Verdict::foreign;
}

Verdict FlareCollectives::examine_dense(const Arrival& arrival, Time now) {
  const auto view = wire::parse_flare(arrival.bytes);
  if (view.error != wire::FlareError::none) {
    return Verdict::malformed;
  }
  const auto& header = *view.header;
  const auto block = header.block.value();
  if (header.job.value() != job_.id || header.kind == wire::FlareKind::contribution) {
    return Verdict::foreign;
  }
  if (header.run.value() != blocks_.run) {
    return Verdict::stale;
  }
  // This rank has not come to that collective: no result has been without it, and it has nothing
  // for whoever asks.
  if (block >= next_block_) {
    return Verdict::early;
  }
  if (header.kind == wire::FlareKind::inquiry) {
    return note_inquiry(block);
  }
  if (!running_ || !blocks_.has(block)) {
    return Verdict::stale;
  }
  return header.kind == wire::FlareKind::refusal ? take_refusal(header)
                                                 : take_result(header, view.payload, now);
}

Verdict FlareCollectives::note_inquiry(std::uint64_t block) {
  if (std::find(asked_.begin(), asked_.end(), block) != asked_.end()) {
    return Verdict::duplicate;
  }
  if (asked_.size() >= flare_asked_max) {
    return Verdict::early;
  }
  asked_.push_back(block);
  return Verdict::taken;
}

Verdict FlareCollectives::take_result(const wire::FlareHeader& header, wire::Bytes payload,
                                      Time now) {
  const auto index = blocks_.index_of(header.block.value());
  if (header.workers.value() != job_.world_size() || header.window.value() != plan_.window ||
      header.contributions.value() != job_.world_size() ||
      header.element_type != blocks_.chunks.type() || header.op != blocks_.chunks.op() ||
      header.elements.value() != blocks_.chunks.elements(index)) {
    return Verdict::mismatch;
  }
  if (!is_sound(header)) {
    ++statistics_.fingerprint_rejections;
    return Verdict::taken;  // and counted
  }
  const auto verdict = window_.take(index, now);
  if (verdict != Verdict::taken) {
    return verdict;
  }
  deadline_.progress(now);
  keep(header, payload);
  // Whoever contributed to this has begun, and so was done with the collective before.
  retaining_ = false;
  ++statistics_.results_received;
  return verdict;
}

// A switch has the block of another call. Its word ends this one, as it has the tag of what this
// rank contributed, which nobody knows through whom that did not go.
Verdict FlareCollectives::take_refusal(const wire::FlareHeader& header) {
  const auto block = header.block.value();
  if (!window_.lacks(blocks_.index_of(block))) {
    return Verdict::duplicate;
  }
  if (header.fingerprint.value() != flare_tag(blocks_.key, block, job_.rank)) {
    ++statistics_.fingerprint_rejections;
    return Verdict::taken;  // and counted
  }
  fail_with(Error::Code::mismatch,
            std::string(name(call_)) + ": " +
                called_differently(block, plan_.group, {blocks_.chunks.type(), blocks_.chunks.op()},
                                   {header.element_type, header.op}));
  return Verdict::taken;
}

bool FlareCollectives::is_sound(const wire::FlareHeader& header) const {
  const auto block = header.block.value();
  return window_.sent(blocks_.index_of(block)) &&
         header.fingerprint.value() ==
             flare_total_tag(blocks_.key, block, job_.world_size(), blocks_.chunks.op());
}

void FlareCollectives::keep(const wire::FlareHeader& header, wire::Bytes payload) {
  const auto block = header.block.value();
  if (!blocks_.chunks.wants_result()) {
    return kept_.keep_copy(block, header, payload);
  }
  const auto out = blocks_.chunks.out(blocks_.index_of(block));
  std::copy(payload.begin(), payload.end(), out.begin());
  kept_.keep(block, header, out);
}

void FlareCollectives::poll(Outbox& outbox, Time now) {
  answer(outbox, now);
  while (running_ && !outbox.full()) {
    const auto sending = window_.next(now);
    if (!sending) {
      break;
    }
    contribute(sending->block, sending->again ? wire::FlareHeader::retransmission_bit : 0, outbox);
  }
  if (sparse_) {
    sparse_->poll(outbox, now);
  }
}

// A switch asks when it has forgotten a block. If the call is in place, a result has overwritten
// what was to be contributed; whoever has one sends that.
void FlareCollectives::answer(Outbox& outbox, Time now) {
  for (; !asked_.empty() && !outbox.full(); asked_.pop_front()) {
    const auto block = asked_.front();
    if (const auto result = kept_.find(block)) {
      auto header = result->header;
      header.flags = wire::FlareHeader::current_version | wire::FlareHeader::answer_bit;
      wire::reseal(header);
      push(header, result->payload, outbox);
      ++statistics_.answers_sent;
    } else if (running_ && blocks_.has(block) && window_.lacks(blocks_.index_of(block))) {
      const auto index = blocks_.index_of(block);
      window_.note_answer(index, now);
      contribute(index, wire::FlareHeader::retransmission_bit | wire::FlareHeader::answer_bit,
                 outbox);
      ++statistics_.answers_sent;
    }
  }
}

void FlareCollectives::contribute(std::uint32_t index, std::uint8_t flags, Outbox& outbox) {
  auto header = contribution_header(job_, plan_, blocks_, index);
  header.flags = static_cast<std::uint8_t>(header.flags | flags);
  const auto payload = blocks_.chunks.contribution(index, zeros_);
  wire::seal(header, payload);
  push(header, payload, outbox);
  ++statistics_.packets_sent;
  statistics_.retransmissions_sent += header.retransmission() ? 1 : 0;
}

void FlareCollectives::push(const wire::FlareHeader& header, wire::Bytes payload, Outbox& outbox) {
  const auto key = wire::flare_key(header.job.value(), wire::flare_flow_of(header));
  outbox.push({plan_.group, wire::flare_udp_port}, header, payload, wire::flow_of(key));
  statistics_.bytes_sent += sizeof header + payload.size();
}

Time FlareCollectives::deadline() const {
  const auto of_sparse = sparse_ ? sparse_->deadline() : never;
  return running_ ? std::min({deadline_.due(), window_.deadline(), of_sparse}) : never;
}

void FlareCollectives::expire(Time now) {
  if (!running_) {
    return;
  }
  if (deadline_.passed(now)) {
    auto why = diagnose();
    return fail_with(Error::Code::timeout, std::move(why));
  }
  window_.expire(now);
  if (sparse_) {
    sparse_->expire(now);
  }
}

std::string FlareCollectives::diagnose() const {
  const bool in_sparse = runs_sparse();
  const auto& window = in_sparse ? sparse_->window() : window_;
  const auto missing = in_sparse ? missing_blocks(window, sparse_->first(), "sparse ")
                                 : missing_blocks(window, blocks_.first, "");
  auto text = deadline_.explain(name(call_)) + ": tree " + to_string(plan_.group) +
              " gave no result of " + missing + " (" + std::to_string(window.begun()) + " of " +
              std::to_string(window.blocks()) + " sent); " +
              (in_sparse ? likely_cause_of_sparse(statistics_.sparse_results_received != 0)
                         : likely_cause(statistics_.results_received != 0));
  if (const auto mismatches = statistics_.ignored[Verdict::mismatch] - mismatches_before_;
      mismatches != 0) {
    text += "; " + std::to_string(mismatches) +
            " results had another type, operator or length: do all ranks call the same collective?";
  }
  if (needs_handler(blocks_.chunks.call())) {
    text += "; or " + different_handlers(blocks_.chunks.op()) + " (" +
            std::to_string(statistics_.fingerprint_rejections) + " results were not believed)";
  }
  return with_trouble(std::move(text));
}

FlareStatistics FlareCollectives::statistics() const {
  auto statistics = statistics_;
  statistics.timeouts = window_.timeouts() + (sparse_ ? sparse_->window().timeouts() : 0);
  return statistics;
}

}  // namespace tributary::host
