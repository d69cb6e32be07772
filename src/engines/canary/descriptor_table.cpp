// SPDX-License-Identifier: BSD-3-Clause
#include "engines/canary/descriptor_table.h"

#include <algorithm>
#include <bit>

namespace tributary::canary {

BlockShape shape_of(const Message& message) {
  const auto& header = *message.header;
  return {header.destination,
          message.udp_port(),
          header.hosts.value(),
          header.elements.value(),
          header.element_type,
          header.op,
          header.attempt,
          message.is_udp() ? wire::Encapsulation::udp : wire::Encapsulation::ethernet};
}

DescriptorTable::DescriptorTable(std::uint32_t descriptors, std::uint64_t seed)
    : mask_(std::bit_ceil(std::clamp(descriptors, 1u, 1u << 24)) - 1),
      seed_(seed),
      slots_(size()),
      gathering_{SlotFifo(size()), SlotFifo(size())},
      living_(size()) {}

std::uint32_t DescriptorTable::first_slot(std::uint64_t key) const {
  const auto origin = wire::mix_key(key >> 32, seed_);
  return static_cast<std::uint32_t>(origin + key) & mask_;
}

std::uint32_t DescriptorTable::second_slot(std::uint64_t key) const {
  return static_cast<std::uint32_t>(wire::mix_key(key, seed_)) & mask_;
}

Descriptor* DescriptorTable::find(std::uint64_t key) {
  const auto holds = [key](const Descriptor& slot) {
    return slot.state != Descriptor::State::free && slot.key == key;
  };
  auto& first = slots_[first_slot(key)];
  if (holds(first)) {
    return &first;
  }
  auto& second = slots_[second_slot(key)];
  return holds(second) ? &second : nullptr;
}

Descriptor* DescriptorTable::allocate(std::uint64_t key, bool root, Time now) {
  auto* descriptor = &slots_[first_slot(key)];
  if (descriptor->state != Descriptor::State::free) {
    descriptor = &slots_[second_slot(key)];
  }
  if (descriptor->state != Descriptor::State::free) {
    return nullptr;
  }
  descriptor->state = Descriptor::State::gathering;
  descriptor->root = root;
  descriptor->key = key;
  descriptor->born = now;
  gathering_[root].push(slot_of(*descriptor));
  living_.push(slot_of(*descriptor));
  high_water_ = std::max(high_water_, ++in_use_);
  return descriptor;
}

void DescriptorTable::mark_sent(Descriptor& descriptor) {
  descriptor.state = Descriptor::State::sent;
  gathering_[descriptor.root].remove(slot_of(descriptor));
}

void DescriptorTable::release(Descriptor& descriptor) {
  if (descriptor.state == Descriptor::State::gathering) {
    gathering_[descriptor.root].remove(slot_of(descriptor));
  }
  living_.remove(slot_of(descriptor));
  --in_use_;
  descriptor = Descriptor{};
}

}  // namespace tributary::canary
