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

// Children of a switch in one tree: a bit each.
inline constexpr std::size_t tree_children_max = 64;

// A switch's place in an aggregation tree of a job, as a controller or the configuration set it up:
// what the trees of all protocols that have some are configured with.
struct TreePlace {
  std::uint32_t job = 0;            // from 1
  wire::Ipv4Address group;          // multicast address of the tree
  std::vector<PortIndex> children;  // who is waited for; 1 to tree_children_max
  std::optional<PortIndex> parent;  // towards the root; no value: this switch is the root
  std::uint16_t workers = 0;        // of the job
  std::uint16_t workers_below = 0;  // of those, under this switch
  // The IPv4 source of what each child sends, in turn, and of what the parent sends: strangers
  // behind the same ports have others. Unspecified, or no list at all: any.
  std::vector<wire::Ipv4Address> child_addresses{};
  wire::Ipv4Address parent_address{};

  friend bool operator==(const TreePlace&, const TreePlace&) = default;
};

// What is wrong with a tree: the setting, as the configuration calls it, why, and what helps.
struct TreeFault {
  std::string_view setting;
  std::string message;
  std::string hint;
};
// Of the place by itself; no value if nothing is. Ports are not checked to be there.
std::optional<TreeFault> find_fault(const TreePlace& place);

// The same for what comes by a switch's ports: whom in the tree each of them leads to.
class TreePorts {
 public:
  static constexpr std::uint8_t no_child = 0xff;

  // The place has no fault, and the switch so many ports.
  TreePorts(const TreePlace& place, PortIndex ports);

  // The child behind `port`, by its place in the configuration.
  std::uint8_t child_of(PortIndex port) const { return child_of_port_[port]; }
  bool is_parent(PortIndex port) const { return parent_ == port; }
  std::uint8_t children() const { return children_; }
  std::uint64_t all_children() const { return ~std::uint64_t{0} >> (64 - children_); }

  // Whether the controller lets in by `port` what comes from there: strangers behind the tree's
  // ports have other addresses than its neighbours.
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
