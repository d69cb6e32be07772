// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/sparse_traffic.h"

#include <optional>
#include <utility>

namespace tributary::flare {

using wire::FlareKind;
using wire::FlareSparseHeader;

FlareSparseTraffic::FlareSparseTraffic(traffic::TreePlan plan, const SparsePlan& sparse,
                                       const traffic::Stations& stations, PacketPool& pool)
    : WindowTraffic(std::move(plan), stations, pool) {
  for (const auto& kind : plan_.kinds) {
    values_.push_back(std::make_unique<SparseValues>(kind.type, plan_.workers, sparse));
  }
  for (std::uint32_t number = 0; number < plan_.jobs; ++number) {
    Job job{FlareSparseFrames(plan_, places_, stations, number, *values_[number % values_.size()]),
            {},
            {}};
    job.results.resize(places_per_job() * plan_.workers);
    job.sums.resize(plan_.parent ? places_per_job() : 0);
    jobs_.push_back(std::move(job));
  }
}

void FlareSparseTraffic::write(const Part& part, Packet& packet) {
  const auto flags = part.again ? wire::FlareHeader::retransmission_bit : std::uint8_t{0};
  jobs_[part.job].frames.contribution(packet, {plan_.run, part.block}, part.rank, part.number,
                                      flags);
}

void FlareSparseTraffic::arrived(PacketPtr packet, std::size_t port, Time now,
                                 traffic::Outbox& out) {
  const auto frame = engine::parse_frame(*packet);
  if (!is_of_flare(frame) || !wire::is_flare_sparse(frame.payload)) {
    ++counters_.foreign;
    return;
  }
  const auto view = wire::parse_flare_sparse(frame.payload);
  if (view.error != wire::FlareError::none) {
    ++common_.invalid;
    return;
  }
  // Sums come to the root, results to workers.
  const auto& header = *view.header;
  const bool is_root = plan_.parent == port;
  const auto job = find_job(frame, header.job.value());
  const auto rank = job ? places_.rank_at(*job, port) : std::nullopt;
  if (job && is_root && header.kind == FlareKind::contribution) {
    take_sum_shard(*job, header, view.payload, out);
  } else if (rank && header.kind == FlareKind::result) {
    take_result_shard(*job, *rank, header, view.payload, now);
  } else if (rank && header.kind == FlareKind::inquiry) {
    note_inquiry();  // what is missing is sent again anyway
  } else {
    ++counters_.foreign;
  }
}

// Returns whether the shard is news. One that contradicts the shards before it, or cannot be of a
// right sum, is wrong.
bool FlareSparseTraffic::take(const Job& job, SparseReception& reception,
                              const FlareSparseHeader& header, wire::Bytes payload) {
  const bool is_result = header.kind == FlareKind::result;
  const auto values = job.frames.values().weigh(header, payload, is_result);
  if (!values || (is_result && reception.is_of(header) && reception.total != header.shards)) {
    ++wrong_;
    return false;
  }
  if (!reception.is_of(header)) {
    reception.begin(header);
  } else if (reception.has(header)) {
    return false;
  }
  reception.note(header, *values);
  return true;
}

void FlareSparseTraffic::take_result_shard(std::uint32_t number, std::uint32_t rank,
                                           const FlareSparseHeader& header, wire::Bytes payload,
                                           Time now) {
  auto& job = jobs_[number];
  const auto block = header.block.value();
  const FlarePosition at{plan_.run, block};
  if (!job.frames.is_like(header, plan_.run) ||
      header.fingerprint.value() != job.frames.fingerprint(at)) {
    ++wrong_;
    return;
  }
  auto& reception = job.results[place_of(block) * plan_.workers + rank];
  if (!is_in_flight(number, block)) {  // then it counts as late, once
    if (header.is_last()) {
      take_result(number, rank, block, now);
    }
    return;
  }
  if (reception.is_of(header) && reception.has(header)) {
    common_.duplicates += header.is_last() ? 1 : 0;
    return;
  }
  if (!take(job, reception, header, payload) || !reception.is_complete()) {
    return;
  }
  if (reception.weighed != job.frames.values().weighed_sum(job.frames.variant_of(at))) {
    ++wrong_;
    reception = {};
    return;
  }
  take_result(number, rank, block, now);
}

void FlareSparseTraffic::take_sum_shard(std::uint32_t number, const FlareSparseHeader& header,
                                        wire::Bytes payload, traffic::Outbox& out) {
  auto& job = jobs_[number];
  const auto block = header.block.value();
  const FlarePosition at{plan_.run, block};
  if (!job.frames.is_like(header, plan_.run) ||
      (header.is_last() && header.contributions.value() != plan_.workers)) {
    ++wrong_;
    return;
  }
  auto& sum = job.sums[place_of(block)];
  const bool was_complete = sum.is_of(header) && sum.is_complete();
  if (was_complete) {  // the switch may have lost the answer
    if (header.is_last()) {
      answer(job, block, out);
    }
    return;
  }
  if (!take(job, sum, header, payload) || !sum.is_complete()) {
    return;
  }
  if (sum.weighed != job.frames.values().weighed_sum(job.frames.variant_of(at)) ||
      sum.fingerprint != job.frames.fingerprint(at)) {
    ++wrong_;
    sum = {};
    return;
  }
  note_sum();
  answer(job, block, out);
}

void FlareSparseTraffic::answer(const Job& job, std::uint64_t block, traffic::Outbox& out) {
  const FlarePosition at{plan_.run, block};
  const auto shards = job.frames.values().result(job.frames.variant_of(at)).size();
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    auto packet = pool_.allocate();
    if (packet == nullptr) {
      ++counters_.no_buffer;
      return;
    }
    job.frames.result(*packet, at, shard, stations_.range(*plan_.parent));
    out[*plan_.parent].push(std::move(packet));
  }
  note_answer();
}

}  // namespace tributary::flare
