// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "packet/clock.h"
#include "packet/packet.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/engine/paths.h"
#include "protocols/netreduce/wire.h"
#include "reduce/kernel.h"
#include "wire/element.h"

namespace tributary::netreduce {

// All packets that meet in one aggregator have this in common.
struct Shape {
  wire::ElementType element_type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::uint16_t header_bytes = 0;   // of the INA header in front of the elements
  std::uint16_t payload_bytes = 0;  // with header and fingerprint word

  // Returns the bytes of elements and fingerprint word.
  std::uint16_t bytes() const { return static_cast<std::uint16_t>(payload_bytes - header_bytes); }

  friend bool operator==(const Shape&, const Shape&) = default;
};

// The packets of all ranks meet here that have the same place in the same message.
struct Aggregator {
  enum class State : std::uint8_t {
    empty,
    gathering,   // waits for packets from below
    sent,        // has the sum of those, which went up; waits for the sum of all
    total_only,  // has the sum of all, but has forgotten what went up
    complete     // has both
  };

  State state = State::empty;
  Shape shape;
  const reduce::Kernel* kernel = nullptr;  // follows from the shape, as do the elements
  std::uint32_t elements = 0;
  std::uint32_t message = 0;      // id
  std::uint64_t present = 0;      // ranks whose packet came; in total_only, whose packet waits
  std::uint64_t added = 0;        // ranks whose elements are in the sum of what is below
  std::uint64_t fingerprint = 0;  // sum of those of `added`
  std::uint32_t sum_crc = 0;      // CRC-32 of the sum that was made last: elements and fingerprint
  Time born{};                    // when the first packet came
  std::uint64_t run = 0;          // that it was last used in, as the array counts

  // Lets an empty aggregator gather for that message.
  void begin(std::uint32_t id, const Shape& of, Time now) {
    state = State::gathering;
    message = id;
    shape = of;
    kernel = &reduce::kernel(of.element_type, of.op);
    elements = static_cast<std::uint32_t>((of.bytes() - wire::fingerprint_bytes) /
                                          wire::element_bytes(of.element_type));
    born = now;
  }

  // Returns whether a packet of such a connection goes on at once, with nothing to be learnt of it.
  bool answers(Path path) const {
    return state == State::complete || (state == State::sent && path == Path::upwards) ||
           (state == State::total_only && path == Path::downwards);
  }
  bool is_waiting() const {
    return state == State::gathering || state == State::sent ||
           (state == State::total_only && present != 0);
  }
};

// A slot has the packet that its rank sent last, and what is needed to give it other elements.
struct Waiting {
  PacketPtr packet;                // null: nothing has come, or nothing waits
  std::uint32_t headers_icrc = 0;  // see check_icrc()
  std::uint16_t elements_offset = 0;
  bool has_udp_checksum = false;
};

// This is the aggregator array of one ring: for each packet of 2N messages it has a slot per rank
// and the sums.
class AggregatorArray {
 public:
  explicit AggregatorArray(const RingConfig& ring);

  // The index is the paper's MsgID % (2N) x MsgLen + (PSN - PSN_0).
  std::size_t index_of(std::uint32_t message, std::uint32_t offset) const {
    return std::size_t{message % open_messages_} * message_packets_ + offset;
  }
  std::size_t size() const { return aggregators_.size(); }
  // Empties the aggregator if it was last used in another run. This is to be called before all else
  // that has an index.
  Aggregator& enter(std::size_t index) {
    if (aggregators_[index].run != run_) {
      clear(index);
    }
    return aggregators_[index];
  }
  Aggregator& at(std::size_t index) { return aggregators_[index]; }
  // Returns null if nothing waits there in this run.
  const Aggregator* waiting(std::size_t index) const {
    const auto& aggregator = aggregators_[index];
    return aggregator.run == run_ && aggregator.is_waiting() ? &aggregator : nullptr;
  }

  // The slots of an aggregator are indexed by rank.
  std::span<Waiting> slots(std::size_t index) {
    return std::span(slots_).subspan(index * world_, world_);
  }
  std::span<const Waiting> slots(std::size_t index) const {
    return std::span(slots_).subspan(index * world_, world_);
  }
  // Returns the sum of what is below, which is the sum of all if nothing is above. There is room
  // for a whole payload; the bytes in front of the elements are not used.
  std::byte* result(std::size_t index) { return results_.get() + index * mtu_; }
  // Returns the sum of all, which does not overwrite what went up.
  std::byte* total(std::size_t index) { return result(first_total_ + index); }
  // Returns the sum with which packets of such a connection go on.
  const std::byte* sum_for(Path path, std::size_t index) {
    return path == Path::upwards ? result(index) : total(index);
  }
  // Floats of 16 and 8 bits are added up here, as f32.
  std::byte* wide(std::size_t index) { return wide_.get() + index * wide_bytes(); }

  // Makes room for another message; what waits is let go of.
  void clear(std::size_t index);
  // Begins another run. That costs nothing, whatever waits: a packet that waits is let go of when
  // its place is needed, and takes none but the ring's own memory until then.
  void begin_run() { ++run_; }

 private:
  std::size_t wide_bytes() const { return sizeof(float) * mtu_; }

  std::size_t world_;
  std::uint32_t open_messages_;
  std::size_t message_packets_;
  std::size_t mtu_;
  std::size_t first_total_;  // where the sums of all begin among the results
  std::uint64_t run_ = 0;
  std::vector<Aggregator> aggregators_;
  std::vector<Waiting> slots_;
  // The kernel gives these memory only when they are needed.
  std::unique_ptr<std::byte[]> results_;
  std::unique_ptr<std::byte[]> wide_;
};

}  // namespace tributary::netreduce
