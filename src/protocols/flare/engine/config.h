// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/tree_place.h"
#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/wire.h"
#include "protocols/list.h"

namespace tributary::flare {

// A switch has at most so many children in one reduction tree.
inline constexpr std::size_t children_max = engine::tree_children_max;

inline constexpr std::uint32_t window_default = 64;

// Tells how the packets of a block are added up (section 6).
enum class Aggregation : std::uint8_t {
  single,  // on a single buffer, in the order in which they come (6.1)
  tree,    // child i in buffer i, and two buffers only when both are there, so that the order of
           // the additions is always the same (6.3)
};

// Describes the reduction tree of one job, as the network manager set it up (section 4).
struct TreeConfig : engine::TreePlace {
  // Each rank may have so many blocks in flight, 1 to wire::flare_window_max; what is beyond them
  // is dropped.
  std::uint32_t window = window_default;
  // On: the same contributions give the same bits, in whatever order they come.
  bool reproducible = false;
  // Each rank may have so many sparse blocks (7) in flight, up to wire::flare_window_max; 0: none.
  std::uint32_t sparse_window = 0;

  Aggregation aggregation() const { return reproducible ? Aggregation::tree : Aggregation::single; }

  friend bool operator==(const TreeConfig&, const TreeConfig&) = default;
};

// These are the settings of the Flare engine on one logical switch ([switch.flare] in the
// configuration).
struct FlareConfig {
  static constexpr auto row = protocols::Row::flare;

  // These are the aggregation buffers, in packets, which the trees divide among themselves (4.3).
  std::uint32_t working_memory = 8192;
  std::vector<TreeConfig> trees;  // each job and each group once
  // On: a core adds up what arrives there of blocks that others own, and hands over one partial sum
  // of each, instead of every packet.
  bool partial_sums = true;

  friend bool operator==(const FlareConfig&, const FlareConfig&) = default;
};

// One sum takes at most so many packets: floats of less than 32 bits are added as f32, and the
// smallest have 8.
inline constexpr std::size_t buffers_per_sum_max = 4;

// A sparse sum spills at most so many shards before it goes on in an array.
inline constexpr std::size_t spills_max = wire::flare_runs_max / 2;
// A sparse block takes at most so many packets when it is summed: what it has spilled, the array,
// as many pairs that are made of it, and what has come of a result.
inline constexpr std::size_t buffers_per_sparse_block_max = spills_max + 3 * wire::flare_runs_max;

// Returns the buffers that one tree may need at most: those of one block, M of 4.3, for each slot.
// After a restart all that ranks may have in flight gathers at once, and they may be a window
// apart.
inline std::uint64_t buffers_of(const TreeConfig& tree) {
  const auto sums = tree.aggregation() == Aggregation::tree ? tree.children.size() : 1;
  const std::uint64_t sparse_slots =
      tree.sparse_window == 0 ? 0 : wire::flare_slots(tree.sparse_window);
  return std::uint64_t{wire::flare_slots(tree.window)} * buffers_per_sum_max * sums +
         sparse_slots * buffers_per_sparse_block_max;
}

using TreeFault = engine::TreeFault;
// Finds what is wrong with that one of config's trees, by itself and beside those before it; no
// value if nothing is. Ports are not checked to be there.
std::optional<TreeFault> find_fault(const FlareConfig& config, std::size_t index);

}  // namespace tributary::flare
