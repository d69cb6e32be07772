// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "packet/clock.h"
#include "packet/packet.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/headers.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {

// This stands before the elements of a partial sum on its way to the core that owns its block.
struct [[gnu::packed]] PartialSum {
  wire::FlareHeader header;  // what is common to all, and the sums of what is not; not sealed
  Bearing bearing;
  std::uint64_t children = 0;  // whose contributions are in it, by index
  std::uint64_t order = 0;     // Tree::order() of the tree that has these indices
};

// Some contributions to a tree's blocks come to cores that do not own them. Such a core has an
// aggregation buffer of its own for a block, as with several buffers in the paper (6.2), and the
// owner merges. This tells, for one tree on one core, who is waited for, and which partial sums
// wait, by the number of their slots.
class Partials {
 public:
  // Whoever is missing after this may come, but not here: it was lost, or took another way.
  static constexpr Duration wait_max = std::chrono::milliseconds(1);

  // `cores` is more than one.
  Partials(std::uint32_t window, unsigned cores)
      : usual_(wire::flare_flow_of(~std::uint64_t{0}, window) + 1),
        links_(wire::flare_slots(window) + 1),
        most_(wire::flare_slots(window) * (buffers_per_sum_max - 1) / (cores - 1)) {
    links_[end_of_line()] = {end_of_line(), end_of_line()};
  }

  // Returns the children whose contributions to blocks of the same flow came here before, a bit
  // each. A network card and Linux keep a flow on one core.
  std::uint64_t usual(std::uint64_t block) const { return usual_[block & (usual_.size() - 1)]; }
  void note(std::uint64_t block, std::size_t child) {
    usual_[block & (usual_.size() - 1)] |= std::uint64_t{1} << child;
  }
  // Notes that no others came in time.
  void correct(std::uint64_t block, std::uint64_t children) {
    usual_[block & (usual_.size() - 1)] = children;
  }

  // The owner keeps a sum of what is gathered here in one buffer: the rest of what it may have is
  // for those of the other cores. (Of ranks that disagree in type the owner may have narrow floats,
  // which take all; the partial sums are refused there when they have waited.)
  bool has_room() const { return count_ < most_; }
  void begin(std::uint32_t slot) {
    const auto last = links_[end_of_line()].before;
    links_[slot] = {last, end_of_line()};
    links_[last].behind = links_[end_of_line()].before = slot;
    ++count_;
  }
  void end(std::uint32_t slot) {
    const auto [before, behind] = links_[slot];
    links_[before].behind = behind;
    links_[behind].before = before;
    --count_;
  }
  std::optional<std::uint32_t> oldest() const {
    const auto first = links_[end_of_line()].behind;
    return first == end_of_line() ? std::nullopt : std::optional(first);
  }

 private:
  struct Link {
    std::uint32_t before = 0;
    std::uint32_t behind = 0;
  };
  std::uint32_t end_of_line() const { return static_cast<std::uint32_t>(links_.size() - 1); }

  std::vector<std::uint64_t> usual_;  // by flow
  std::vector<Link> links_;           // by slot: those that wait, in a ring with one that is none
  std::size_t most_;
  std::size_t count_ = 0;
};

}  // namespace tributary::flare
