// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/traffic/traffic.h"

#include <bit>
#include <utility>

#include "wire/roce.h"

namespace tributary::netreduce {
namespace {

bool is_roce(const engine::Frame& frame) {
  return frame.udp != nullptr && frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header) &&
         frame.udp->destination_port.value() == wire::roce_udp_port;
}

bool has_right_icrc(const NetReduceFrames& frames, const engine::Frame& frame,
                    const wire::RoceView& roce) {
  const auto covered = wire::Bytes(frame.payload).first(frame.payload.size() - wire::icrc_bytes);
  return wire::load_icrc(roce.icrc) == frames.icrc_of(*frame.ipv4, *frame.udp, covered);
}

}  // namespace

NetReduceTraffic::NetReduceTraffic(TrafficPlan plan, const traffic::Stations& stations,
                                   const traffic::Neighbours& neighbours, PacketPool& pool)
    : BlockTraffic(plan.block_timeout, plan.jobs),
      plan_(std::move(plan)),
      ranks_(stations, plan_.workers),
      pool_(pool) {
  for (const auto& kind : plan_.kinds) {
    values_.push_back(std::make_unique<traffic::BlockValues>(kind.type, kind.op, plan_.workers,
                                                             plan_.elements(kind.type)));
  }
  const auto blocks = std::bit_ceil(std::size_t{plan_.window} * plan_.message_packets + 1);
  for (std::uint32_t job = 0; job < plan_.jobs; ++job) {
    rings_.push_back({values_[job % values_.size()].get(),
                      NetReduceFrames(plan_, ranks_, neighbours, job), plan_.first_run});
    rings_.back().blocks.resize(blocks);
  }
}

NetReducePlace NetReduceTraffic::place_of(const Ring& ring, std::uint64_t number) const {
  const auto behind = number - ring.first;
  if (behind == 0) {
    return {ring.run, 0, 0, number};
  }
  const auto packets = plan_.message_packets;
  return {ring.run, static_cast<std::uint32_t>(1 + (behind - 1) / packets),
          static_cast<std::uint32_t>((behind - 1) % packets), number};
}

// Nothing follows message 0 before all have its sum; then the switches know everybody.
bool NetReduceTraffic::may_begin_block(const Ring& ring) const {
  if (ring.broken || ring.oldest == ring.next) {
    return !ring.broken;
  }
  return ring.oldest != ring.first &&
         place_of(ring, ring.next).message - place_of(ring, ring.oldest).message < plan_.window;
}

bool NetReduceTraffic::begin_blocks(std::size_t job) {
  if (!may_begin()) {
    return false;
  }
  auto& ring = rings_[job];
  if (ring.broken && ring.oldest == ring.next) {
    ring.broken = false;
    ++ring.run;
    ring.first = ring.next;
  }
  turn_ = {ring.next, 0, 0, 0};
  while (turn_.count < plan_.interleave && may_begin_block(ring)) {
    runs_ += ring.next == ring.first ? 1 : 0;
    block_at(ring, ring.next) = {opened(plan_.workers), ring.next};
    ++turn_.count;
    ++ring.next;
  }
  return turn_.count > 0;
}

NetReduceTraffic::Contribution NetReduceTraffic::next_contribution(Time now) {
  auto packet = pool_.allocate();
  if (packet == nullptr) {
    return {};
  }
  auto& ring = rings_[sending_];
  const auto rank = turn_.rank;
  auto& block = block_at(ring, turn_.first + turn_.place);
  ring.frames.gradient(*packet, place_of(ring, block.sequence), rank, *ring.values);
  ++block.sent;
  block.since = now;
  is_sending_ = turn_.advance(plan_.workers);
  return {std::move(packet), ranks_[rank].port};
}

// Returns the number of a block of the run that is going on; no value for an earlier one, or for
// none.
std::optional<std::uint64_t> NetReduceTraffic::number_of(const Ring& ring, std::uint32_t rank,
                                                         std::uint32_t psn) const {
  const auto behind = wire::psn_distance(ring.frames.psn(rank, ring.oldest), psn);
  const auto before = wire::psn_distance(psn, ring.frames.psn(rank, ring.oldest));
  if (behind < before) {
    return behind < ring.next - ring.oldest ? std::optional(ring.oldest + behind) : std::nullopt;
  }
  return before <= ring.oldest - ring.first ? std::optional(ring.oldest - before) : std::nullopt;
}

void NetReduceTraffic::arrived(PacketPtr packet, std::size_t port, Time now,
                               traffic::Outbox& /*out*/) {
  const auto frame = engine::parse_frame(*packet);
  const auto roce = is_roce(frame) ? wire::parse_roce(frame.payload) : wire::RoceView{};
  if (roce.bth == nullptr) {
    ++counters_.foreign;
    return;
  }
  const auto rank = ranks_.find(port, frame.ipv4->destination);
  const auto job = NetReduceFrames::job_of(roce.bth->destination_qp.value());
  if (rank == ranks_.count() || job >= rings_.size()) {
    ++counters_.foreign;
    return;
  }
  auto& ring = rings_[job];
  const auto sender = (rank + ranks_.count() - 1) % ranks_.count();
  const auto number = number_of(ring, sender, roce.bth->psn.value());
  if (number && ring.frames.is_result(frame, place_of(ring, *number), sender, *ring.values)) {
    take_result(ring, rank, *number, now);
  } else if (!has_right_icrc(ring.frames, frame, roce)) {
    ++common_.invalid;
  } else if (number) {
    ++wrong_;
  } else {
    ++counters_.late;
  }
}

void NetReduceTraffic::take_result(Ring& ring, std::uint32_t rank, std::uint64_t number, Time now) {
  auto& block = block_at(ring, number);
  if (note_result(block, block.sequence == number, rank) && block.waiting == 0) {
    count_done(block, now);
    close_block(ring, block);
  }
}

void NetReduceTraffic::close_block(Ring& ring, Block& block) {
  mark_closed(block);
  while (ring.oldest != ring.next && !block_at(ring, ring.oldest).open) {
    ++ring.oldest;
  }
}

// Blocks begin in order, so only the oldest one need be looked at.
void NetReduceTraffic::expire(Time now, traffic::Outbox& /*out*/) {
  if (!looks_now(now)) {
    return;
  }
  for (auto& ring : rings_) {
    while (ring.oldest != ring.next) {
      auto& block = block_at(ring, ring.oldest);
      if (block.sent < plan_.workers || !is_overdue(block.since, now)) {
        break;
      }
      common_.given_up += is_of_trial(block) ? 1 : 0;
      ring.broken = true;
      close_block(ring, block);
    }
  }
}

std::vector<traffic::Figure> NetReduceTraffic::figures() const {
  return {{"runs", runs_},
          {"results_received", common_.results},
          {"blocks_given_up", common_.given_up},
          {"duplicates", common_.duplicates},
          {"invalid", common_.invalid}};
}

}  // namespace tributary::netreduce
