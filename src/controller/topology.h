// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/tree_part.h"
#include "control/tree_support.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::controller {

using control::TreePart;

// Places are named by index: switches, links and hosts by their order in Topology.
struct SwitchPort {
  std::size_t switch_index = 0;
  std::string port;

  friend bool operator==(const SwitchPort&, const SwitchPort&) = default;
};

struct Switch {
  std::string name;
  std::string unusable;       // "does not answer": so trees may not lead through; empty: they may
  std::size_t trees_max = 0;  // it has memory for so many
  wire::IpAddress address{};  // source of what it sends; unspecified: unknown

  friend bool operator==(const Switch&, const Switch&) = default;
};

struct Link {
  SwitchPort a;
  SwitchPort b;
  std::string unusable;        // "port leaf1:spine1 is down"; empty: trees may lead through it
  std::uint64_t rate_bps = 0;  // 0: unknown; taken for as fast as the fastest

  friend bool operator==(const Link&, const Link&) = default;
};

struct Host {
  std::string name;
  SwitchPort at;
  std::string unusable;       // as Switch::unusable
  wire::IpAddress address{};  // as Switch::address

  friend bool operator==(const Host&, const Host&) = default;
};

// A topology has switches, the links between them, and the hosts behind their other ports.
struct Topology {
  std::vector<Switch> switches;
  std::vector<Link> links;
  std::vector<Host> hosts;

  friend bool operator==(const Topology&, const Topology&) = default;
};

struct Job {
  std::uint32_t id = 0;
  std::vector<std::size_t> hosts;  // by rank; each behind a port of its own
  std::size_t trees = 0;           // 0: as many as there are disjoint roots, and hosts can use
  std::uint16_t quorum = 0;        // workers that a result needs
  std::string engine{};            // the name of the protocol that adds up, which takes trees
  control::TreeLimits limits{};    // of that engine
  control::TreeSettings settings{};
  // Its workers send to so many trees already: each keeps a place, be it beside another at one
  // root.
  std::size_t trees_kept = 0;
  // These switches were asked and take no tree of it; the text says why.
  std::map<std::size_t, std::string> refused_by{};

  friend bool operator==(const Job&, const Job&) = default;
};

struct PlacedPart {
  std::size_t switch_index = 0;
  TreePart part;

  friend bool operator==(const PlacedPart&, const PlacedPart&) = default;
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

// Trees may have multicast addresses in this range, both ends included.
struct GroupRange {
  wire::Ipv4Address first;
  wire::Ipv4Address last;
};

}  // namespace tributary::controller
