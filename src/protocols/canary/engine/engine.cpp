// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/engine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <random>
#include <utility>

#include "protocols/canary/engine/checks.h"
#include "protocols/canary/engine/drop_reasons.h"

namespace tributary::canary {
namespace {

// Waited for while nothing is known of a job.
constexpr Duration timeout_initial = std::chrono::milliseconds(1);

// A job for whose blocks there is no room has a window of them under way from each of its workers.
constexpr std::uint32_t bypassed_min = 16384;
constexpr std::uint32_t bypassed_per_descriptor = 4;

std::uint64_t draw_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

CanaryEngine::CanaryEngine(const CanaryConfig& config, const engine::SwitchIdentity& self,
                           PacketPool& pool)
    : config_(config),
      self_(self),
      pool_(pool),
      seed_(config.hash_seed != 0 ? config.hash_seed : draw_seed()),
      table_(config.descriptors, seed_, config.partitions),
      children_(table_.size()),
      wide_(table_.size()),
      bypassed_(std::max(bypassed_min, bypassed_per_descriptor * table_.size()), seed_),
      tenants_(config, table_.size(), self.ports, seed_) {}

void CanaryEngine::process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) {
  stalls_.expire(now);
  // So many packets ahead, what a block needs is fetched from memory: first its descriptor, which
  // tells where its accumulator is, then that and its children.
  constexpr std::size_t descriptor_ahead = 6;
  constexpr std::size_t contents_ahead = 3;
  std::array<DescriptorTable::Place, 2 * contents_ahead + 2> places;
  static_assert(std::has_single_bit(places.size()) && places.size() > descriptor_ahead);
  const auto place_of = [&places](std::size_t i) -> auto& {
    return places[i % places.size()];
  };
  const auto look_for_descriptor = [&](std::size_t i) {
    if (i < burst.size()) {
      place_of(i) = table_.first_place(wire::peek_canary_key(burst[i].frame.payload));
      table_.prefetch(place_of(i));
    }
  };
  for (std::size_t i = 0; i < descriptor_ahead; ++i) {
    look_for_descriptor(i);
  }
  for (std::size_t i = 0; i < burst.size(); ++i) {
    look_for_descriptor(i + descriptor_ahead);
    if (i + contents_ahead < burst.size()) {
      prefetch_block(place_of(i + contents_ahead), burst[i + contents_ahead].frame.payload.size());
    }
    auto* block = table_.find_at(place_of(i));
    if (block != nullptr && continues(*block, burst[i])) {
      const auto& frame = burst[i].frame;
      auto* header = wire::MutableCursor(frame.payload).take<wire::CanaryHeader>();
      add_to(*block, std::move(burst[i].packet),
             {frame.ethernet, frame.ipv4, frame.udp, header,
              frame.payload.subspan(sizeof(wire::CanaryHeader))},
             now, actions);
    } else {
      handle(burst[i], now, actions);
    }
  }
}

void CanaryEngine::prefetch_block(const DescriptorTable::Place& place, std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  const auto* block = table_.find_at(place);
  if (block == nullptr || block->state != Descriptor::State::gathering) {
    return;
  }
  children_.prefetch(place.slot, block->children);
  const auto* accumulator = static_cast<const std::byte*>(block->accumulator);
#pragma GCC unroll 4
  for (std::size_t at = 0; at < bytes; at += cache_line) {
    __builtin_prefetch(accumulator + at);
  }
}

// Whether what arrived is a sound contribution to a block that gathers. Most are, and repeat what
// the first one said and handle() checked: only what is particular to this one is checked here.
// Whatever else it may be, handle() finds out.
bool CanaryEngine::continues(const Descriptor& block, const engine::Arrival& arrival) const {
  const auto& frame = arrival.frame;
  const auto* headers = udp_headers_of(frame);
  if (block.first == nullptr || headers == nullptr || !repeats(*headers, *block.first)) {
    return false;
  }
  const auto& header = headers->canary;
  return header.counter.value() >= 1 && header.counter.value() < block.shape.hosts &&
         tenants_.may_speak(header.job.value(), arrival.packet->ingress) &&
         is_from_child(frame, header, self_) &&
         wire::is_intact(header, frame.payload.subspan(sizeof header));
}

void CanaryEngine::handle(engine::Arrival& arrival, Time now, engine::Actions& actions) {
  const auto& frame = arrival.frame;
  const bool is_udp = frame.udp != nullptr;
  const auto view = wire::parse_canary(
      frame.payload, is_udp ? wire::Encapsulation::udp : wire::Encapsulation::ethernet);
  if (view.error != wire::CanaryError::none) {
    return actions.drop(std::move(arrival.packet), drop_reason_of(view.error));
  }
  const auto& header = *view.header;
  const bool is_for_switches = header.multicast();
  const bool is_contribution = header.kind == wire::CanaryKind::contribution;
  if (!tenants_.may_speak(header.job.value(), arrival.packet->ingress)) {
    return actions.drop(std::move(arrival.packet), drop::not_allowed);
  }
  const bool is_for_us = (is_udp ? frame.ipv4->destination : header.destination) == self_.address;
  // Leaders and workers are hosts; what a switch marked as "bypass" is for a leader as well.
  if (is_for_us && (!is_for_switches || header.bypass())) {
    return actions.drop(std::move(arrival.packet), DropReason::local_unserved);
  }
  if (header.bypass() || (!is_contribution && !is_for_us)) {
    overhear(frame, view, now, actions);
    return pass(std::move(arrival.packet), header, actions);
  }
  if (const auto fault = find_fault(frame, header, self_)) {
    return actions.drop(std::move(arrival.packet), *fault);
  }
  const Message message{frame.ethernet, is_udp ? frame.ipv4 : nullptr, frame.udp, view.header,
                        view.payload};
  if (is_contribution) {
    contribute(std::move(arrival.packet), message, now, actions);
  } else if (header.kind == wire::CanaryKind::restoration) {
    restore(std::move(arrival.packet), message, actions);
  } else {
    broadcast(std::move(arrival.packet), message, actions);
  }
}

void CanaryEngine::pass(PacketPtr packet, const wire::CanaryHeader& header,
                        engine::Actions& actions) {
  ++counters_.passed;
  actions.forward(std::move(packet), path_of(header));
}

// A block that still gathers is never freed: its time to send comes first.
Duration CanaryEngine::age_max() const {
  return std::max(
      {config_.age_max, config_.timeout.value_or(config_.timeout_max), config_.root_timeout});
}

// Waiting saves packets, and costs time when the last contribution was in before it is over. A job
// with one block at a time has lines to spare and nothing to do meanwhile: it is not made to wait.
Duration CanaryEngine::timeout(bool root, bool alone, const Expectation& expectation) const {
  if (root) {
    return config_.root_timeout;
  }
  if (config_.timeout) {
    return *config_.timeout;
  }
  if (alone) {
    return config_.timeout_min;
  }
  const auto& spread = expectation.spread;
  return std::clamp(spread.known() ? spread.bound() : timeout_initial, config_.timeout_min,
                    config_.timeout_max);
}

// Of an attempt after the first only the number is learned: ranks contribute again one after the
// other, as they hear of it. Where blocks wait for as many as are expected, too long a timeout
// costs nothing and too short a one packets: how long it must be is not forgotten while a window is
// quiet.
void CanaryEngine::learn(const Descriptor& block) {
  std::optional<Duration> spread;
  if (wire::canary_attempt(static_cast<std::uint32_t>(block.key)) == 0) {
    spread = spread_of(block);
  }
  expectations_.learn(
      job_of(block.key), block.shape.leader, block.root, block.seen(), spread,
      config_.learn_contributions ? Spread::Memory::windows : Spread::Memory::brief);
}

void CanaryEngine::learn_late(const Descriptor& block) {
  if (!block.root && wire::canary_attempt(static_cast<std::uint32_t>(block.key)) == 0) {
    expectations_.learn_late(job_of(block.key), block.shape.leader, spread_of(block));
  }
}

// A contribution that comes later than any timeout says no more than that.
Duration CanaryEngine::spread_of(const Descriptor& block) const {
  return std::min(block.last - block.born, config_.timeout_max);
}

Time CanaryEngine::deadline() const {
  auto due = table_.first_expiry();
  if (const auto* block = table_.first()) {
    due = std::min(due, block->born + age_max());
  }
  return due;
}

void CanaryEngine::expire(Time now, engine::Actions& actions) {
  for (int i = 0; i < expirations_max && table_.first_expiry() <= now; ++i) {
    send_sum(*table_.first_due(), counters_.sums_timeout, actions);
  }
  for (int i = 0; i < expirations_max; ++i) {
    auto* block = table_.first();
    // A timeout is never longer than the age: what still gathers is due, and next time's work.
    if (block == nullptr || block->born + age_max() > now ||
        block->state == Descriptor::State::gathering) {
      break;
    }
    ++counters_.aged;
    release(*block);
  }
}

void CanaryEngine::release(Descriptor& block) {
  jobs_.remove_descriptor(block.job);
  tenants_.give(job_of(block.key), block.ingress);
  if (block.state == Descriptor::State::gathering) {
    occupancy_.remove(block.bytes);
  }
  if (block.wide != WideStore::none) {
    wide_.give(block.wide);
  }
  table_.release(block);
}

bool CanaryEngine::reconfigure(const CanaryConfig& config) {
  if (config.descriptors != config_.descriptors || config.hash_seed != config_.hash_seed ||
      config.partitions != config_.partitions) {
    return false;
  }
  config_ = config;
  tenants_ = Tenants(config, table_.size(), self_.ports, seed_);
  for (auto* block = table_.first(); block != nullptr; block = table_.after(*block)) {
    tenants_.take(job_of(block->key), block->ingress);
  }
  for (auto* block = table_.first(); block != nullptr; block = table_.after(*block)) {
    const auto job = job_of(block->key);
    if (block->state == Descriptor::State::gathering) {
      const auto patience = timeout(block->root, tenants_.held_by(job) == 1,
                                    expectations_.of(job, block->shape.leader));
      table_.set_expiry(*block, block->born + patience);
    }
  }
  return true;
}

}  // namespace tributary::canary
