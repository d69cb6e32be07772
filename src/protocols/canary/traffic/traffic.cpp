// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/traffic/traffic.h"

#include <bit>
#include <cstring>
#include <utility>

#include "engine/frame.h"

namespace tributary::canary {
namespace {

using wire::CanaryKind;

// The sequence numbers of blocks in flight may be so many windows apart: one that is late or lost
// does not stop the others.
constexpr std::uint32_t reach = 8;

}  // namespace

CanaryTraffic::Material::Material(const TrafficPlan& plan, const traffic::Reduction& kind)
    : values(kind.type, kind.op, plan.workers, plan.elements),
      kernel(reduce::kernel(kind.type, kind.op)) {}

CanaryTraffic::CanaryTraffic(TrafficPlan plan, const traffic::Stations& stations,
                             const traffic::Neighbours& neighbours, PacketPool& pool)
    : BlockTraffic(plan.block_timeout, plan.jobs),
      plan_(std::move(plan)),
      ranks_(stations, plan_.workers),
      frames_(plan_.encapsulation, ranks_),
      neighbours_(neighbours),
      pool_(pool),
      scratch_(plan_.elements) {
  for (const auto& kind : plan_.kinds) {
    materials_.push_back(std::make_unique<Material>(plan_, kind));
  }
  jobs_ = std::vector<Job>(plan_.jobs);
  for (std::uint32_t j = 0; j < plan_.jobs; ++j) {
    const auto& kind = plan_.kinds[j % plan_.kinds.size()];
    jobs_[j].wire = {plan_.first_job + j, kind.type, kind.op, plan_.elements, plan_.workers};
    jobs_[j].material = materials_[j % materials_.size()].get();
    jobs_[j].blocks = std::vector<Block>(std::bit_ceil(std::size_t{plan_.window} * reach));
  }
}

std::uint32_t CanaryTraffic::shift_of(const Job& job, std::uint32_t sequence) const {
  return static_cast<std::uint32_t>(wire::mix_key(job.wire.key(sequence), 0) %
                                    traffic::BlockValues::shifts);
}

bool CanaryTraffic::begin_blocks(std::size_t number) {
  auto& job = jobs_[number];
  turn_ = {job.next, 0, 0, 0};
  while (may_begin() && turn_.count < plan_.interleave && job.open < plan_.window &&
         !block_at(job, job.next).open) {
    block_at(job, job.next) = {opened(plan_.workers), job.next, shift_of(job, job.next),
                               leader_of(ranks_, job.next),
                               traffic::total_tag(job.wire.key(job.next), plan_.workers)};
    ++turn_.count;
    ++job.open;
    job.next = wire::canary_sequence(job.next + 1);
  }
  if (turn_.count > 0 && leader_of_turn() == 0) {
    advance();  // the leader does not contribute to its own block
  }
  return turn_.count > 0;
}

std::uint32_t CanaryTraffic::leader_of_turn() const {
  return leader_of(ranks_,
                   wire::canary_sequence(static_cast<std::uint32_t>(turn_.first + turn_.place)));
}

// Goes to the next rank and block that has something to send; returns false past the last of them.
bool CanaryTraffic::advance() {
  do {
    if (!turn_.advance(plan_.workers)) {
      return false;
    }
  } while (leader_of_turn() == turn_.rank);
  return true;
}

CanaryTraffic::Contribution CanaryTraffic::next_contribution(Time now) {
  auto packet = pool_.allocate();
  if (packet == nullptr) {
    return {};
  }
  auto& job = jobs_[sending_];
  const auto rank = turn_.rank;
  const auto sequence =
      wire::canary_sequence(static_cast<std::uint32_t>(turn_.first + turn_.place));
  auto& block = block_at(job, sequence);
  const auto& values = job.material->values;
  const auto port = ranks_[rank].port;
  const auto next_hop = neighbours_.next_hop(port, ranks_[block.leader].mac);
  frames_.contribution(*packet, {job.wire, sequence, next_hop}, rank,
                       values.part(rank, block.shift), values.part_crc(rank, block.shift));
  ++block.sent;
  block.since = now;
  is_sending_ = advance();
  return {std::move(packet), port};
}

void CanaryTraffic::arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) {
  const auto frame = engine::parse_frame(*packet);
  const bool udp = plan_.encapsulation == wire::Encapsulation::udp;
  const bool canary =
      udp ? frame.udp != nullptr && frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header) &&
                wire::is_canary_udp_port(frame.udp->destination_port.value())
          : frame.ethernet != nullptr && frame.ethernet->type.value() == wire::ethertype::canary;
  if (!canary) {
    ++counters_.foreign;
    return;
  }
  const auto* header = wire::Cursor(frame.payload).take<wire::CanaryHeader>();
  if (header == nullptr) {
    ++common_.invalid;
    return;
  }
  const auto number = header->job.value() - plan_.first_job;
  const auto rank = ranks_.find(port, header->destination);
  auto* job = number < jobs_.size() && rank < ranks_.count() ? &jobs_[number] : nullptr;
  const auto payload = frame.payload.subspan(sizeof(wire::CanaryHeader));
  if (job != nullptr && is_right_result(*job, *header, payload)) {
    take_result(*job, header->id.value(), rank, now);
    return;
  }
  const auto view = wire::parse_canary(frame.payload, plan_.encapsulation);
  if (view.error != wire::CanaryError::none) {
    ++common_.invalid;
  } else if (job == nullptr) {
    ++counters_.foreign;
  } else if (header->kind == CanaryKind::contribution) {
    take_contribution(std::move(packet), view, *job, rank, out);
  } else if (header->kind == CanaryKind::result) {
    ++common_.results;
    ++wrong_;
  }
}

