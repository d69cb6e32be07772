// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packet/packet.h"
#include "wire/ipv4.h"

namespace tributary::engine {

// A switch has at most so many children in one tree: a bitmap has a bit for each.
inline constexpr std::size_t tree_children_max = 64;

// A TreePlace is a switch's place in an aggregation tree of a job, as a controller or the
// configuration set it up. The trees of all protocols that have some are configured with it.
struct TreePlace {
  std::uint32_t job = 0;            // from 1
  wire::Ipv4Address group;          // multicast address of the tree
  std::vector<PortIndex> children;  // who is waited for; 1 to tree_children_max ports
  std::optional<PortIndex> parent;  // towards the root; no value: this switch is the root
  std::uint16_t workers = 0;        // of the job
  std::uint16_t workers_below = 0;  // of those, under this switch
  // These are the IPv4 sources of what each child sends, in turn, and of what the parent sends:
  // strangers behind the same ports have others. An unspecified address, or no list at all, admits
  // any.
  std::vector<wire::Ipv4Address> child_addresses{};
  wire::Ipv4Address parent_address{};

  friend bool operator==(const TreePlace&, const TreePlace&) = default;
};

// A TreeFault tells what is wrong with a tree: the setting, as the configuration calls it, why, and
// what helps.
struct TreeFault {
  std::string_view setting;
  std::string message;
  std::string hint;
};
// Looks at the place by itself, and returns no value if nothing is wrong. It does not check that
// the ports exist.
std::optional<TreeFault> find_fault(const TreePlace& place);

// TreePorts is a TreePlace by port, for what comes in: whom in the tree each port leads to.
class TreePorts {
 public:
  static constexpr std::uint8_t no_child = 0xff;

  // The place has no fault, and the switch has `ports` ports.
  TreePorts(const TreePlace& place, PortIndex ports);

  // Returns the place in the configuration of the child behind `port`, or no_child.
  std::uint8_t child_of(PortIndex port) const { return child_of_port_[port]; }
  bool is_parent(PortIndex port) const { return parent_ == port; }
  std::uint8_t children() const { return children_; }
  std::uint64_t all_children() const { return ~std::uint64_t{0} >> (64 - children_); }

  // Returns whether the tree takes in by `port` what comes from `source`: strangers behind the
  // tree's ports have other addresses than its neighbours.
  bool may_come(PortIndex port, wire::Ipv4Address source) const {
    const auto wanted = source_of_port_[port];
    return wanted.is_unspecified() || wanted == source;
  }

 private:
  std::uint8_t children_;
  std::optional<PortIndex> parent_;
  std::vector<std::uint8_t> child_of_port_;
  std::vector<wire::Ipv4Address> source_of_port_;
};

}  // namespace tributary::engine
