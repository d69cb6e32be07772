// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/prefetch.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "protocols/canary/engine/job_table.h"
#include "protocols/canary/engine/message.h"
#include "protocols/canary/engine/partitions.h"
#include "protocols/canary/engine/repetition.h"
#include "protocols/canary/engine/slot_fifo.h"
#include "protocols/canary/engine/slot_timers.h"
#include "protocols/canary/engine/tenants.h"
#include "protocols/canary/engine/wide_store.h"
#include "protocols/canary/wire.h"
#include "reduce/kernel.h"

namespace tributary::canary {

// All contributions to one block have this in common; those that differ cannot be added up.
struct BlockShape {
  wire::Ipv4Address leader;
  std::uint16_t leader_port = 0;
  std::uint16_t hosts = 0;
  std::uint16_t elements = 0;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;

  // Compares all fields without a branch between them: they hardly ever differ.
  friend bool operator==(const BlockShape& a, const BlockShape& b) {
    const auto differ = (a.leader.value() ^ b.leader.value()) | (a.leader_port ^ b.leader_port) |
                        (a.hosts ^ b.hosts) | (a.elements ^ b.elements) |
                        (unsigned{a.type != b.type} | unsigned{a.op != b.op} |
                         unsigned{a.encapsulation != b.encapsulation});
    return differ == 0;
  }
};
inline BlockShape shape_of(const Message& message) {
  const auto& header = *message.header;
  return {header.destination,  message.udp_port(), header.hosts.value(),   header.elements.value(),
          header.element_type, header.op,          message.encapsulation()};
}

// Returns the job in an aggregation key.
constexpr std::uint32_t job_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> 32);
}

// This is the paper's descriptor (3.1.1) of one block.
struct alignas(64) Descriptor {
  enum class State : std::uint8_t {
    free,
    gathering,  // holds the accumulator, until the timeout or until all contributions are in
    sent,       // the partial sum has gone on; knows the children, waits for the result
  };
  State state = State::free;
  bool root = false;       // on the leader's last hop: has a timeout of its own
  bool answered = false;   // the leader is done with this id, as was overheard
  bool displaced = false;  // not in its first place
  std::uint8_t children = 0;
  bool marked = false;  // a handler combines its elements: each time is in the fingerprint
  std::uint16_t job = JobTable::untracked;  // where the job is accounted
  std::uint32_t wide = WideStore::none;     // accumulator outside of the packet
  std::uint32_t bytes = 0;                  // gathering: size of its accumulators
  std::uint32_t counter = 0;                // contributions seen, stragglers included
  std::uint32_t passed = 0;                 // contributions that went on to the leader unadded
  std::uint32_t expected = 0;               // contributions that come by here in all; 0: unknown
  bool congested = false;                   // there was congestion on the way of what was added
  std::uint64_t key = 0;
  std::uint64_t fingerprint = 0;
  Time born{};
  Time last{};  // when the latest contribution came
  BlockShape shape;
  PacketPtr packet;  // gathering: the first contribution, which carries the sum out
  const reduce::Kernel* kernel = nullptr;
  void* accumulator = nullptr;        // gathering: in the packet, or in the wide store
  const UdpHeaders* first = nullptr;  // gathering, over UDP: of the packet
  Tenants::Share share;               // which this descriptor is a part of

  // The leader adds its own contribution last, so that all others make one less than `hosts`.
  std::uint32_t contributions_max() const { return shape.hosts - 1u; }
  // Returns how many of those came by here, one way or another.
  std::uint32_t seen() const { return std::min(counter + passed, contributions_max()); }
};
static_assert(sizeof(Descriptor) == 128, "two cache lines");

// This is the static array of descriptors (3.2). Unless it is partitioned among jobs, a block may
// live in one of five slots. The first follows the block's number from an origin that is hashed per
// job, so that the blocks a job has in flight never collide with each other; numbers wrap at a
// multiple of the array's size. Attempts start far apart, so that a block's next attempt does not
// meet what is left of the last. The other slots start at a hash of the whole key and lie far
// apart, because what is in use lies together: so few blocks of several jobs collide, up to a load
// of a half (at which one block in thirty finds all five taken).
class DescriptorTable {
 public:
  // If `partitions` > 0, so many jobs have a part of their own, and a block one slot in it.
  DescriptorTable(std::uint32_t descriptors, std::uint64_t seed, std::uint32_t partitions = 0);

