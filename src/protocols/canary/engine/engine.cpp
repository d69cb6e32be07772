// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/engine.h"

#include <algorithm>
#include <bit>
#include <random>
#include <utility>

#include "engine/prefetch.h"
#include "protocols/canary/engine/checks.h"
#include "protocols/canary/engine/drop_reasons.h"

namespace tributary::canary {
namespace {

// A job for whose blocks there is no room has a window of them under way from each of its workers,
// so there is room for that many.
constexpr std::uint32_t bypassed_min = 16384;
constexpr std::uint32_t bypassed_per_descriptor = 4;

std::uint64_t draw_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

// Returns whether a packet may be of a block, by its header, which is not checked where it only
// passes.
bool may_be_of(const wire::CanaryHeader& header, const BlockShape& shape) {
  return header.destination == shape.leader && header.hosts.value() == shape.hosts;
}

// A result names the child it is for where a contribution names the leader, and may be longer or
// shorter: a reduce ends with results without data, a broadcast begins with such contributions. A
// release has no data to go wrong; its sender may know no more of the block than its id.
bool is_answer_to(const Message& message, const BlockShape& block) {
  const auto& header = *message.header;
  if (message.encapsulation() != block.encapsulation || header.hosts.value() != block.hosts) {
    return false;
  }
  return header.kind == wire::CanaryKind::release ||
         (header.element_type == block.type && header.op == block.op);
}

}  // namespace

CanaryEngine::CanaryEngine(const CanaryConfig& config, const engine::SwitchIdentity& self,
                           PacketPool& pool, Lane lane)
    : config_(config),
      self_(self),
      lane_(lane),
      seed_(config.hash_seed != 0 ? config.hash_seed : draw_seed()),
      blocks_(config, self.ports, seed_),
      admission_(config_, blocks_),
      patience_(config_),
      results_(self_, pool),
      bypassed_(std::max(bypassed_min, bypassed_per_descriptor * blocks_.table.size()), seed_) {}

void CanaryEngine::process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) {
  stalls_.expire(now);
  const Burst current{now, actions};
  // A descriptor tells where its accumulator is.
  const auto locate = [this](const engine::Frame& frame) {
    const auto place = blocks_.table.first_place(wire::peek_canary_key(frame.payload));
    blocks_.table.prefetch(place);
    return place;
  };
  const auto fetch = [this](const DescriptorTable::Place& place, const engine::Frame& frame) {
    prefetch_block(place, frame.payload.size());
  };
  const auto handle_one = [&](const DescriptorTable::Place& place, engine::Arrival& arrival) {
    auto* block = blocks_.table.find_at(place);
    if (lane_ == Lane::off || block == nullptr || !continues(*block, arrival)) {
      return handle(arrival, current);
    }
    const auto& frame = arrival.frame;
    auto* header = wire::MutableCursor(frame.payload).take<wire::CanaryHeader>();
    const Message message{frame.ethernet, frame.ipv4, frame.udp, header,
                          frame.payload.subspan(sizeof(wire::CanaryHeader))};
    add_to(*block, {arrival.packet, message}, current);
  };
  engine::handle_ahead(burst, locate, fetch, handle_one);
}

void CanaryEngine::prefetch_block(const DescriptorTable::Place& place, std::size_t bytes) {
  const auto* block = blocks_.table.find_at(place);
  if (block != nullptr && block->state == Descriptor::State::gathering) {
    blocks_.children.prefetch(place.slot, block->children);
    engine::prefetch(block->accumulator, bytes);
  }
}

