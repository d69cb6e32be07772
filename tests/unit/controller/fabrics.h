// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "controller/placement.h"

namespace tributary::controller {

// Places all jobs, or returns why some do not fit.
inline tl::expected<std::vector<PlacedJob>, std::vector<Refusal>> place(
    const Topology& topology, const std::vector<Job>& jobs,
    const std::vector<PlacedPart>& installed, GroupRange groups) {
  auto result = place_what_fits(topology, jobs, installed, groups);
  if (!result.refusals.empty()) {
    return tl::unexpected(std::move(result.refusals));
  }
  return std::move(result.jobs);
}

// Builds topologies by name; indices are the order of the calls.
class Builder {
 public:
  std::size_t add_switch(const std::string& name, std::size_t trees_max = 256) {
    topology.switches.push_back({name, "", trees_max});
    return topology.switches.size() - 1;
  }
  std::size_t add_link(std::size_t a, std::size_t b, const std::string& suffix = "") {
    const auto& switches = topology.switches;
    topology.links.push_back({{a, switches[b].name + suffix}, {b, switches[a].name + suffix}, ""});
    return topology.links.size() - 1;
  }
  std::size_t add_host(std::size_t sw) {
    const std::string port = "h" + std::to_string(topology.hosts.size());
    topology.hosts.push_back({port, {sw, port}, ""});
    return topology.hosts.size() - 1;
  }

  Topology topology;
};

// Leaves 0.., then spines; host h of leaf l is l * hosts_each + h.
inline Topology two_levels(std::size_t leaves, std::size_t spines, std::size_t hosts_each) {
  Builder builder;
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    builder.add_switch("leaf" + std::to_string(leaf + 1));
    for (std::size_t host = 0; host < hosts_each; ++host) {
      builder.add_host(leaf);
    }
  }
  for (std::size_t spine = 0; spine < spines; ++spine) {
    const auto at = builder.add_switch("spine" + std::to_string(spine + 1));
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      builder.add_link(leaf, at);
    }
  }
  return builder.topology;
}

// A fat tree of `pods` pods of two leaves and two spines; each spine of a pod has `cores` cores of
// its own group above it. Leaf l of pod p is 2p + l and has two hosts, 2(2p + l) and the next.
inline Topology three_levels(std::size_t pods, std::size_t cores) {
  Builder builder;
  for (std::size_t leaf = 0; leaf < 2 * pods; ++leaf) {
    builder.add_switch("leaf" + std::to_string(leaf + 1));
    builder.add_host(leaf);
    builder.add_host(leaf);
  }
  std::vector<std::size_t> spines;
  for (std::size_t spine = 0; spine < 2 * pods; ++spine) {
    spines.push_back(builder.add_switch("spine" + std::to_string(spine + 1)));
    builder.add_link(spine - spine % 2, spines.back());
    builder.add_link(spine - spine % 2 + 1, spines.back());
  }
  for (std::size_t core = 0; core < 2 * cores; ++core) {
    const auto at = builder.add_switch("core" + std::to_string(core + 1));
    for (std::size_t pod = 0; pod < pods; ++pod) {
      builder.add_link(spines[2 * pod + core / cores], at);
    }
  }
  return builder.topology;
}

inline constexpr GroupRange test_groups{wire::Ipv4Address(239, 192, 0, 1),
                                        wire::Ipv4Address(239, 192, 255, 255)};

// Returns the parts that the switches have once these jobs are installed.
inline std::vector<PlacedPart> installed(const std::vector<PlacedJob>& jobs) {
  std::vector<PlacedPart> parts;
  for (const PlacedJob& job : jobs) {
    for (const Tree& tree : job.trees) {
      parts.insert(parts.end(), tree.parts.begin(), tree.parts.end());
    }
  }
  return parts;
}

}  // namespace tributary::controller
