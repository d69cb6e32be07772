// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/descriptor_table.h"

namespace tributary::canary {
DescriptorTable::DescriptorTable(std::uint32_t descriptors, std::uint64_t seed,
                                 std::uint32_t partitions)
    : mask_(std::bit_ceil(std::clamp(descriptors, 1u, 1u << 24)) - 1),
      seed_(seed),
      partitions_(partitions, size()),
      slots_(size()),
      timers_(size()),
      living_(size()) {}

DescriptorTable::Places DescriptorTable::places_of(std::uint64_t key) const {
  Places places;
  places.slots[0] = first_place_of(key);
  if (partitions_.enabled()) {
    places.count = places.slots[0] == Partitions::none ? 0 : 1;
    return places;
  }
  places.count = 1;
  const auto first = static_cast<std::uint32_t>(wire::mix_key(key, seed_));
  for (std::uint32_t i = 0; i < alternatives; ++i) {
    places.slots[places.count++] = (first + i * (size() / alternatives)) & mask_;
  }
  return places;
}

Descriptor* DescriptorTable::find_elsewhere(std::uint64_t key) {
  const auto places = places_of(key);
  for (std::uint32_t i = 1; i < places.count; ++i) {
    if (holds(places.slots[i], key)) {
      return &slots_[places.slots[i]];
    }
  }
  return nullptr;
}

std::uint32_t DescriptorTable::free_alternative(std::uint64_t key) const {
  const auto places = places_of(key);
  for (std::uint32_t i = 1; i < places.count; ++i) {
    if (is_free(places.slots[i])) {
      return places.slots[i];
    }
  }
  return Partitions::none;
}

Descriptor* DescriptorTable::allocate(std::uint64_t key, Time now, Time expiry) {
  const auto first = first_place_of(key);
  if (first == Partitions::none) {
    return nullptr;
  }
  const auto slot = is_free(first) ? first : free_alternative(key);
  if (slot == Partitions::none) {
    return nullptr;
  }
  if (partitions_.enabled()) {
    partitions_.add(slot, now);
  }
  auto& descriptor = slots_[slot];
  descriptor.state = Descriptor::State::gathering;
  descriptor.answered = false;
  descriptor.displaced = slot != first;
  descriptor.children = 0;
  descriptor.wide = WideStore::none;
  descriptor.passed = 0;
  descriptor.key = key;
  descriptor.born = now;
  descriptor.last = now;
  displaced_ += descriptor.displaced ? 1 : 0;
  timers_.start(slot, expiry);
  living_.push(slot);
  high_water_ = std::max(high_water_, ++in_use_);
  return &descriptor;
}

Descriptor* DescriptorTable::oldest_sent(std::uint64_t key) {
  const auto places = places_of(key);
  Descriptor* oldest = nullptr;
  for (std::uint32_t i = 0; i < places.count; ++i) {
    auto& slot = slots_[places.slots[i]];
    if (slot.state == Descriptor::State::sent && (oldest == nullptr || slot.born < oldest->born)) {
      oldest = &slot;
    }
  }
  return oldest;
}

void DescriptorTable::mark_sent(Descriptor& descriptor) {
  descriptor.state = Descriptor::State::sent;
  timers_.stop(slot_of(descriptor));
}

void DescriptorTable::set_expiry(Descriptor& descriptor, Time expiry) {
  timers_.stop(slot_of(descriptor));
  timers_.start(slot_of(descriptor), expiry);
}

void DescriptorTable::release(Descriptor& descriptor) {
  const auto slot = slot_of(descriptor);
  if (descriptor.state == Descriptor::State::gathering) {
    timers_.stop(slot);
  }
  if (partitions_.enabled()) {
    partitions_.remove(slot);
  }
  living_.remove(slot);
  --in_use_;
  displaced_ -= descriptor.displaced ? 1 : 0;
  descriptor.state = Descriptor::State::free;
  descriptor.packet.reset();
}

Descriptor* DescriptorTable::superseded_by(std::uint64_t key) {
  const auto at = first_place_of(key);
  if (at == Partitions::none) {
    return nullptr;
  }
  auto& slot = slots_[at];
  const auto id = static_cast<std::uint32_t>(key);
  const auto old = static_cast<std::uint32_t>(slot.key);
  const bool is_earlier = slot.state != Descriptor::State::free && slot.key >> 32 == key >> 32 &&
                          wire::canary_sequence(old) == wire::canary_sequence(id) &&
                          wire::canary_attempt(old) < wire::canary_attempt(id);
  return is_earlier ? &slot : nullptr;
}

}  // namespace tributary::canary
