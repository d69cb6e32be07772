// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/traffic/traffic.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "protocols/panama/engine/protocol.h"

namespace tributary::panama {

using wire::PanamaHeader;
using wire::PanamaKind;

PanamaTraffic::PanamaTraffic(TrafficPlan plan, const traffic::Stations& stations, PacketPool& pool)
    : BlockTraffic(plan.block_timeout, std::size_t{plan.jobs} * plan.trees),
      plan_(std::move(plan)),
      stations_(stations),
      places_(plan_, stations.ports()),
      pool_(pool) {
  for (const auto& kind : plan_.kinds) {
    values_.push_back(
        std::make_unique<traffic::BlockValues>(kind.type, kind.op, plan_.workers, plan_.elements));
  }
  for (std::uint32_t job = 0; job < plan_.jobs; ++job) {
    for (std::uint16_t number = 0; number < plan_.trees; ++number) {
      Tree tree{job,
                values_[job % values_.size()].get(),
                PanamaFrames(plan_, places_, stations, job, number),
                {}};
      tree.blocks.resize(std::bit_ceil(std::size_t{plan_.window}));
      trees_.push_back(std::move(tree));
    }
  }
}

// The window is a span, on which the memory of switches relies.
bool PanamaTraffic::may_begin_block(const Tree& tree) const {
  return !tree.broken && tree.next.vid < plan_.collective &&
         tree.next.vid - tree.oldest < std::min(tree.cap, plan_.window);
}

void PanamaTraffic::begin_collective(Tree& tree) {
  ++tree.next.epoch;
  tree.next.vid = 0;
  tree.oldest = 0;
  tree.cap = initial_window;
  tree.broken = false;
}

bool PanamaTraffic::begin_blocks(std::size_t number) {
  if (!may_begin()) {
    return false;
  }
  auto& tree = trees_[number];
  const bool is_over = tree.broken || tree.next.vid == plan_.collective;
  if (is_over && tree.oldest == tree.next.vid) {
    begin_collective(tree);
  }
  turn_ = {tree.next.vid, 0, 0, 0};
  while (turn_.count < plan_.interleave && may_begin_block(tree)) {
    figures_.collectives += tree.next.vid == 0 ? 1 : 0;
    block_at(tree, tree.next.vid) = {opened(plan_.workers), tree.next};
    ++turn_.count;
    ++tree.next.vid;
  }
  return turn_.count > 0;
}

PanamaTraffic::Contribution PanamaTraffic::next_contribution(Time now) {
  auto packet = pool_.allocate();
  if (packet == nullptr) {
    return {};
  }
  auto& tree = trees_[sending_];
  const auto rank = turn_.rank;
  auto& block = block_at(tree, static_cast<std::uint32_t>(turn_.first + turn_.place));
  tree.frames.contribution(*packet, block.at, rank, *tree.values);
  ++block.sent;
  block.since = now;
  is_sending_ = turn_.advance(plan_.workers);
  return {std::move(packet), places_.port_of(tree.job, rank)};
}

PanamaTraffic::Tree* PanamaTraffic::find_tree(const engine::Frame& frame,
                                              const PanamaHeader& header) {
  const std::uint32_t job = header.job.value() - plan_.first_job;
  const auto number = header.tree.value();
  if (job >= plan_.jobs || number >= plan_.trees) {
    return nullptr;
  }
  auto& tree = trees_[std::size_t{job} * plan_.trees + number];
  return frame.ipv4->destination == tree.frames.group() ? &tree : nullptr;
}

void PanamaTraffic::arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) {
  const auto frame = engine::parse_frame(*packet);
  if (!engine_kind.protocol.claims(frame) ||
      frame.ipv4->header_bytes() != sizeof(wire::Ipv4Header)) {
    ++counters_.foreign;
    return;
  }
  const auto* header = wire::Cursor(frame.payload).take<PanamaHeader>();
  if (header == nullptr) {
    ++common_.invalid;
    return;
  }
  // Sums come to the root, results to workers.
  const bool is_root = plan_.parent == port;
  const auto kind = is_root ? PanamaKind::aggregation : PanamaKind::result;
  auto* tree = find_tree(frame, *header);
  const auto rank = tree == nullptr ? std::nullopt : places_.rank_at(tree->job, port);
  const bool expected = tree != nullptr && header->kind == kind && (is_root || rank);
  const auto payload = frame.payload.subspan(sizeof(PanamaHeader));
  if (expected && is_right(*tree, kind, *header, payload)) {
    if (is_root) {
      answer(*tree, std::move(packet), out);
    } else {
      take_result(*tree, *rank, frame, *header, now);
    }
  } else if (wire::parse_panama(frame.payload).error != wire::PanamaError::none) {
    ++common_.invalid;
  } else if (expected) {
    ++wrong_;
  } else {
    ++counters_.foreign;
  }
}

