// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tributary::forwarding {

// Where the search for a key of a ProbeTable begins, for who looks it up a little later. Stays the
// same until insert_surely().
struct ProbeHome {
  const void* slot = nullptr;
};

// A hash table of fixed size with open addressing: a key lies within `window` slots of its home, so
// that every operation is bounded, and nothing allocates after construction but insert_surely().
// The seed keeps strangers from aiming at a window. Meant for `capacity` entries, in at least twice
// as many slots. Keys have 63 bits.
template <typename Value>
class ProbeTable {
 public:
  static constexpr std::size_t window = 16;

  ProbeTable(std::uint32_t capacity, std::uint64_t seed)
      : capacity_(capacity),
        seed_(seed),
        mask_(std::bit_ceil(std::max<std::size_t>(std::size_t{capacity} * 2, window)) - 1),
        slots_(mask_ + window) {}

  // `key` is about to be looked up. Has to be inlined, as all that only call it: GCC leaves out
  // calls of functions that have no effect but to prefetch.
  [[gnu::always_inline]] ProbeHome prefetch(std::uint64_t key) const {
    const auto* slot = reinterpret_cast<const std::byte*>(&slots_[home_of(key | occupied)]);
    __builtin_prefetch(slot);
    if constexpr (sizeof(Slot) > slot_alignment) {  // it may lie across two cache lines
      __builtin_prefetch(slot + slot_alignment - 1);
    }
    return {slot};
  }
  Value* find(std::uint64_t key) { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Value* find(std::uint64_t key) const {
    return find({&slots_[home_of(key | occupied)]}, key);
  }
  Value* find(ProbeHome home, std::uint64_t key) {
    return const_cast<Value*>(std::as_const(*this).find(home, key));
  }
  // No tombstones: the whole window is searched.
  const Value* find(ProbeHome home, std::uint64_t key) const {
    const auto stored = key | occupied;
    const auto* slot = static_cast<const Slot*>(home.slot);
    for (const auto* const end = slot + window; slot != end; ++slot) {
      if (slot->key == stored) {
        return &slot->value;
      }
    }
    return nullptr;
  }

  // A default value under a key that is not there yet; null when the window is full. Callers keep
  // to the capacity.
  Value* insert(std::uint64_t key) {
    auto* slot = &slots_[home_of(key | occupied)];
    for (const auto* const end = slot + window; slot != end; ++slot) {
      if (slot->key == 0) {
        slot->key = key | occupied;
        ++size_;
        return &slot->value;
      }
    }
    return nullptr;
  }

  // The same for what the operator configured, which may exceed the capacity and must not be lost:
  // takes more memory where it has to. Not for the packet path.
  Value& insert_surely(std::uint64_t key) {
    while (true) {
      if (2 * size_ <= mask_) {
        if (auto* value = insert(key); value != nullptr) {
          return *value;
        }
      }
      rehash(2 * (mask_ + 1));
    }
  }

  void erase(std::uint64_t key) {
    const auto home = home_of(key | occupied);
    for (auto slot = home; slot < home + window; ++slot) {
      if (slots_[slot].key == (key | occupied)) {
        erase_slot(slots_[slot]);
      }
    }
  }

  // Calls `doomed(key, value)` for every entry and erases those for which it is true.
  template <typename Predicate>
  void erase_if(Predicate doomed) {
    for (auto& slot : slots_) {
      if (slot.key != 0 && doomed(slot.key & ~occupied, slot.value)) {
        erase_slot(slot);
      }
    }
  }
  template <typename Visitor>
  void for_each(Visitor visit) const {
    for (const auto& slot : slots_) {
      if (slot.key != 0) {
        visit(slot.key & ~occupied, slot.value);
      }
    }
  }

  std::size_t size() const { return size_; }
  bool full() const { return size_ >= capacity_; }

 private:
  static constexpr std::uint64_t occupied = std::uint64_t{1} << 63;
  // Slots of up to half a cache line do not lie across two.
  static constexpr std::size_t slot_alignment = 32;
  struct alignas(sizeof(std::uint64_t) + sizeof(Value) > slot_alignment ? alignof(std::uint64_t)
                                                                        : slot_alignment) Slot {
    std::uint64_t key = 0;  // 0: free
    Value value{};
  };

  // Every bit of the key reaches the upper half: by the first product, or folded by the second.
  std::size_t home_of(std::uint64_t stored) const {
    const auto product = (stored ^ seed_) * 0xbf58476d1ce4e5b9u;
    return static_cast<std::size_t>((product ^ (product >> 32)) * 0x94d049bb133111ebu >> 32) &
           mask_;
  }
  // Into at least `count` slots, a power of two: in as many as it takes that every window suffices.
  void rehash(std::size_t count) {
    auto before = std::exchange(slots_, std::vector<Slot>(count - 1 + window));
    mask_ = count - 1;
    size_ = 0;
    for (auto& slot : before) {
      if (slot.key != 0) {
        insert_surely(slot.key & ~occupied) = std::move(slot.value);
      }
    }
  }
  void erase_slot(Slot& slot) {
    slot = Slot{};
    --size_;
  }

  std::size_t capacity_;
  std::uint64_t seed_;
  std::size_t mask_;
  std::size_t size_ = 0;
  std::vector<Slot> slots_;  // one for each home, and the rest of the last one's window
};

}  // namespace tributary::forwarding
