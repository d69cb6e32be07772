// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "wire/ip_address.h"
#include "wire/key.h"

namespace tributary::forwarding {

// The search for a key of a ProbeTable begins here, for a caller that looks it up a little later.
// It stays the same until insert_surely() or set_capacity().
struct ProbeHome {
  const void* slot = nullptr;
};

// Keys stand in the slots of a ProbeTable in this form; none of them is Stored{}, which is a free
// slot.
template <typename Key>
struct ProbeKey;

template <>
struct ProbeKey<std::uint64_t> {
  using Stored = std::uint64_t;
  static constexpr Stored occupied = std::uint64_t{1} << 63;

  static constexpr Stored store(std::uint64_t key) { return key | occupied; }
  static constexpr std::uint64_t load(Stored stored) { return stored & ~occupied; }
  // Every bit of the key reaches the upper half: by the first product, or folded by the second.
  static constexpr std::uint64_t hash(Stored stored, std::uint64_t seed) {
    const auto product = (stored ^ seed) * 0xbf58476d1ce4e5b9u;
    return (product ^ (product >> 32)) * 0x94d049bb133111ebu;
  }
};

// Any address can be a key but the unspecified one, which is a free slot.
template <>
struct ProbeKey<wire::IpAddress> {
  using Stored = wire::IpAddress;

  static constexpr Stored store(const wire::IpAddress& key) { return key; }
  static constexpr wire::IpAddress load(const Stored& stored) { return stored; }
  static constexpr std::uint64_t hash(const Stored& stored, std::uint64_t seed) {
    return wire::mix_key(wire::mix_key(stored.high(), seed), stored.low());
  }
};

// ProbeTable is a hash table of fixed size with open addressing: a key lies within `window` slots
// of its home, so that every operation is bounded, and nothing allocates after construction but
// insert_surely(). The seed keeps strangers from aiming at a window. It is meant for `capacity`
// entries, in at least twice as many slots. Keys have 63 bits, or are what ProbeKey is made for.
template <typename Value, typename Key = std::uint64_t>
class ProbeTable {
 public:
  static constexpr std::size_t window = 16;

  ProbeTable(std::uint32_t capacity, std::uint64_t seed)
      : capacity_(capacity),
        seed_(seed),
        mask_(std::bit_ceil(std::max<std::size_t>(std::size_t{capacity} * 2, window)) - 1),
        slots_(mask_ + window) {}