// The CRC of a payload that is right to the last bit is known, which saves reading it twice.
bool PanamaTraffic::is_right(const Tree& tree, PanamaKind kind, const PanamaHeader& header,
                             wire::Bytes payload) const {
  const auto& values = *tree.values;
  const PanamaPosition at{header.epoch.value(), header.vid.value()};
  const auto shift = tree.frames.shift_of(at);
  return payload.size() == values.block_bytes() &&
         tree.frames.is_total(header, kind, tree.frames.fingerprint(at), values.sum_crc(shift)) &&
         std::memcmp(payload.data(), values.sum(shift).data(), values.block_bytes()) == 0;
}

void PanamaTraffic::take_result(Tree& tree, std::uint32_t rank, const engine::Frame& frame,
                                const PanamaHeader& header, Time now) {
  const PanamaPosition at{header.epoch.value(), header.vid.value()};
  auto& block = block_at(tree, at.vid);
  figures_.congested += (frame.ipv4->tos & wire::ecn::mask) == wire::ecn::ce ? 1 : 0;
  if (!note_result(block, block.at == at, rank)) {
    return;
  }
  tree.cap = std::max<std::uint32_t>(header.wnd_cap.value(), 1);
  if (block.waiting == 0) {
    count_done(block, now);
    close_block(tree, block);
  }
}

// A sum is answered also when it comes again: the switch may have lost the answer.
void PanamaTraffic::answer(const Tree& tree, PacketPtr sum, traffic::Outbox& out) {
  ++figures_.sums;
  ++figures_.answers;
  tree.frames.answer(*sum, stations_.range(*plan_.parent));
  out[*plan_.parent].push(std::move(sum));
}

void PanamaTraffic::close_block(Tree& tree, Block& block) {
  mark_closed(block);
  while (tree.oldest != tree.next.vid && !block_at(tree, tree.oldest).open) {
    ++tree.oldest;
  }
}

// Blocks begin in order, so only the oldest one need be looked at.
void PanamaTraffic::expire(Time now, traffic::Outbox& /*out*/) {
  if (!looks_now(now)) {
    return;
  }
  for (auto& tree : trees_) {
    while (tree.oldest != tree.next.vid) {
      auto& block = block_at(tree, tree.oldest);
      if (block.sent < plan_.workers || !is_overdue(block.since, now)) {
        break;
      }
      common_.given_up += is_of_trial(block) ? 1 : 0;
      tree.broken = true;
      close_block(tree, block);
    }
  }
}

std::vector<traffic::Figure> PanamaTraffic::figures() const {
  return {{"collectives", figures_.collectives},     {"results_received", common_.results},
          {"results_congested", figures_.congested}, {"sums_received", figures_.sums},
          {"answers_sent", figures_.answers},        {"blocks_given_up", common_.given_up},
          {"duplicates", common_.duplicates},        {"invalid", common_.invalid}};
}

}  // namespace tributary::panama
