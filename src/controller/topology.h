// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/ipv4.h"

namespace tributary::controller {

// Places are named by index: switches, links and hosts by their order in Topology.
struct SwitchPort {
  std::size_t switch_index = 0;
  std::string port;
};

struct Switch {
  std::string name;
  std::string unusable;         // "does not answer": why trees may not lead through it; empty: may
  std::size_t trees_max = 0;    // that it has memory for
  wire::Ipv4Address address{};  // source of what it sends; unspecified: unknown
};

struct Link {
  SwitchPort a;
  SwitchPort b;
  std::string unusable;  // "port leaf1:spine1 is down"; empty: trees may
};

struct Host {
  std::string name;
  SwitchPort at;
  std::string unusable;         // likewise
  wire::Ipv4Address address{};  // likewise
};

// Switches, the links between them, and the hosts behind their other ports.
struct Topology {
  std::vector<Switch> switches;
  std::vector<Link> links;
  std::vector<Host> hosts;
};

struct Job {
  std::uint32_t id = 0;
  std::vector<std::size_t> hosts;  // by rank; each behind a port of its own
  std::size_t trees = 0;           // 0: as many as there are disjoint roots, and hosts can use
  std::uint16_t quorum = 0;        // workers that a result needs
};

// What one switch is told of one tree: PANAMA's Ports_bitmap and where the root is.
struct TreePart {
  std::uint32_t job = 0;
  std::uint16_t tree = 0;
  wire::Ipv4Address group;
  std::vector<std::string> children;  // ports: the hosts by rank, then the switches below
  std::optional<std::string> parent;  // no value: this switch is the root
  std::uint16_t workers = 0;
  std::uint16_t workers_below = 0;
  std::uint16_t quorum = 0;
  // By child, and of the parent: where their packets have to come from. Unspecified: from anywhere.
  std::vector<wire::Ipv4Address> child_addresses{};
  wire::Ipv4Address parent_address{};

  friend bool operator==(const TreePart&, const TreePart&) = default;
};

struct PlacedPart {
  std::size_t switch_index = 0;
  TreePart part;
};

struct Tree {
  std::uint16_t id = 0;
  std::size_t root = 0;
  wire::Ipv4Address group;
  std::vector<PlacedPart> parts;  // from the root down
};

struct PlacedJob {
  std::uint32_t id = 0;
  std::vector<Tree> trees;
};

// Multicast addresses that trees may have, both ends included.
struct GroupRange {
  wire::Ipv4Address first;
  wire::Ipv4Address last;
};

// What a switch can wait for in one tree.
inline constexpr std::size_t children_max = 64;

}  // namespace tributary::controller
