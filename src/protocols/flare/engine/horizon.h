// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "packet/clock.h"
#include "packet/fate.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {

// Tells which blocks of a run may be in flight (4.3), as far as one core can know: no rank sends a
// block before it has all results that are a window behind, and those came through here. A block
// that cannot be in flight takes no slot from those that are.
class Horizon {
 public:
  // Ranks that refuse calls go on behind blocks that never have a result. So after such a time
  // without anything that was in flight any block is taken.
  static constexpr Duration silence = std::chrono::seconds(1);

  explicit Horizon(std::uint32_t window) : window_(window) {}

  // A run begins with its first blocks, but a core has not seen those of the flows of others.
  static constexpr std::uint64_t first_blocks(std::uint64_t window) {
    return window + wire::flare_flows;
  }
  void begin() { see(Basis::beginning, 0, first_blocks(window_) - 1); }
  // The next packet tells where the run is.
  void forget() { basis_ = Basis::nothing; }

  // Returns why a block cannot have that slot; no value if it can, or has it.
  template <typename SlotOfBlock>
  std::optional<DropReason> objection(std::uint64_t block, const SlotOfBlock& slot, Time now) {
    const bool is_silent = now - heard_ >= silence;
    if (basis_ == Basis::nothing || (basis_ == Basis::packet && is_silent && !has(block))) {
      see_around(block);
    }
    const bool is_in_flight = has(block);
    heard_ = is_in_flight ? now : heard_;
    if (slot.is_of(block)) {
      return std::nullopt;
    }
    if (is_past(block)) {
      return drop::stale;
    }
    if (is_in_flight ? gives_way(slot, block, now) : is_silent) {
      return std::nullopt;
    }
    return is_in_flight && block < slot.block ? drop::stale : drop::window;
  }

  // Notes that the result of a block is here: everybody has those that are a window behind it. The
  // next block of a flow that a core owns is up to all flows further on.
  void note_result(std::uint64_t block) {
    if (basis_ != Basis::result || block > newest_) {
      newest_ = block;
      const auto flows = std::min(wire::flare_slots(window_), wire::flare_flows);
      const auto reach = (window_ + flows - 1) / flows * flows;
      // The first result may be an old one, of before this switch was restarted.
      const auto known = basis_ == Basis::packet ? last_ : 0;
      see(Basis::result, behind(block, window_ - 1), std::max(known, beyond(block, reach)));
    }
  }

 private:
  // Tells what is known of the run.
  enum class Basis : std::uint8_t { nothing, packet, beginning, result };

  // Two blocks of a slot are in flight where little is known, or windows are small. The one that
  // was there first keeps the slot, though not for ever: it may be nobody's.
  template <typename SlotOfBlock>
  bool gives_way(const SlotOfBlock& slot, std::uint64_t block, Time now) const {
    using State = typename SlotOfBlock::State;
    if (slot.state == State::free || !has(slot.block)) {
      return true;
    }
    return slot.state == State::done ? slot.block < block : now - slot.since >= silence;
  }
  bool is_past(std::uint64_t block) const { return block < first_; }
  bool has(std::uint64_t block) const { return !is_past(block) && block <= last_; }
  void see(Basis basis, std::uint64_t first, std::uint64_t last) {
    basis_ = basis;
    first_ = first;
    last_ = last;
  }
  // The others are less than two windows before or behind who sent it.
  void see_around(std::uint64_t block) {
    const auto distance = wire::flare_slots(window_) - 1;
    see(Basis::packet, behind(block, distance), beyond(block, distance));
  }
  static std::uint64_t behind(std::uint64_t block, std::uint64_t distance) {
    return block - std::min(block, distance);
  }
  static std::uint64_t beyond(std::uint64_t block, std::uint64_t distance) {
    return block + std::min(std::numeric_limits<std::uint64_t>::max() - block, distance);
  }

  std::uint32_t window_;
  Basis basis_ = Basis::nothing;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t newest_ = 0;  // that has a result
  Time heard_{};              // when something in flight came last
};

}  // namespace tributary::flare
