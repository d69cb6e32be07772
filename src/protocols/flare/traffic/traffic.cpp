// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/traffic.h"

#include <bit>
#include <cstring>
#include <utility>

#include "protocols/flare/engine/protocol.h"

namespace tributary::flare {

using wire::FlareHeader;
using wire::FlareKind;

namespace {

// After so many the switch is taken to be gone.
constexpr std::uint32_t tries_max = 3;

}  // namespace

FlareTraffic::FlareTraffic(traffic::TreePlan plan, const traffic::Stations& stations,
                           PacketPool& pool)
    : BlockTraffic(plan.block_timeout, plan.jobs),
      plan_(std::move(plan)),
      stations_(stations),
      places_(plan_, stations.ports()),
      pool_(pool) {
  for (const auto& kind : plan_.kinds) {
    values_.push_back(
        std::make_unique<traffic::BlockValues>(kind.type, kind.op, plan_.workers, plan_.elements));
  }
  for (std::uint32_t number = 0; number < plan_.jobs; ++number) {
    Job job{number, values_[number % values_.size()].get(),
            FlareFrames(plan_, places_, stations, number)};
    job.blocks.resize(std::bit_ceil(std::size_t{plan_.window}));
    jobs_.push_back(std::move(job));
  }
}

bool FlareTraffic::has_contribution() {
  is_sending_ = is_sending_ && (!again_ || seek_waiting(jobs_[sending_]));
  return BlockTraffic::has_contribution();
}

bool FlareTraffic::begin_blocks(std::size_t number) {
  return begin_again(jobs_[number]) || begin_next(jobs_[number]);
}

// Goes on to the next rank that waits for the block; false: none does any more.
bool FlareTraffic::seek_waiting(Job& job) {
  const auto& block = block_at(job, turn_.first);
  while (block.open && block.number == turn_.first && turn_.rank < plan_.workers) {
    if ((block.waiting & bit(turn_.rank)) != 0) {
      return true;
    }
    ++turn_.rank;
  }
  return false;
}

bool FlareTraffic::begin_again(Job& job) {
  for (auto number = job.oldest; job.overdue != 0 && number != job.next; ++number) {
    auto& block = block_at(job, number);
    if (block.open && block.overdue) {
      block.overdue = false;
      --job.overdue;
      ++block.tries;
      turn_ = {number, 1, 0, 0};
      again_ = true;
      return seek_waiting(job);
    }
  }
  return false;
}

bool FlareTraffic::begin_next(Job& job) {
  turn_ = {job.next, 0, 0, 0};
  again_ = false;
  while (may_begin() && turn_.count < plan_.interleave && job.next - job.oldest < plan_.window) {
    block_at(job, job.next) = {opened(plan_.workers), job.next};
    ++turn_.count;
    ++job.next;
  }
  return turn_.count > 0;
}

FlareTraffic::Contribution FlareTraffic::next_contribution(Time now) {
  auto packet = pool_.allocate();
  if (packet == nullptr) {
    return {};
  }
  auto& job = jobs_[sending_];
  const auto rank = turn_.rank;
  auto& block = block_at(job, turn_.first + turn_.place);
  const auto flags = again_ ? FlareHeader::retransmission_bit : std::uint8_t{0};
  job.frames.contribution(*packet, {plan_.run, block.number}, rank, flags, *job.values);
  block.since = now;
  if (again_) {
    ++figures_.retransmissions;
    ++turn_.rank;
  } else {
    ++block.sent;
    is_sending_ = turn_.advance(plan_.workers);
  }
  return {std::move(packet), places_.port_of(job.number, rank)};
}

FlareTraffic::Job* FlareTraffic::find_job(const engine::Frame& frame, const FlareHeader& header) {
  const std::uint32_t number = header.job.value() - plan_.first_job;
  if (number >= plan_.jobs) {
    return nullptr;
  }
  auto& job = jobs_[number];
  return frame.ipv4->destination == job.frames.group() ? &job : nullptr;
}

void FlareTraffic::arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) {
  const auto frame = engine::parse_frame(*packet);
  if (!engine_kind.protocol.claims(frame) ||
      frame.ipv4->header_bytes() != sizeof(wire::Ipv4Header)) {
    ++counters_.foreign;
    return;
  }
  const auto* header = wire::Cursor(frame.payload).take<FlareHeader>();
  if (header == nullptr) {
    ++common_.invalid;
    return;
  }
  // Sums come to the root, results to workers.
  const bool is_root = plan_.parent == port;
  const auto kind = is_root ? FlareKind::contribution : FlareKind::result;
  auto* job = find_job(frame, *header);
  const auto rank = job == nullptr ? std::nullopt : places_.rank_at(job->number, port);
  const bool expected = job != nullptr && header->kind == kind && (is_root || rank);
  const auto payload = frame.payload.subspan(sizeof(FlareHeader));
  if (expected && is_right(*job, kind, *header, payload)) {
    if (is_root) {
      answer(*job, std::move(packet), out);
    } else {
      take_result(*job, *rank, *header, now);
    }
  } else if (wire::parse_flare(frame.payload).error != wire::FlareError::none) {
    ++common_.invalid;
  } else if (expected) {
    ++wrong_;
  } else if (rank && header->kind == FlareKind::inquiry) {
    ++figures_.inquiries;  // what is missing is sent again anyway
  } else {
    ++counters_.foreign;
  }
}

