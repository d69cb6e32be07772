// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::control {

// A switch can wait for so many in one tree.
inline constexpr std::size_t tree_children_max = 64;
inline constexpr std::size_t trees_per_job_max = 16;

// A protocol's trees are set up with numbers that have names: {"window", 2}.
using TreeSettings = std::map<std::string, std::uint32_t>;

// One switch is told this of one aggregation tree: whom it waits for, and where the root is. The
// protocol that adds up uses what it needs of it.
struct TreePart {
  std::uint32_t job = 0;
  std::uint16_t tree = 0;
  wire::Ipv4Address group;            // multicast; unspecified: the protocol has none
  std::vector<std::string> children;  // ports: the hosts by rank, then the switches below
  std::optional<std::string> parent;  // no value: this switch is the root
  std::uint16_t workers = 0;          // of the job
  std::uint16_t workers_below = 0;    // of these, under this switch
  std::uint16_t quorum = 0;           // workers that a result needs
  // The packets of each child, and of the parent, have to come from these addresses; unspecified:
  // from anywhere. Protocols that know hosts by 32 bits have addresses of IPv4 here, which stand
  // for those of IPv6 that embed them.
  std::vector<wire::IpAddress> child_addresses{};
  wire::IpAddress parent_address{};
  std::string engine{};                    // the protocol's name
  std::vector<wire::IpAddress> members{};  // all workers by rank; none: the protocol does not ask
  // These members are behind each switch below, in the order of `children`.
  std::vector<std::vector<wire::IpAddress>> racks{};
  TreeSettings settings{};  // settings that are not named have their defaults

  friend bool operator==(const TreePart&, const TreePart&) = default;
};

}  // namespace tributary::control
