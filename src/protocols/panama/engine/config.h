// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/tree_place.h"
#include "packet/packet.h"
#include "protocols/list.h"
#include "wire/ipv4.h"

namespace tributary::panama {

// Children of a switch in one tree.
inline constexpr std::size_t children_max = engine::tree_children_max;

// This switch's place in one aggregation tree of a job, as the controller set it up (section 3).
struct TreeConfig {
  std::uint32_t job = 0;  // from 1
  std::uint16_t tree = 0;
  wire::Ipv4Address group;  // multicast address of the tree
  std::vector<PortIndex>
      children;  // the paper's Ports_bitmap: who is waited for; 1 to children_max
  std::optional<PortIndex> parent;  // towards the root; no value: this switch is the root
  std::uint16_t workers = 0;        // of the job
  std::uint16_t workers_below = 0;  // of those, under this switch
  // Partial aggregation (section 7, PANAMA-0.88): a result needs so many of the job's workers.
  std::uint16_t quorum = 0;  // 1 to workers; workers: nobody may be missing
  // The IPv4 source of what each child sends, in turn, and of what the parent sends: strangers
  // behind the same ports have others. Unspecified, or no list at all: any.
  std::vector<wire::Ipv4Address> child_addresses{};
  wire::Ipv4Address parent_address{};

  friend bool operator==(const TreeConfig&, const TreeConfig&) = default;
};

// Settings of the PANAMA engine on one logical switch ([switch.panama] in the configuration).
struct PanamaConfig {
  static constexpr auto row = protocols::Row::panama;

  // Memory for packets that wait, per input port and core, in packets: the accelerator's buffer,
  // which active jobs share (4.2.2). Each tree has an initial window of its own.
  std::uint32_t packet_memory = 512;
  std::vector<TreeConfig> trees;  // each (job, tree) and each group once

  friend bool operator==(const PanamaConfig&, const PanamaConfig&) = default;
};

// Packets that a worker may send to a tree before it knows the window cap (Figure 5: cwnd = 2).
inline constexpr std::uint32_t initial_window = 2;

using TreeFault = engine::TreeFault;
// What is wrong with that one of config's trees, by itself and beside those before it; no value if
// nothing is. Ports are not checked to be there.
std::optional<TreeFault> find_fault(const PanamaConfig& config, std::size_t index);

}  // namespace tributary::panama