// Of a payload that is right to the last bit the CRC is known, which saves reading it twice.
bool FlareTraffic::is_right(const Job& job, FlareKind kind, const FlareHeader& header,
                            wire::Bytes payload) const {
  const auto& values = *job.values;
  const FlarePosition at{plan_.run, header.block.value()};
  const auto shift = job.frames.shift_of(at);
  return payload.size() == values.block_bytes() &&
         job.frames.is_total(header, kind, at, values.sum_crc(shift)) &&
         std::memcmp(payload.data(), values.sum(shift).data(), values.block_bytes()) == 0;
}

void FlareTraffic::take_result(Job& job, std::uint32_t rank, const FlareHeader& header, Time now) {
  const auto number = header.block.value();
  auto& block = block_at(job, number);
  if (note_result(block, block.number == number, rank) && block.waiting == 0) {
    if (block.tries == 0 && !block.overdue) {
      count_done(block, now);
    }
    close_block(job, block);
  }
}

// Also when it comes again: the switch may have lost the answer.
void FlareTraffic::answer(const Job& job, PacketPtr sum, traffic::Outbox& out) {
  ++figures_.sums;
  ++figures_.answers;
  job.frames.answer(*sum, stations_.range(*plan_.parent));
  out[*plan_.parent].push(std::move(sum));
}

void FlareTraffic::close_block(Job& job, Block& block) {
  job.overdue -= block.overdue ? 1 : 0;
  mark_closed(block);
  while (job.oldest != job.next && !block_at(job, job.oldest).open) {
    ++job.oldest;
  }
}

void FlareTraffic::note_overdue(Job& job, Block& block) {
  if (block.tries == tries_max) {
    common_.given_up += is_of_trial(block) ? 1 : 0;
    close_block(job, block);
    return;
  }
  figures_.overdue += is_of_trial(block) && block.tries == 0 ? 1 : 0;
  block.overdue = true;
  ++job.overdue;
}

void FlareTraffic::expire(Time now, traffic::Outbox& /*out*/) {
  if (!looks_now(now)) {
    return;
  }
  for (auto& job : jobs_) {
    for (auto number = job.oldest; number != job.next; ++number) {
      auto& block = block_at(job, number);
      if (block.open && !block.overdue && block.sent == plan_.workers &&
          is_overdue(block.since, now)) {
        note_overdue(job, block);
      }
    }
  }
}

std::vector<traffic::Figure> FlareTraffic::figures() const {
  return {{"results_received", common_.results},
          {"sums_received", figures_.sums},
          {"answers_sent", figures_.answers},
          {"inquiries_received", figures_.inquiries},
          {"retransmissions_sent", figures_.retransmissions},
          {"blocks_overdue", figures_.overdue},
          {"blocks_given_up", common_.given_up},
          {"duplicates", common_.duplicates},
          {"invalid", common_.invalid}};
}

}  // namespace tributary::flare