// Returns whether what arrived is a sound contribution to a block that gathers. Most are, and
// repeat what the first one said and handle() checked: only what is particular to this one is
// checked here. Whatever else it may be, handle() finds out.
bool CanaryEngine::continues(const Descriptor& block, const engine::Arrival& arrival) const {
  const auto& frame = arrival.frame;
  const auto* headers = udp_headers_of(frame);
  if (block.first == nullptr || headers == nullptr || !repeats(*headers, *block.first)) {
    return false;
  }
  const auto& header = headers->canary;
  return header.counter.value() >= 1 && header.counter.value() < block.shape.hosts &&
         blocks_.tenants.may_speak(header.job.value(), arrival.packet->ingress) &&
         is_from_child(frame, header, self_) &&
         wire::is_intact(header, frame.payload.subspan(sizeof header));
}

void CanaryEngine::handle(engine::Arrival& arrival, const Burst& burst) {
  auto& [packet, frame] = arrival;
  const bool is_udp = frame.udp != nullptr;
  const auto view = wire::parse_canary(
      frame.payload, is_udp ? wire::Encapsulation::udp : wire::Encapsulation::ethernet);
  if (view.error != wire::CanaryError::none) {
    return burst.actions.drop(std::move(packet), protocols::drop_reason_of(view.error, drop::row));
  }
  const auto& header = *view.header;
  const bool is_for_switches = header.multicast();
  const bool is_contribution = header.kind == wire::CanaryKind::contribution;
  if (!blocks_.tenants.may_speak(header.job.value(), packet->ingress)) {
    return burst.actions.drop(std::move(packet), drop::not_allowed);
  }
  const bool is_for_us = (is_udp ? frame.ipv4->destination : header.destination) == self_.address;
  // Leaders and workers are hosts; what a switch marked as "bypass" is for a leader as well.
  if (is_for_us && (!is_for_switches || header.bypass())) {
    return burst.actions.drop(std::move(packet), DropReason::local_unserved);
  }
  if (header.bypass() || (!is_contribution && !is_for_us)) {
    overhear(frame, view, burst);
    return pass(arrival, header, burst);
  }
  if (const auto fault = find_fault(frame, header, self_)) {
    return burst.actions.drop(std::move(packet), *fault);
  }
  const Message message{frame.ethernet, is_udp ? frame.ipv4 : nullptr, frame.udp, view.header,
                        view.payload};
  if (is_contribution) {
    contribute({packet, message}, burst);
  } else if (header.kind == wire::CanaryKind::restoration) {
    restore(std::move(packet), message, burst);
  } else {
    broadcast(std::move(packet), message, burst);
  }
}

void CanaryEngine::pass(engine::Arrival& arrival, const wire::CanaryHeader& header,
                        const Burst& burst) {
  ++counters_.passed;
  burst.actions.forward(std::move(arrival.packet), arrival.frame, path_of(header));
}

void CanaryEngine::broadcast(PacketPtr packet, const Message& message, const Burst& burst) {
  const auto& header = *message.header;
  if (header.kind == wire::CanaryKind::result) {
    settle(header);
  }
  auto* block = blocks_.table.find(header.key());
  if (block == nullptr) {
    return burst.actions.drop(std::move(packet), drop::no_descriptor);
  }
  if (!is_answer_to(message, block->shape)) {
    return burst.actions.drop(std::move(packet), drop::mismatch);
  }
  if (header.kind == wire::CanaryKind::release) {
    ++counters_.releases;
  } else {
    ++counters_.results;
    blocks_.jobs.add_result(block->job);
    patience_.learn(*block);
    if (!block->root) {
      burst.actions.answer({path_of(block->key, block->shape.leader), packet->ingress,
                            message.congested(), packet->over_ipv6});
    }
  }
  burst.actions.absorb(nullptr);
  results_.send(std::move(packet), message, blocks_.children_of(*block), burst.actions);
  blocks_.release(*block);
}

