// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "packet/packet.h"
#include "support/virtual_fabric.h"
#include "wire/ipv4.h"

namespace tributary::test {

// A TreePart is what one switch has to know of a tree of a job, whatever protocol adds up in it.
struct TreePart {
  std::size_t switch_index = 0;
  std::vector<PortIndex> children;
  std::vector<wire::Ipv4Address> child_addresses;  // of what comes from them, in turn
  std::optional<PortIndex> parent;                 // no value: this switch is the root
  wire::Ipv4Address parent_address;
  std::uint16_t workers = 0;
  std::uint16_t workers_below = 0;
};

// Returns the parts of the switches on the shortest ways from the root to the hosts of the ranks,
// each of which is there once; those below come first. Precondition: there are such ways.
std::vector<TreePart> place_tree(const FabricSpec& fabric, std::size_t root,
                                 const std::vector<std::size_t>& hosts);

}  // namespace tributary::test
