// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fixture.h"

namespace tributary::netreduce {

// The switches of a ring: leaves with ranks, and those above them. The last one is the root.
class SwitchTree {
 public:
  // `leaves` has the leaf of each rank; `parents` has, by switch, the switch above, except for the
  // root.
  SwitchTree(std::vector<std::size_t> leaves, std::vector<std::size_t> parents)
      : leaves_(std::move(leaves)), parents_(std::move(parents)) {}

  std::size_t size() const { return parents_.size() + 1; }
  std::size_t leaf_of(std::uint16_t rank) const { return leaves_[rank]; }

  // Returns the next switch of a packet to that rank, or no value if it goes to the rank itself.
  std::optional<std::size_t> next(std::size_t from, std::uint16_t rank) const {
    auto at = leaves_[rank];
    if (at == from) {
      return std::nullopt;
    }
    for (; at + 1 < size(); at = parents_[at]) {
      if (parents_[at] == from) {
        return at;
      }
    }
    return parents_[from];
  }

  // Returns the switch's configuration of the ring.
  RingConfig ring(std::size_t self, RingConfig ring) const {
    if (size() == 1) {
      return ring;
    }
    std::vector<std::vector<wire::IpAddress>> racks(size());
    for (std::uint16_t rank = 0; rank < leaves_.size(); ++rank) {
      const auto& member = ring.members[rank];
      const auto towards = next(self, rank);
      if (!towards) {
        ring.local.push_back(member);
      } else if (self + 1 == size() || *towards != parents_[self]) {
        racks[*towards].push_back(member);
      }
    }
    for (auto& rack : racks) {
      if (!rack.empty()) {
        ring.racks.push_back(std::move(rack));
      }
    }
    if (self + 1 < size()) {
      ring.parent = address_of(static_cast<unsigned>(parents_[self]));
    }
    return ring;
  }

 private:
  std::vector<std::size_t> leaves_;
  std::vector<std::size_t> parents_;
};

// One switch.
inline SwitchTree single(std::uint16_t world) {
  return {std::vector<std::size_t>(world, 0), {}};
}
// Leaves below one spine; `racks` has the rack of each rank.
inline SwitchTree two_levels(std::vector<std::size_t> racks) {
  const auto leaves = *std::max_element(racks.begin(), racks.end()) + 1;
  return {std::move(racks), std::vector<std::size_t>(leaves, leaves)};
}

}  // namespace tributary::netreduce