  // Returns the descriptor of `key`, or null.
  Descriptor* find(std::uint64_t key) {
    // Nearly all blocks are in their first place; the others are computed only if some are not.
    auto* block = find_at(first_place(key));
    return block != nullptr || displaced_ == 0 ? block : find_elsewhere(key);
  }
  // This is the first place of a key, computed once to look there several times.
  struct Place {
    std::uint64_t key = 0;
    std::uint32_t slot = Partitions::none;
  };
  Place first_place(std::uint64_t key) const { return {key, first_place_of(key)}; }
  // Returns the descriptor of the key if it is there, and null otherwise.
  Descriptor* find_at(const Place& place) {
    const bool held = place.slot != Partitions::none && holds(place.slot, place.key);
    return held ? &slots_[place.slot] : nullptr;
  }
  // Brings to the cache what find_at() will look at.
  void prefetch(const Place& place) const {
    if (place.slot != Partitions::none) {
      engine::prefetch(&slots_[place.slot], sizeof(Descriptor));
    }
  }
  // Occupies a free slot for `key`, which is not in the table, and starts its timer; null is a
  // collision. The caller fills in what the descriptor says of how it gathers.
  Descriptor* allocate(std::uint64_t key, Time now, Time expiry);
  // Returns the oldest of the descriptors in the slots of `key` that have been sent; or null.
  Descriptor* oldest_sent(std::uint64_t key);
  // Stops the timer, as the partial sum has been sent.
  void mark_sent(Descriptor& descriptor);
  // Sets the timer of a gathering descriptor anew.
  void set_expiry(Descriptor& descriptor, Time expiry);
  void release(Descriptor& descriptor);

  bool is_partitioned() const { return partitions_.enabled(); }
  // Returns whether blocks of `job` may have slots at all, in a table that is partitioned.
  bool admit(std::uint32_t job, std::uint32_t reserved, Time now, Duration silence) {
    return partitions_.admit(job, reserved, now, silence);
  }
  // Returns, in a partitioned table, the descriptor of an earlier attempt of the same block, which
  // stands in the way of this one and is of no use any more; or null.
  Descriptor* superseded_by(std::uint64_t key);

  // These tell the gathering descriptor whose timer expires first, and when; null and `never` if
  // none gathers.
  Descriptor* first_due() { return at(timers_.first()); }
  Time first_expiry() const { return timers_.first_expiry(); }
  // Returns the descriptor of any state that was allocated first, or null.
  Descriptor* first() { return at(living_.front()); }
  const Descriptor* first() const { return at(living_.front()); }
  // Returns the descriptor that was allocated next after `descriptor`, or null.
  Descriptor* after(const Descriptor& descriptor) { return at(living_.next(slot_of(descriptor))); }
  const Descriptor* after(const Descriptor& descriptor) const {
    return at(living_.next(slot_of(descriptor)));
  }

  std::uint32_t slot_of(const Descriptor& descriptor) const {
    return static_cast<std::uint32_t>(&descriptor - slots_.data());
  }
  std::uint32_t size() const { return mask_ + 1; }
  std::uint32_t in_use() const { return in_use_; }
  std::uint32_t high_water() const { return high_water_; }

 private:
  static constexpr std::uint32_t alternatives = 4;
  struct Places {
    std::array<std::uint32_t, 1 + alternatives> slots{};
    std::uint32_t count = 0;
  };
  // Returns all the slots that the block of `key` may live in.
  Places places_of(std::uint64_t key) const;
  // Returns the slot that the block of `key` lives in if it is free.
  std::uint32_t first_place_of(std::uint64_t key) const {
    const auto job = job_of(key);
    const auto id = static_cast<std::uint32_t>(key);
    if (partitions_.enabled()) {
      return partitions_.slot_of(job, id);
    }
    const auto origin =
        wire::mix_key(job, seed_) + attempt_offset(wire::canary_attempt(id), size());
    return static_cast<std::uint32_t>(origin + wire::canary_sequence(id)) & mask_;
  }
  // Attempt 1 is half an array away from attempt 0, attempts 2 and 3 are in the middle between
  // them, and so on: the offset is the bits of the attempt in reverse, as a fraction of the array.
  static std::uint32_t attempt_offset(std::uint32_t attempt, std::uint32_t slots) {
    std::uint32_t offset = 0;
    for (; attempt != 0; attempt >>= 1) {
      slots /= 2;
      offset += (attempt & 1) * slots;
    }
    return offset;
  }
  bool holds(std::uint32_t slot, std::uint64_t key) const {
    return !is_free(slot) && slots_[slot].key == key;
  }
  Descriptor* find_elsewhere(std::uint64_t key);
  bool is_free(std::uint32_t slot) const { return slots_[slot].state == Descriptor::State::free; }
  // Returns a free slot that `key` may have beside its first place, or Partitions::none.
  std::uint32_t free_alternative(std::uint64_t key) const;
  Descriptor* at(std::uint32_t slot) { return slot == SlotFifo::none ? nullptr : &slots_[slot]; }
  const Descriptor* at(std::uint32_t slot) const {
    return slot == SlotFifo::none ? nullptr : &slots_[slot];
  }

  std::uint32_t mask_;
  std::uint64_t seed_;
  Partitions partitions_;
  std::vector<Descriptor> slots_;
  SlotTimers timers_;  // of those that gather
  SlotFifo living_;
  std::uint32_t in_use_ = 0;
  std::uint32_t displaced_ = 0;
  std::uint32_t high_water_ = 0;
};

}  // namespace tributary::canary