// The CRC of a payload that is right to the last bit is known, which saves reading it twice.
bool CanaryTraffic::is_right_result(const Job& job, const wire::CanaryHeader& header,
                                    wire::Bytes payload) const {
  const auto& values = job.material->values;
  const bool fits = plan_.encapsulation == wire::Encapsulation::udp
                        ? payload.size() == values.block_bytes()
                        : payload.size() >= values.block_bytes();  // Ethernet pads
  if (header.kind != CanaryKind::result || !fits) {
    return false;
  }
  const auto sequence = header.id.value();
  const auto& block = block_at(job, sequence);
  const bool known = block.sequence == sequence && block.total != 0;
  const auto shift = known ? block.shift : shift_of(job, sequence);
  const auto total = known ? block.total : traffic::total_tag(header.key(), plan_.workers);
  return frames_.is_result(header, job.wire, total, values.sum_crc(shift)) &&
         std::memcmp(payload.data(), values.sum(shift).data(), values.block_bytes()) == 0;
}

void CanaryTraffic::take_result(Job& job, std::uint32_t sequence, std::uint32_t rank, Time now) {
  auto& block = block_at(job, sequence);
  if (note_result(block, block.sequence == sequence, rank) && block.waiting == 0) {
    count_done(block, now);
    close_block(job, block);
  }
}

void CanaryTraffic::close_block(Job& job, Block& block) {
  mark_closed(block);
  --job.open;
}

// Blocks begin in order, so only the oldest one need be looked at.
void CanaryTraffic::expire(Time now, traffic::Outbox& out) {
  if (!looks_now(now)) {
    return;
  }
  for (auto& job : jobs_) {
    while (job.oldest != job.next) {
      auto& block = block_at(job, job.oldest);
      if (block.open) {
        const bool sent = block.sent + 1 == plan_.workers;
        if (!sent || !is_overdue(block.since, now)) {
          break;
        }
        give_up(job, block, out);
      }
      job.oldest = wire::canary_sequence(job.oldest + 1);
    }
  }
}

std::vector<traffic::Figure> CanaryTraffic::figures() const {
  return {{"sums_received", figures_.sums},
          {"answers_sent", figures_.answers},
          {"restorations_sent", figures_.restorations},
          {"results_received", common_.results},
          {"blocks_given_up", common_.given_up},
          {"fingerprint_mismatches", figures_.fingerprint_mismatches},
          {"duplicates", common_.duplicates},
          {"invalid", common_.invalid}};
}

}  // namespace tributary::canary
