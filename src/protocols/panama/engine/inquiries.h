// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "packet/clock.h"
#include "protocols/panama/engine/epochs.h"
#include "wire/key.h"

namespace tributary::panama {

// These are the neighbours of a switch in a tree.
struct Neighbours {
  std::uint64_t children = 0;  // by index
  bool parent = false;

  bool any() const { return children != 0 || parent; }
  Neighbours without(const Neighbours& others) const {
    return {children & ~others.children, parent && !others.parent};
  }
};

// Remembers what was asked for elsewhere, and for whom: a result goes back to them. The table has a
// fixed size, and whoever is pushed out of it asks again. That is the one of its set that was not
// asked for longest, as those who ask in turn must not push each other out for ever.
class Inquiries {
 public:
  // Notes who asks. Returns true if it is time to ask (again).
  bool note(const Round& round, std::uint32_t vid, const Neighbours& asker, Time now) {
    auto* entry = find(round, vid);
    if (entry == nullptr) {
      auto& set = set_of(round, vid);
      entry = &*std::min_element(set.begin(), set.end(),
                                 [](const Entry& a, const Entry& b) { return a.noted < b.noted; });
      *entry = {round, vid};
    }
    entry->askers.children |= asker.children;
    entry->askers.parent |= asker.parent;
    entry->noted = now;
    const bool is_time = entry->asked == never || now - entry->asked >= interval;
    entry->asked = is_time ? now : entry->asked;
    return is_time;
  }

  // Returns those who wait for it; they do no longer.
  Neighbours settle(const Round& round, std::uint32_t vid) {
    auto* entry = find(round, vid);
    return entry != nullptr ? std::exchange(entry->askers, {}) : Neighbours{};
  }

 private:
  static constexpr Duration interval = std::chrono::milliseconds(1);
  struct Entry {
    Round round;
    std::uint32_t vid = 0;
    Neighbours askers;
    Time asked = never;
    Time noted{};
  };
  using Set = std::array<Entry, 4>;

  Set& set_of(const Round& round, std::uint32_t vid) {
    const auto key = (std::uint64_t{round.epoch} << 32) | vid;
    return sets_[wire::mix_key(key, round.run) % sets_.size()];
  }
  Entry* find(const Round& round, std::uint32_t vid) {
    auto& set = set_of(round, vid);
    const auto found = std::find_if(set.begin(), set.end(), [&](const Entry& entry) {
      return entry.round == round && entry.vid == vid;
    });
    return found == set.end() ? nullptr : &*found;
  }

  std::array<Set, 64> sets_;
};

}  // namespace tributary::panama