void CanaryEngine::restore(PacketPtr packet, const Message& message, const Burst& burst) {
  const auto& header = *message.header;
  const auto bit = static_cast<unsigned>(std::countr_zero(header.children.value()));
  const auto port = header.shard * wire::CanaryHeader::ports_per_shard + bit;
  if (port >= self_.ports) {
    return burst.actions.drop(std::move(packet), drop::bad_port);
  }
  const auto leader = message.is_udp() ? message.ipv4->source : wire::Ipv4Address{};
  if (!bypassed_.take(Bypassed::of(message, leader, static_cast<PortIndex>(port)))) {
    return burst.actions.drop(std::move(packet), drop::no_descriptor);
  }
  ++counters_.restorations;
  settle(header);
  burst.actions.absorb(nullptr);
  const Child child{header.child_address, header.child_port.value(), static_cast<PortIndex>(port),
                    header.child_mac};
  results_.send(std::move(packet), message, {&child, 1}, burst.actions);
}

void CanaryEngine::overhear(const engine::Frame& frame, const wire::CanaryView& view,
                            const Burst& burst) {
  const auto& header = *view.header;
  switch (header.kind) {
    case wire::CanaryKind::contribution:
      if (auto* block = blocks_.table.find(header.key());
          block != nullptr && may_be_of(header, block->shape)) {
        count_passed(*block, header.counter.value(), burst);
      }
      break;
    case wire::CanaryKind::request:
      ++counters_.requests;
      break;
    case wire::CanaryKind::failure:
      ++counters_.failures;
      settle(header);
      break;
    case wire::CanaryKind::pending:
      ++counters_.pendings;
      stalls_.note(header, view.payload,
                   frame.ipv4 != nullptr ? frame.ipv4->source : header.child_address, burst.now);
      break;
    case wire::CanaryKind::result:
    case wire::CanaryKind::restoration:
      settle(header);
      answered(header.key());
      break;
    case wire::CanaryKind::release:
      break;  // of one attempt; the block may wait on under the next
  }
}

// The leader has finished the block, or begun a new attempt: nobody waits for what was before.
void CanaryEngine::settle(const wire::CanaryHeader& header) {
  const auto job = header.job.value();
  const auto id = header.id.value();
  if (!stalls_.empty()) {
    stalls_.forget(job, id);
  }
  for (std::uint32_t attempt = 0; attempt < wire::canary_attempt(id); ++attempt) {
    answered((std::uint64_t{job} << 32) | wire::canary_id(wire::canary_sequence(id), attempt));
  }
}

// A descriptor of such a block may still be held, because its own result was lost.
void CanaryEngine::answered(std::uint64_t key) {
  if (auto* block = blocks_.table.find(key)) {
    block->answered = true;
  }
}

Time CanaryEngine::deadline() const {
  auto due = blocks_.table.first_expiry();
  if (const auto* block = blocks_.table.first()) {
    due = std::min(due, block->born + config_.age_limit());
  }
  return due;
}

void CanaryEngine::expire(Time now, engine::Actions& actions) {
  auto& table = blocks_.table;
  for (int i = 0; i < expirations_max && table.first_expiry() <= now; ++i) {
    send_sum(*table.first_due(), counters_.sums_timeout, {now, actions});
  }
  for (int i = 0; i < expirations_max; ++i) {
    auto* block = table.first();
    // A timeout is never longer than the age: what still gathers is due, and next time's work.
    if (block == nullptr || block->born + config_.age_limit() > now ||
        block->state == Descriptor::State::gathering) {
      break;
    }
    ++counters_.aged;
    blocks_.release(*block);
  }
}

bool CanaryEngine::reconfigure(const CanaryConfig& config) {
  if (config.descriptors != config_.descriptors || config.hash_seed != config_.hash_seed ||
      config.partitions != config_.partitions) {
    return false;
  }
  config_ = config;
  blocks_.reconfigure(config, self_.ports, seed_);
  auto& table = blocks_.table;
  for (auto* block = table.first(); block != nullptr; block = table.after(*block)) {
    if (block->state == Descriptor::State::gathering) {
      const bool alone = blocks_.tenants.held_by(block->share) == 1;
      table.set_expiry(*block, block->born + patience_.timeout_of(*block, alone));
    }
  }
  return true;
}

}  // namespace tributary::canary