  // Prefetches a slot: `key` is about to be looked up. This has to be inlined, as all that only
  // call it: GCC leaves out calls of functions that have no effect but to prefetch.
  [[gnu::always_inline]] ProbeHome prefetch(const Key& key) const {
    const auto* slot = reinterpret_cast<const std::byte*>(&slots_[home_of(Keys::store(key))]);
    __builtin_prefetch(slot);
    if constexpr (sizeof(Slot) > slot_alignment) {  // it may lie across two cache lines
      __builtin_prefetch(slot + slot_alignment - 1);
    }
    return {slot};
  }
  Value* find(const Key& key) { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Value* find(const Key& key) const {
    return find({&slots_[home_of(Keys::store(key))]}, key);
  }
  Value* find(ProbeHome home, const Key& key) {
    return const_cast<Value*>(std::as_const(*this).find(home, key));
  }
  // There are no tombstones, so the whole window is searched.
  const Value* find(ProbeHome home, const Key& key) const {
    const auto stored = Keys::store(key);
    const auto* slot = static_cast<const Slot*>(home.slot);
    for (const auto* const end = slot + window; slot != end; ++slot) {
      if (slot->key == stored) {
        return &slot->value;
      }
    }
    return nullptr;
  }

  // Inserts a default value under a key that is not there yet. Returns null when the window is
  // full. Callers keep to the capacity.
  Value* insert(const Key& key) {
    auto* slot = &slots_[home_of(Keys::store(key))];
    for (const auto* const end = slot + window; slot != end; ++slot) {
      if (slot->key == Stored{}) {
        slot->key = Keys::store(key);
        ++size_;
        return &slot->value;
      }
    }
    return nullptr;
  }

  // Inserts what the operator configured, which may exceed the capacity and must not be lost: it
  // takes more memory where it has to. This is not for the packet path.
  Value& insert_surely(const Key& key) {
    while (true) {
      if (2 * size_ <= mask_) {
        if (auto* value = insert(key); value != nullptr) {
          return *value;
        }
      }
      rehash(2 * (mask_ + 1));
    }
  }

  void erase(const Key& key) {
    const auto home = home_of(Keys::store(key));
    for (auto slot = home; slot < home + window; ++slot) {
      if (slots_[slot].key == Keys::store(key)) {
        erase_slot(slots_[slot]);
      }
    }
  }

  // Calls `doomed(key, value)` for every entry and erases those for which it is true.
  template <typename Predicate>
  void erase_if(Predicate doomed) {
    for (auto& slot : slots_) {
      if (slot.key != Stored{} && doomed(Keys::load(slot.key), slot.value)) {
        erase_slot(slot);
      }
    }
  }
  // Makes room: of the next few entries from where this ended the last time, the one with the least
  // `rank(key, value)` goes; it is an optional, and an entry without one stays. Returns false if
  // all stay.
  template <typename Rank>
  bool erase_least(Rank rank) {
    std::size_t met = 0;
    Slot* least = nullptr;
    decltype(rank(std::declval<Key>(), std::declval<const Value&>())) least_rank;
    for (std::size_t looked = 0; looked < looked_at_max && met < window; ++looked) {
      auto& slot = slots_[hand_];
      hand_ = hand_ + 1 < slots_.size() ? hand_ + 1 : 0;
      const auto found = slot.key == Stored{}
                             ? std::nullopt
                             : rank(Keys::load(slot.key), std::as_const(slot.value));
      met += found ? 1 : 0;
      if (found && (least == nullptr || *found < *least_rank)) {
        least = &slot;
        least_rank = found;
      }
    }
    if (least != nullptr) {
      erase_slot(*least);
    }
    return least != nullptr;
  }
  template <typename Visitor>
  void for_each(Visitor visit) const {
    for (const auto& slot : slots_) {
      if (slot.key != Stored{}) {
        visit(Keys::load(slot.key), slot.value);
      }
    }
  }

  // Takes more memory where it has to. This is not for the packet path.
  void set_capacity(std::uint32_t capacity) {
    capacity_ = capacity;
    if (const auto slots = std::bit_ceil(capacity_ * 2); slots > mask_ + 1) {
      rehash(slots);
    }
  }

  std::size_t size() const { return size_; }
  bool full() const { return size_ >= capacity_; }

 private:
  using Keys = ProbeKey<Key>;
  using Stored = typename Keys::Stored;

  static constexpr std::size_t looked_at_max = 8 * window;  // in search of room
  // Slots of up to half a cache line do not lie across two.
  static constexpr std::size_t slot_alignment = 32;
  struct alignas(sizeof(Stored) + sizeof(Value) > slot_alignment ? alignof(std::uint64_t)
                                                                 : slot_alignment) Slot {
    Stored key{};  // Stored{}: free
    Value value{};
  };

  std::size_t home_of(const Stored& stored) const {
    return static_cast<std::size_t>(Keys::hash(stored, seed_) >> 32) & mask_;
  }
  // Moves the entries into at least `count` slots, a power of two: into as many as it takes that
  // every window suffices.
  void rehash(std::size_t count) {
    auto before = std::exchange(slots_, std::vector<Slot>(count - 1 + window));
    mask_ = count - 1;
    size_ = 0;
    hand_ = 0;
    for (auto& slot : before) {
      if (slot.key != Stored{}) {
        insert_surely(Keys::load(slot.key)) = std::move(slot.value);
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
  std::size_t hand_ = 0;     // the slot where erase_least() goes on
  std::vector<Slot> slots_;  // one for each home, and the rest of the last one's window
};

}  // namespace tributary::forwarding
