// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/canary.h"

namespace tributary::forwarding {

// A hash table of fixed size with open addressing: a key lies within `window` slots of its home, so
// that every operation is bounded, and nothing allocates after construction. The seed keeps
// strangers from aiming at a window. Meant for `capacity` entries, in at least twice as many slots.
// Keys have 63 bits.
template <typename Value>
class ProbeTable {
 public:
  static constexpr std::size_t window = 16;

  ProbeTable(std::uint32_t capacity, std::uint64_t seed)
      : capacity_(capacity),
        seed_(seed),
        mask_(std::bit_ceil(std::max<std::size_t>(std::size_t{capacity} * 2, window)) - 1),
        slots_(mask_ + 1) {}

  Value* find(std::uint64_t key) {
    const auto slot = slot_of(key | occupied);
    return slot == nowhere ? nullptr : &slots_[slot].value;
  }
  const Value* find(std::uint64_t key) const {
    const auto slot = slot_of(key | occupied);
    return slot == nowhere ? nullptr : &slots_[slot].value;
  }

  // A default value under a key that is not there yet; null when the window is full. Callers keep
  // to the capacity; what the operator configured may exceed it.
  Value* insert(std::uint64_t key) {
    const auto home = home_of(key | occupied);
    for (std::size_t i = 0; i < window; ++i) {
      const auto slot = (home + i) & mask_;
      if (slots_[slot].key == 0) {
        slots_[slot].key = key | occupied;
        ++size_;
        return &slots_[slot].value;
      }
    }
    return nullptr;
  }

  void erase(std::uint64_t key) {
    const auto slot = slot_of(key | occupied);
    if (slot != nowhere) {
      erase_slot(slot);
    }
  }

  // Calls `doomed(key, value)` for every entry and erases those for which it is true.
  template <typename Predicate>
  void erase_if(Predicate doomed) {
    for (std::size_t slot = 0; slot <= mask_; ++slot) {
      if (slots_[slot].key != 0 && doomed(slots_[slot].key & ~occupied, slots_[slot].value)) {
        erase_slot(slot);
      }
    }
  }
  template <typename Visitor>
  void for_each(Visitor visit) const {
    for (std::size_t slot = 0; slot <= mask_; ++slot) {
      if (slots_[slot].key != 0) {
        visit(slots_[slot].key & ~occupied, slots_[slot].value);
      }
    }
  }

  std::size_t size() const { return size_; }
  bool full() const { return size_ >= capacity_; }

 private:
  static constexpr std::uint64_t occupied = std::uint64_t{1} << 63;
  struct Slot {
    std::uint64_t key = 0;  // 0: free
    Value value{};
  };
  static constexpr std::size_t nowhere = ~std::size_t{0};

  std::size_t home_of(std::uint64_t stored) const {
    return static_cast<std::size_t>(wire::mix_key(stored, seed_)) & mask_;
  }
  // No tombstones: the whole window is searched.
  std::size_t slot_of(std::uint64_t stored) const {
    const auto home = home_of(stored);
    for (std::size_t i = 0; i < window; ++i) {
      const auto slot = (home + i) & mask_;
      if (slots_[slot].key == stored) {
        return slot;
      }
    }
    return nowhere;
  }
  void erase_slot(std::size_t slot) {
    slots_[slot].key = 0;
    slots_[slot].value = Value{};
    --size_;
  }

  std::size_t capacity_;
  std::uint64_t seed_;
  std::size_t mask_;
  std::size_t size_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace tributary::forwarding
