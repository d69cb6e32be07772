// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/sparse_collective.h"

#include <algorithm>

#include "host/sparse_sum.h"
#include "protocols/flare/host/packets.h"
#include "wire/spread.h"

namespace tributary::host {
namespace {

using wire::FlareHeader;
using wire::FlareSparseHeader;

// So many inquiries may wait for an answer, each of many packets; whoever asked for more asks
// again.
constexpr std::size_t sparse_asked_max = 256;

FlarePlan plan_of_sparse_window(FlarePlan plan) {
  plan.window = plan.sparse_window;
  return plan;
}

}  // namespace

FlareSparseCollective::FlareSparseCollective(const Job& job, const FlarePlan& plan,
                                             const FlareTuning& tuning, FlareStatistics& statistics)
    : job_(job),
      plan_(plan),
      statistics_(statistics),
      window_(plan_of_sparse_window(plan), tuning, job.rank, job.world_size(),
              flare_timer_seed(job, true)),
      contributions_(plan.sparse_window, flare_sparse_full(job.payload_bytes)),
      results_(plan.sparse_window, flare_sparse_full(job.payload_bytes)) {
  blocks_.run = run_of(job.key);
}

// Nobody has the opening's result before all are done with the call before. So all slots are free,
// on switches and here, and numbers may be left out.
void FlareSparseCollective::begin(const SparseCall& call, const JobKey& key, std::uint64_t first,
                                  std::uint64_t present) {
  const auto& buffers = call.buffers;
  call_ = call;
  blocks_.first = first;
  blocks_.key = key;
  blocks_.full = flare_sparse_full(job_.payload_bytes);
  blocks_.type = buffers.type;
  blocks_.count = buffers.count;
  blocks_.span = blocks_.shape().span(present, buffers.count);
  contributions_.begin(buffers, blocks_);
  window_.begin(blocks_.number());
  const SparseBuffers nothing{{}, nullptr, buffers.count, buffers.type, buffers.op};
  parts_.clear();
  parts_.reserve(blocks_.number());
  for (std::uint32_t index = 0; index < blocks_.number(); ++index) {
    parts_.emplace_back(nothing, blocks_.range(index));
  }
  running_ = true;
}

// The buffers are the caller's again. Results are kept: what is complete is so for the others, too.
void FlareSparseCollective::abandon() {
  running_ = false;
  sending_.reset();
}

void FlareSparseCollective::finish() {
  *call_.sum = joined(parts_, blocks_.count, blocks_.type);
  parts_.clear();
  abandon();
}

Verdict FlareSparseCollective::examine(wire::MutableBytes bytes, Time now, Deadline& deadline) {
  const auto view = wire::parse_flare_sparse(bytes);
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
  if (block >= next_block()) {
    return Verdict::early;
  }
  if (header.kind == wire::FlareKind::inquiry) {
    return note_inquiry(block);
  }
  if (!running_ || !blocks_.has(block)) {
    return Verdict::stale;
  }
  return take_result(header, view.payload, now, deadline);
}

Verdict FlareSparseCollective::note_inquiry(std::uint64_t block) {
  const auto is_same = [block](const Series& series) { return series.block == block; };
  if (std::any_of(asked_.begin(), asked_.end(), is_same)) {
    return Verdict::duplicate;
  }
  if (asked_.size() >= sparse_asked_max) {
    return Verdict::early;
  }
  asked_.push_back({block, FlareHeader::answer_bit});
  return Verdict::taken;
}

Verdict FlareSparseCollective::take_result(const FlareSparseHeader& header, wire::Bytes payload,
                                           Time now, Deadline& deadline) {
  const auto block = header.block.value();
  const auto index = blocks_.index_of(block);
  if (!is_like(header, index)) {
    return Verdict::mismatch;
  }
  if (window_.sent(index) && !window_.lacks(index)) {
    return Verdict::duplicate;
  }
  const auto total = flare_sparse_total_tag(blocks_.key, block, job_.world_size());
  if (!window_.sent(index) || header.fingerprint.value() != total) {
    ++statistics_.fingerprint_rejections;
    return Verdict::taken;  // and counted
  }
  const auto verdict = results_.take(header, payload);
  return verdict == Verdict::taken && results_.complete(block) ? complete(block, now, deadline)
                                                               : verdict;
}

bool FlareSparseCollective::is_like(const FlareSparseHeader& header, std::uint32_t index) const {
  return header.workers.value() == job_.world_size() &&
         header.window.value() == plan_.sparse_window && header.element_type == blocks_.type &&
         header.span.value() == blocks_.range(index).count && header.full.value() == blocks_.full;
}

Verdict FlareSparseCollective::complete(std::uint64_t block, Time now, Deadline& deadline) {
  const auto index = blocks_.index_of(block);
  auto part = results_.part(block, blocks_);
  if (!part) {
    results_.reject(block);
    return Verdict::mismatch;
  }
  parts_[index] = std::move(*part);
  deadline.progress(now);
  ++statistics_.sparse_results_received;
  return window_.take(index, now);
}

void FlareSparseCollective::poll(Outbox& outbox, Time now) {
  while (!asked_.empty() && answer(asked_.front(), outbox, now)) {
    asked_.pop_front();
  }
  while (running_ && !outbox.full()) {
    if (!sending_) {
      sending_ = next_series(now);
    }
    if (!sending_) {
      return;
    }
    if (contribute(*sending_, outbox)) {
      sending_.reset();
    }
  }
}

std::optional<FlareSparseCollective::Series> FlareSparseCollective::next_series(Time now) {
  const auto sending = window_.next(now);
  if (!sending) {
    return std::nullopt;
  }
  const auto block = blocks_.first + sending->block;
  if (sending->again) {
    return Series{block, FlareHeader::retransmission_bit};
  }
  contributions_.make(sending->block);
  return Series{block, 0};
}

// A switch asks when it has forgotten a block, or has begun it anew. Returns true if that is done.
bool FlareSparseCollective::answer(Series& series, Outbox& outbox, Time now) {
  const bool has_result = results_.complete(series.block);
  if (has_result != series.of_result) {
    series.of_result = has_result;
    series.next = 0;
  }
  if (has_result) {
    return send_result(series, outbox);
  }
  if (!running_ || !blocks_.has(series.block) || !window_.lacks(blocks_.index_of(series.block))) {
    return true;
  }
  if (series.next == 0) {
    window_.note_answer(blocks_.index_of(series.block), now);
  }
  series.flags = FlareHeader::retransmission_bit | FlareHeader::answer_bit;
  return contribute(series, outbox);
}

bool FlareSparseCollective::send_result(Series& series, Outbox& outbox) {
  const auto shards = results_.shards(series.block);
  if (series.next == 0) {
    series.begin = rotation_.next(shards);
  }
  for (; series.next < shards; ++series.next) {
    if (outbox.full()) {
      return false;
    }
    auto [header, payload] = results_.shard(series.block, series.shard(shards));
    header.flags = FlareSparseHeader::current_version | FlareSparseHeader::sparse_bit |
                   FlareHeader::answer_bit;
    wire::reseal(header);
    push(header, payload, outbox);
    ++statistics_.answers_sent;
  }
  return true;
}

// Sends all shards, as only the switch knows what it lacks of them. Returns true if they are sent,
// or the result came meanwhile.
bool FlareSparseCollective::contribute(Series& series, Outbox& outbox) {
  const auto index = blocks_.index_of(series.block);
  if (!window_.lacks(index)) {
    return true;
  }
  auto header = sparse_contribution_header(job_, plan_, blocks_, index);
  header.flags = static_cast<std::uint8_t>(header.flags | series.flags);
  const auto shards = contributions_.shards(index);
  if (series.next == 0 && header.retransmission()) {
    series.begin = rotation_.next(shards);
  }
  for (; series.next < shards; ++series.next) {
    if (outbox.full()) {
      return false;
    }
    const auto number = series.shard(shards);
    const auto shard = contributions_.shard(index, number);
    const bool is_last = number + 1 == shards;
    header.form = shard.form;
    header.elements = shard.elements;
    header.first = shard.first;
    header.shard = static_cast<std::uint8_t>(number);
    header.shards = static_cast<std::uint8_t>(is_last ? shards : 0);
    header.contributions = is_last ? 1 : 0;
    header.fingerprint = flare_shard_tag(blocks_.key, series.block, job_.rank, number, shards);
    wire::seal(header, shard.payload);
    push(header, shard.payload, outbox);
    ++statistics_.packets_sent;
    ++statistics_.sparse_packets_sent;
    statistics_.retransmissions_sent += header.retransmission() ? 1 : 0;
    statistics_.answers_sent += header.answers() ? 1 : 0;
  }
  return true;
}

// Sends a packet by the core that has the block, as dense packets go (5).
void FlareSparseCollective::push(const FlareSparseHeader& header, wire::Bytes payload,
                                 Outbox& outbox) {
  const auto flow = wire::flare_flow_of(header.block.value(), header.window.value());
  outbox.push({plan_.group, wire::flare_udp_port}, header, payload,
              wire::flow_of(wire::flare_key(header.job.value(), flow)));
  statistics_.bytes_sent += sizeof header + payload.size();
}

void FlareSparseCollective::expire(Time now) {
  if (running_) {
    window_.expire(now);
  }
}

}  // namespace tributary::host
