// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "engines/panama/epochs.h"
#include "packet/clock.h"

namespace tributary::panama {

// Those next to a switch in a tree.
struct Neighbours {
  std::uint64_t children = 0;  // by index
  bool parent = false;

  bool any() const { return children != 0 || parent; }
};

// What was asked for elsewhere, and for whom: a result goes back to them. The table has a fixed
// size, whoever is pushed out of it asks again.
class Inquiries {
 public:
  // True if it is time to ask (again).
  bool note(const Round& round, std::uint32_t vid, const Neighbours& asker, Time now) {
    auto& entry = entry_of(vid);
    if (entry.round != round || entry.vid != vid) {
      entry = {round, vid, {}, never};
    }
    entry.askers.children |= asker.children;
    entry.askers.parent |= asker.parent;
    const bool is_time = entry.asked == never || now - entry.asked >= interval;
    entry.asked = is_time ? now : entry.asked;
    return is_time;
  }

  // Those who wait for it; they do no longer.
  Neighbours settle(const Round& round, std::uint32_t vid) {
    auto& entry = entry_of(vid);
    return entry.round == round && entry.vid == vid ? std::exchange(entry.askers, {})
                                                    : Neighbours{};
  }

 private:
  static constexpr Duration interval = std::chrono::milliseconds(1);
  struct Entry {
    Round round;
    std::uint32_t vid = 0;
    Neighbours askers;
    Time asked = never;
  };
  Entry& entry_of(std::uint32_t vid) { return entries_[vid % entries_.size()]; }

  std::array<Entry, 256> entries_;
};

}  // namespace tributary::panama
