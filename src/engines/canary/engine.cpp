// SPDX-License-Identifier: BSD-3-Clause
#include "engines/canary/engine.h"

#include <algorithm>
#include <cassert>
#include <random>
#include <utility>

#include "engines/canary/checks.h"

namespace tributary::canary {
namespace {

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
      table_(config.descriptors, seed_),
      children_(table_.size()),
      wide_(table_.size()) {}

void CanaryEngine::process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) {
  for (auto& arrival : burst) {
    handle(arrival, now, actions);
  }
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
  const bool is_contribution = header.kind == wire::CanaryKind::contribution;
  const bool is_for_us = (is_udp ? frame.ipv4->destination : header.destination) == self_.address;
  // Leaders are hosts; what the switch marked as "bypass" is for a leader as well.
  if (is_for_us && (is_contribution || header.bypass())) {
    return actions.drop(std::move(arrival.packet), DropReason::local_unserved);
  }
  if (header.bypass() || (!is_contribution && !is_for_us)) {
    return pass(std::move(arrival.packet), header, actions);
  }
  if (const auto fault = find_fault(frame, header, self_)) {
    return actions.drop(std::move(arrival.packet), *fault);
  }
  const Message message{frame.ethernet, is_udp ? frame.ipv4 : nullptr, frame.udp, view.header,
                        view.payload};
  handle_checked(std::move(arrival.packet), message, now, actions);
}

void CanaryEngine::handle_checked(PacketPtr packet, const Message& message, Time now,
                                  engine::Actions& actions) {
  switch (message.header->kind) {
    case wire::CanaryKind::contribution:
      return contribute(std::move(packet), message, now, actions);
    case wire::CanaryKind::result:
      return broadcast(std::move(packet), message, actions);
    case wire::CanaryKind::restoration:
      return restore(std::move(packet), message, actions);
  }
}

void CanaryEngine::pass(PacketPtr packet, const wire::CanaryHeader& header,
                        engine::Actions& actions) {
  ++counters_.passed;
  actions.forward(std::move(packet), path_hash(header));
}

// A block that still gathers is never freed: its time to send comes first.
Duration CanaryEngine::age_max() const {
  return std::max({config_.age_max, config_.timeout, config_.root_timeout});
}

Duration CanaryEngine::timeout(bool root) const {
  return root ? config_.root_timeout : config_.timeout;
}

Time CanaryEngine::deadline() const {
  auto due = never;
  for (const bool root : {false, true}) {
    if (const auto* block = table_.first_gathering(root)) {
      due = std::min(due, block->born + timeout(root));
    }
  }
  if (const auto* block = table_.first()) {
    due = std::min(due, block->born + age_max());
  }
  return due;
}

void CanaryEngine::expire(Time now, engine::Actions& actions) {
  for (const bool root : {false, true}) {
    for (int i = 0; i < expirations_max; ++i) {
      auto* block = table_.first_gathering(root);
      if (block == nullptr || block->born + timeout(root) > now) {
        break;
      }
      send_sum(*block, counters_.sums_timeout, actions);
    }
  }
  for (int i = 0; i < expirations_max; ++i) {
    auto* block = table_.first();
    if (block == nullptr || block->born + age_max() > now) {
      break;
    }
    // Both run in the order of allocation, and a timeout is never longer than the age.
    assert(block->state == Descriptor::State::sent);
    ++counters_.aged;
    release(*block);
  }
}

void CanaryEngine::release(Descriptor& block) {
  jobs_.remove_descriptor(block.job);
  if (block.wide != WideStore::none) {
    wide_.give(block.wide);
  }
  table_.release(block);
}

bool CanaryEngine::reconfigure(const CanaryConfig& config) {
  if (config.descriptors != config_.descriptors || config.hash_seed != config_.hash_seed) {
    return false;
  }
  config_ = config;
  return true;
}

}  // namespace tributary::canary
