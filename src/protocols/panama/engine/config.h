// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/tree_place.h"
#include "protocols/list.h"

namespace tributary::panama {

// A switch has at most so many children in one tree.
inline constexpr std::size_t children_max = engine::tree_children_max;

// Describes one aggregation tree of a job (section 3). Its children are the paper's Ports_bitmap.
struct TreeConfig : engine::TreePlace {
  std::uint16_t tree = 0;  // its number
  // With partial aggregation (section 7, PANAMA-0.88) a result needs so many of the job's workers.
  std::uint16_t quorum = 0;  // 1 to workers; workers: nobody may be missing

  // Returns whether a result may lack somebody.
  bool is_partial() const { return quorum < workers; }

  friend bool operator==(const TreeConfig&, const TreeConfig&) = default;
};

// These are the settings of the PANAMA engine on one logical switch ([switch.panama] in the
// configuration).
struct PanamaConfig {
  static constexpr auto row = protocols::Row::panama;

  // This is the memory for packets that wait, per input port and core, in packets: the
  // accelerator's buffer, which active jobs share (4.2.2). Each tree has an initial window of its
  // own.
  std::uint32_t packet_memory = 512;
  std::vector<TreeConfig> trees;  // each (job, tree) and each group once

  friend bool operator==(const PanamaConfig&, const PanamaConfig&) = default;
};

// A worker may send so many packets to a tree before it knows the window cap (Figure 5: cwnd = 2).
inline constexpr std::uint32_t initial_window = 2;

using TreeFault = engine::TreeFault;
// Finds what is wrong with that one of config's trees, by itself and beside those before it; no
// value if nothing is. Ports are not checked to be there.
std::optional<TreeFault> find_fault(const PanamaConfig& config, std::size_t index);

}  // namespace tributary::panama
