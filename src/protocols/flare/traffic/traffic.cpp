// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/traffic.h"

#include <cstring>
#include <utility>

namespace tributary::flare {

using wire::FlareHeader;
using wire::FlareKind;

FlareTraffic::FlareTraffic(traffic::TreePlan plan, const traffic::Stations& stations,
                           PacketPool& pool)
    : WindowTraffic(std::move(plan), stations, pool) {
  for (const auto& kind : plan_.kinds) {
    values_.push_back(
        std::make_unique<traffic::BlockValues>(kind.type, kind.op, plan_.workers, plan_.elements));
  }
  for (std::uint32_t number = 0; number < plan_.jobs; ++number) {
    jobs_.push_back(
        {values_[number % values_.size()].get(), FlareFrames(plan_, places_, stations, number)});
  }
}

void FlareTraffic::write(const Part& part, Packet& packet) {
  const auto& job = jobs_[part.job];
  const auto flags = part.again ? FlareHeader::retransmission_bit : std::uint8_t{0};
  job.frames.contribution(packet, {plan_.run, part.block}, part.rank, flags, *job.values);
}

void FlareTraffic::arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) {
  const auto frame = engine::parse_frame(*packet);
  if (!is_of_flare(frame)) {
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
  const auto job = find_job(frame, header->job.value());
  const auto rank = job ? places_.rank_at(*job, port) : std::nullopt;
  const bool expected = job && header->kind == kind && (is_root || rank);
  const auto payload = frame.payload.subspan(sizeof(FlareHeader));
  if (expected && is_right(jobs_[*job], kind, *header, payload)) {
    if (is_root) {
      answer(jobs_[*job], std::move(packet), out);
    } else {
      take_result(*job, *rank, header->block.value(), now);
    }
  } else if (wire::parse_flare(frame.payload).error != wire::FlareError::none) {
    ++common_.invalid;
  } else if (expected) {
    ++wrong_;
  } else if (rank && header->kind == FlareKind::inquiry) {
    note_inquiry();  // what is missing is sent again anyway
  } else {
    ++counters_.foreign;
  }
}

// The CRC of a payload that is right to the last bit is known, which saves reading it twice.
bool FlareTraffic::is_right(const Job& job, FlareKind kind, const FlareHeader& header,
                            wire::Bytes payload) const {
  const auto& values = *job.values;
  const FlarePosition at{plan_.run, header.block.value()};
  const auto shift = job.frames.shift_of(at);
  return payload.size() == values.block_bytes() &&
         job.frames.is_total(header, kind, at, values.sum_crc(shift)) &&
         std::memcmp(payload.data(), values.sum(shift).data(), values.block_bytes()) == 0;
}

// A sum is answered also when it comes again: the switch may have lost the answer.
void FlareTraffic::answer(const Job& job, PacketPtr sum, traffic::Outbox& out) {
  note_sum();
  note_answer();
  job.frames.answer(*sum, stations_.range(*plan_.parent));
  out[*plan_.parent].push(std::move(sum));
}

}  // namespace tributary::flare
