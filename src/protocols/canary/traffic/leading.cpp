// SPDX-License-Identifier: BSD-3-Clause
// This file is the leaders' side of the traffic (3.1.4, 3.2.1).
#include <cstring>
#include <utility>

#include "protocols/canary/traffic/traffic.h"

namespace tributary::canary {

using wire::CanaryHeader;
using wire::CanaryKind;

void CanaryTraffic::take_contribution(PacketPtr packet, const wire::CanaryView& view, Job& job,
                                      std::uint32_t leader, traffic::Outbox& out) {
  const auto& header = *view.header;
  const auto sequence = header.id.value();
  const bool agrees = header.hosts.value() == plan_.workers &&
                      header.element_type == job.wire.type && header.op == job.wire.op &&
                      header.elements.value() == plan_.elements &&
                      leader_of(ranks_, wire::canary_sequence(sequence)) == leader;
  if (!agrees) {
    ++wrong_;
    return;
  }
  ++figures_.sums;
  auto& block = block_at(job, sequence);
  if (!block.open || block.sequence != sequence || (block.waiting & bit(leader)) == 0) {
    // Its block is done or was given up; the switch need not remember it.
    ++counters_.late;
    frames_.release(*packet);
    out[ranks_[leader].port].push(std::move(packet));
    return;
  }
  if (is_kept(block, header)) {
    ++common_.duplicates;
    return;
  }
  block.gathered += header.counter.value();
  block.fingerprint += header.fingerprint.value();
  block.congested |= header.congested();
  if (block.kept.empty()) {
    block.sum = view.payload.data();
  } else {
    add(job, view.payload, block.sum);
  }
  block.kept.push(std::move(packet));
  if (block.gathered + 1 >= plan_.workers) {
    conclude(job, block, out);
  }
}

bool CanaryTraffic::is_kept(const Block& block, const CanaryHeader& header) const {
  for (const auto* packet = block.kept.front(); packet != nullptr; packet = packet->next) {
    const auto& kept = frames_.header_of(*packet);
    if (kept.fingerprint == header.fingerprint && kept.child_address == header.child_address &&
        kept.child_port == header.child_port) {
      return true;
    }
  }
  return false;
}

void CanaryTraffic::add(const Job& job, wire::Bytes part, std::byte* sum) {
  const auto& kernel = job.material->kernel;
  if (kernel.in_place) {
    kernel.accumulate(sum, part.data(), plan_.elements);
    return;
  }
  kernel.load(scratch_.data(), sum, plan_.elements);
  kernel.accumulate(scratch_.data(), part.data(), plan_.elements);
  kernel.store(sum, scratch_.data(), plan_.elements);
}

// All have contributed: the leader adds its own part and looks whether that is the sum.
void CanaryTraffic::conclude(Job& job, Block& block, traffic::Outbox& out) {
  const auto own_tag = traffic::rank_tag(job.wire.key(block.sequence), block.leader);
  if (block.fingerprint != block.total - own_tag) {
    ++figures_.fingerprint_mismatches;
    give_up(job, block, out);
    return;
  }
  const auto& values = job.material->values;
  add(job, values.part(block.leader, block.shift), block.sum);
  if (std::memcmp(block.sum, values.sum(block.shift).data(), values.block_bytes()) != 0) {
    ++wrong_;
    give_up(job, block, out);
    return;
  }
  answer_all(job, block, out);
  block.waiting &= ~bit(block.leader);
}

// Each packet becomes the answer to its sender; a switch that sent twice gets one.
void CanaryTraffic::answer_all(Job& job, Block& block, traffic::Outbox& out) {
  const auto sum = job.material->values.sum(block.shift);
  const auto crc = job.material->values.sum_crc(block.shift);
  PacketList answers;
  while (auto packet = block.kept.pop()) {
    const auto& header = frames_.header_of(*packet);
    if (!header.bypass() && is_answered(answers, header)) {
      continue;
    }
    figures_.restorations += header.bypass() ? 1 : 0;
    ++figures_.answers;
    std::memcpy(frames_.at(*packet).payload, sum.data(), sum.size());
    frames_.answer(*packet, job.wire, block.total, crc, block.congested);
    answers.push(std::move(packet));
  }
  out[ranks_[block.leader].port].append(std::move(answers));
}

bool CanaryTraffic::is_answered(const PacketList& answers, const CanaryHeader& header) const {
  for (const auto* packet = answers.front(); packet != nullptr; packet = packet->next) {
    const auto& answer = frames_.header_of(*packet);
    if (answer.kind == CanaryKind::result && answer.child_address == header.child_address &&
        answer.child_port == header.child_port) {
      return true;
    }
  }
  return false;
}

// What the leader has is answered with a release, so that switches forget the block.
void CanaryTraffic::give_up(Job& job, Block& block, traffic::Outbox& out) {
  common_.given_up += is_of_trial(block) ? 1 : 0;
  while (auto packet = block.kept.pop()) {
    frames_.release(*packet);
    out[ranks_[block.leader].port].push(std::move(packet));
  }
  close_block(job, block);
}

}  // namespace tributary::canary
