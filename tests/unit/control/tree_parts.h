// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "control/runtime_trees.h"
#include "protocols/panama/engine/config.h"

namespace tributary::control {

// Gives the first switch ports h1, h2 and up1, and memory for four trees.
inline void add_panama(DaemonConfig& config) {
  auto& section = config.switches[0];
  section.config.ports.resize(3);
  section.config.ports[0].name = "h1";
  section.config.ports[1].name = "h2";
  section.config.ports[2].name = "up1";
  section.devices.resize(3, RingDevice{"r"});
  section.config.protocols.emplace<panama::PanamaConfig>().packet_memory = 8;
}

// Returns the part of a leaf with two of four workers; the group follows from the tree.
inline TreePart part_of(std::uint32_t job, std::uint16_t tree) {
  return {job, tree,    wire::Ipv4Address(0xefc00001u + tree), {"h1", "h2"}, "up1", 4, 2, 4, {},
          {},  "panama"};
}

}  // namespace tributary::control
