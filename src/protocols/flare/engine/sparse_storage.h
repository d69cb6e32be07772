// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "packet/packet.h"
#include "protocols/flare/engine/sparse_shards.h"
#include "protocols/flare/engine/sparse_type.h"
#include "protocols/flare/engine/working_memory.h"
#include "protocols/flare/sparse_wire.h"
#include "reduce/scalar.h"
#include "wire/cursor.h"
#include "wire/element.h"

// The elements of a sparse block are kept like this while they are added up (section 7): by their
// offsets in a hash table, or all of them in an array. Both are made of packets, which become the
// payloads of what is sent.
namespace tributary::flare {

using SparseShape = wire::FlareSparseShape;

// Returns a packet for so many bytes, which counts as a buffer; null: there is none.
PacketPtr take_buffer(std::size_t bytes, WorkingMemory& memory);
// Gives a buffer back to where it came from, if it is there.
void give_back_buffer(PacketPtr& buffer, WorkingMemory& memory);

// Has a few neighbouring places for each offset: an element that finds them all taken goes
// elsewhere. In the paper it is one place, and the elements of an offset that has not got it are
// sent up one by one, of however many ranks. While a table becomes a third full those are a seventh
// of all offsets, and less than a fiftieth here.
class HashStorage {
 public:
  static constexpr std::size_t pages = 4;
  static constexpr std::size_t places_per_offset = 4;

  explicit operator bool() const { return pages_.front() != nullptr; }
  // Returns false if there are not enough buffers; it has none then.
  bool reserve(const SparseShape& shape, WorkingMemory& memory);

  // Returns false if other offsets are in its places. Nothing leaves the table before all does, so
  // that an offset is behind no place that is empty.
  template <typename T>
  bool put(std::uint16_t offset, T value) {
    auto* pair = first_place_of(offset);
    for (std::size_t i = 0; i < places_per_offset; ++i, pair += pair_bytes_) {
      auto* const element = pair + wire::flare_offset_bytes;
      const auto there = wire::flare_offset_at(pair);
      if (there == offset) {
        store(element, reduce::plus(load<T>(element), value));
        return true;
      }
      if (there == empty) {
        store(pair, offset);
        store(element, value);
        return true;
      }
    }
    return false;
  }

  // Visits what there is, as pointers to pairs.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& page : pages_) {
      for (std::size_t i = 0; i < places_per_page_; ++i) {
        const auto* pair = page->data() + i * pair_bytes_;
        if (wire::flare_offset_at(pair) != empty) {
          visit(pair);
        }
      }
    }
  }
  // Takes all pairs, and those of the packet `spilled`, in as few shards as they fit in, but one at
  // least. They are moved together where they are. Nothing is left here.
  void take(PacketPtr spilled, WorkingMemory& memory, SparseShards& out);
  void clear(WorkingMemory& memory);

 private:
  static constexpr std::uint16_t empty = wire::flare_span_max;  // every offset is below the span

  // The hashing is multiplicative, so that neighbours are far apart: two bits choose the page, and
  // the others the place in it.
  std::byte* first_place_of(std::uint16_t offset) {
    constexpr unsigned bits = 14;
    static_assert(pages << bits == std::size_t{wire::flare_span_max} + 1);
    static_assert(wire::flare_full_min / (wire::flare_offset_bytes + sizeof(std::uint64_t)) >=
                  places_per_offset);
    const std::size_t hash = offset * 40503u & 0xffffu;
    const auto firsts = places_per_page_ - places_per_offset + 1;
    const auto place = (hash & ((1u << bits) - 1)) * firsts >> bits;
    return pages_[hash >> bits]->data() + place * pair_bytes_;
  }

  std::array<PacketPtr, pages> pages_;
  std::size_t pair_bytes_ = 0;
  std::size_t places_per_page_ = 0;
};

// Holds all elements of the block, in as many packets as it has runs.
class ArrayStorage {
 public:
  explicit operator bool() const { return runs_.front() != nullptr; }
  // Returns false if there are not enough buffers; it has none then. Otherwise they are all zeros.
  bool reserve(wire::ElementType type, const SparseShape& shape, std::size_t span,
               WorkingMemory& memory);

  template <typename T>
  void add(std::uint16_t offset, T value) {
    auto* const at = element(offset);
    store(at, reduce::plus(load<T>(at), value));
  }
  // Adds elements side by side.
  void add_run(std::size_t first, wire::Bytes elements);

  // Takes what there is, in the form that takes fewer bytes if there are buffers for that. Runs of
  // nothing but zeros are missing only where they may be left out, but there is at least one shard.
  // Nothing is left here.
  void take(bool leaves_out, WorkingMemory& memory, SparseShards& out);
  void clear(WorkingMemory& memory);

 private:
  using Packets = std::array<PacketPtr, wire::flare_runs_max>;

  // Divides an offset by the elements of a run, without a division: exact as both are below 2^16.
  std::size_t run_of(std::size_t offset) const {
    return static_cast<std::size_t>((std::uint64_t{offset} * reciprocal_) >> 32);
  }
  std::size_t elements_in(std::size_t run) const {
    return std::min(per_run_, span_ - run * per_run_);
  }
  std::byte* element(std::size_t offset) {
    const auto run = run_of(offset);
    return runs_[run]->data() + (offset - run * per_run_) * shape_.element_bytes;
  }
  std::size_t count_present();
  void copy_pairs(Packets& to) const;
  bool take_as_pairs(std::size_t present, WorkingMemory& memory, SparseShards& out);
  void take_as_runs(bool leaves_out, WorkingMemory& memory, SparseShards& out);
  void take_nothing(WorkingMemory& memory, SparseShards& out);

  Packets runs_;
  std::array<std::uint16_t, wire::flare_runs_max> present_{};  // that are not zero, in each
  wire::ElementType type_ = wire::ElementType::f32;
  SparseShape shape_{sizeof(float), wire::flare_full_min};
  std::size_t span_ = 0;
  std::size_t count_ = 0;  // of runs
  std::size_t per_run_ = 0;
  std::uint64_t reciprocal_ = 0;
};

}  // namespace tributary::flare
