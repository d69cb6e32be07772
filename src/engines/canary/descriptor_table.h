// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engines/canary/job_table.h"
#include "engines/canary/message.h"
#include "engines/canary/slot_fifo.h"
#include "engines/canary/wide_store.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "wire/canary.h"

namespace tributary::canary {

// What all contributions to one block have in common; those that differ cannot be added up.
struct BlockShape {
  wire::Ipv4Address leader;
  std::uint16_t leader_port = 0;
  std::uint16_t hosts = 0;
  std::uint16_t elements = 0;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::uint8_t attempt = 0;
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;

  friend bool operator==(const BlockShape&, const BlockShape&) = default;
};
BlockShape shape_of(const Message& message);

// The paper's descriptor (3.1.1) of one block.
struct Descriptor {
  enum class State : std::uint8_t {
    free,
    gathering,  // holds the accumulator, until the timeout or until all contributions are in
    sent,       // the partial sum has gone on; knows the children, waits for the result
  };
  State state = State::free;
  bool root = false;  // on the leader's last hop: has a timeout of its own
  std::uint8_t children = 0;
  std::uint16_t job = JobTable::untracked;  // where the job is accounted
  std::uint32_t wide = WideStore::none;     // accumulator outside of the packet
  std::uint32_t counter = 0;                // contributions seen, stragglers included
  std::uint32_t expected = 0;               // that many are all that come by here; 0: unknown
  std::uint64_t key = 0;
  std::uint64_t fingerprint = 0;
  Time born{};
  BlockShape shape;
  PacketPtr packet;  // gathering: the first contribution, which carries the sum out
};

// The static array of descriptors (3.2). A block may live in one of two slots. The first follows
// the block's number from an origin that is hashed per job, so that the blocks a job has in flight
// never collide with each other; the second is a hash of the whole key.
class DescriptorTable {
 public:
  DescriptorTable(std::uint32_t descriptors, std::uint64_t seed);

  // The descriptor of `key`, or null.
  Descriptor* find(std::uint64_t key);
  // Occupies a free slot for `key`, which is not in the table; null is a collision.
  Descriptor* allocate(std::uint64_t key, bool root, Time now);
  // The partial sum has been sent: the timer no longer runs.
  void mark_sent(Descriptor& descriptor);
  void release(Descriptor& descriptor);

  // The gathering descriptor (at roots, or elsewhere), and the descriptor of any state, that was
  // allocated first; or null.
  Descriptor* first_gathering(bool root) { return at(gathering_[root].front()); }
  Descriptor* first() { return at(living_.front()); }
  const Descriptor* first_gathering(bool root) const { return at(gathering_[root].front()); }
  const Descriptor* first() const { return at(living_.front()); }
  // Allocated next after `descriptor`, or null.
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
  std::uint32_t first_slot(std::uint64_t key) const;
  std::uint32_t second_slot(std::uint64_t key) const;
  Descriptor* at(std::uint32_t slot) { return slot == SlotFifo::none ? nullptr : &slots_[slot]; }
  const Descriptor* at(std::uint32_t slot) const {
    return slot == SlotFifo::none ? nullptr : &slots_[slot];
  }

  std::uint32_t mask_;
  std::uint64_t seed_;
  std::vector<Descriptor> slots_;
  std::array<SlotFifo, 2> gathering_;  // elsewhere, at roots: each in order of its expiry
  SlotFifo living_;
  std::uint32_t in_use_ = 0;
  std::uint32_t high_water_ = 0;
};

}  // namespace tributary::canary
