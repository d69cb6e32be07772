// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/shared_elements.h"
#include "packet/clock.h"
#include "packet/pool.h"
#include "protocols/panama/engine/headers.h"
#include "protocols/panama/wire.h"
#include "reduce/kernel.h"

namespace tributary::panama {

// This is one VID of one tree: its packets while they wait for each other, then what became of
// them.
struct Row {
  enum class State : std::uint8_t {
    free,
    gathering,  // some ports have theirs
    summed,     // the sum went up and is kept until its result comes
    done,       // the result went down; it is kept for who lost it
  };
  State state = State::free;
  bool holds = false;      // contributions wait at their ports
  bool remade = false;     // somebody may have a result of it, which no other one must differ from
  bool was_done = false;   // before it was remade
  bool congested = false;  // ECN of all that was added (4.2.2)
  std::uint8_t next = 0;   // the children before it are in the accumulator
  std::uint16_t place_remade = 0;  // among the tree's rows that were remade
  std::uint64_t position = 0;
  std::uint64_t arrived = 0;               // children whose packet came, by index
  const reduce::Kernel* kernel = nullptr;  // of its elements
  PacketPtr* waiting = nullptr;            // contributions, by child; null: not there, or added
  PacketPtr accumulator;  // of the first child; the others are added in the children's order
  std::byte* elements = nullptr;  // of the accumulator
  engine::SharedElements kept;    // summed, done
  Time since{};                   // gathering: of the first packet; summed: last sent
  wire::PanamaHeader header;      // what is common to all, and the sums of what is not

  bool has(std::uint8_t child) const { return (arrived >> child & 1) != 0; }

  // Begins to gather. Nothing may be in the row; `first` is what comes first.
  void begin(std::uint64_t at, const wire::PanamaHeader& first, Time now) {
    state = State::gathering;
    position = at;
    arrived = 0;
    next = 0;
    holds = true;
    remade = was_done = congested = false;
    since = now;
    kernel = &reduce::kernel(first.element_type, first.op);
    header = first;
    clear_marks(header);
    header.contributions = std::uint16_t{0};
    header.fingerprint = std::uint64_t{0};
    header.wnd_cap = wire::PanamaHeader::wnd_cap_none;
    header.rank = wire::PanamaHeader::no_rank;
  }
  // Adds what a contribution says of itself to what the others say.
  void count_in(const wire::PanamaHeader& one, bool marked) {
    header.contributions =
        static_cast<std::uint16_t>(header.contributions.value() + one.contributions.value());
    header.fingerprint = header.fingerprint.value() + one.fingerprint.value();
    header.wnd_cap = std::min(header.wnd_cap.value(), one.wnd_cap.value());
    congested |= marked;
  }
  // Takes out again what count_in() added of a contribution, but for what cannot be.
  void count_out(const wire::PanamaHeader& one) {
    header.contributions =
        static_cast<std::uint16_t>(header.contributions.value() - one.contributions.value());
    header.fingerprint = header.fingerprint.value() - one.fingerprint.value();
  }
};

// These rows were complete before and gather once more. They are in no order: each knows its place.
class RemadeRows {
 public:
  explicit RemadeRows(std::size_t most) { rows_.reserve(most); }

  bool empty() const { return rows_.empty(); }
  Row& last() { return *rows_.back(); }
  void add(Row& row, bool was_done) {
    row.remade = true;
    row.was_done = was_done;
    row.place_remade = static_cast<std::uint16_t>(rows_.size());
    rows_.push_back(&row);
  }
  // Takes out a row in which nothing waits any more.
  void remove(const Row& row) {
    rows_[row.place_remade] = rows_.back();
    rows_[row.place_remade]->place_remade = row.place_remade;
    rows_.pop_back();
  }
  void clear() { rows_.clear(); }

 private:
  std::vector<Row*> rows_;
};

}  // namespace tributary::panama
