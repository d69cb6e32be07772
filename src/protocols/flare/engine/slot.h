// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/shared_elements.h"
#include "packet/clock.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {

// Tells what is done to the elements of a block.
struct BlockKind {
  wire::ElementType type;
  wire::Operator op;
};

// Tells of which block of a slot children were asked last, and whom: no child has a result to send
// otherwise.
struct Inquired {
  std::uint32_t run = 0;
  bool by_parent = false;  // it has asked for that block as well, and takes what they send
  std::uint64_t block = 0;
  std::uint64_t children = 0;  // by index, a bit each

  template <typename Header>
  bool is_about(const Header& header) const {
    return run == header.run.value() && block == header.block.value();
  }
  template <typename Header>
  void note(const Header& header, std::uint64_t asked) {
    const bool again = is_about(header);
    *this = {header.run.value(), again && by_parent, header.block.value(),
             asked | (again ? children : 0)};
  }
  // Notes that the parent asks for a block. What was not asked for here, too, it gets when it asks
  // again.
  template <typename Header>
  void note_parent(const Header& header) {
    by_parent |= is_about(header);
  }
  template <typename Header>
  bool may_answer(const Header& header, std::size_t child) const {
    return is_about(header) && (children >> child & 1) != 0;
  }
  template <typename Header>
  bool parent_waits(const Header& header) const {
    return is_about(header) && by_parent;
  }
};

// This is one block of one tree: first its contributions meet, then what became of them is kept.
struct Slot {
  enum class State : std::uint8_t {
    free,
    gathering,  // some children are in
    summed,     // the sum went up; it is kept until its result comes
    done,       // the result went down; it is kept for who lost it
    // A core that does not own the block has it in no other state than these.
    partial,  // some of the children that come to this core are in
    passed,   // their sum went to the owner, and what else comes goes there as it is
  };
  State state = State::free;
  // Summed: this is what the block is above, where the sum cannot be in it.
  std::optional<BlockKind> refused;
  std::uint64_t block = 0;
  std::uint64_t arrived = 0;    // the port bitmap (4.1): children that are in, by index
  engine::SharedElements kept;  // summed, done
  Time since{};                 // when the first contribution came
  Time told{};                  // when others were last told of it, or asked
  Inquired inquired;
  wire::FlareHeader header;  // what is common to all, and the sums of what is not

  BlockKind kind() const { return {header.element_type, header.op}; }

  bool adds_up() const { return state == State::gathering || state == State::partial; }
  bool is_of(std::uint64_t wanted, std::uint32_t run) const {
    return is_of(wanted) && header.run.value() == run;
  }
  bool is_of(std::uint64_t wanted) const { return state != State::free && block == wanted; }
  bool has(std::size_t child) const { return (arrived >> child & 1) != 0; }
};

}  // namespace tributary::flare
