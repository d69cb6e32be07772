// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "control/tree_part.h"
#include "switch/config.h"

namespace tributary::control {

// A placement of trees has to know what trees a protocol can use.
struct TreeLimits {
  std::size_t trees_max = trees_per_job_max;  // of one job
  bool groups = true;                         // each tree has a multicast group of its own
  // Switches are told the workers' addresses, of either version of IP: each host has to have one.
  // Others know hosts by 32 bits, and are told those that an address of IPv6 embeds.
  bool members = false;
  bool quorums = true;  // a result may lack workers
  // This setting of the protocol's table gives a switch room for trees.
  std::string_view memory = "packet_memory";

  friend bool operator==(const TreeLimits&, const TreeLimits&) = default;
};

// The trees of this job have their places.
struct JobTrees {
  std::uint32_t job = 0;
  std::vector<wire::Ipv4Address> groups;  // of its trees, by their ids
  std::optional<double> share;            // of its workers, those that a result needs; none: all
  TreeSettings settings;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// This is how a protocol takes aggregation trees that a controller sets up while the daemon runs.
struct TreeSupport {
  TreeLimits limits;
  // A job may set these: they are the names of TreePart::settings.
  std::span<const std::string_view> settings;

  // The following functions are for switches on which the protocol is on.

  // Adds a tree to the protocol's settings. The error says what does not fit, and what helps; then
  // `config` is of no use.
  tl::expected<void, std::string> (*add)(switching::SwitchConfig& config, const TreePart& part);
  // Says why the file's settings of another switch of the daemon forbid the tree; empty: they do
  // not. Null: they never do.
  std::string (*conflict)(const switching::SwitchConfig& other, const TreePart& part) = nullptr;
  // Returns the trees in these settings.
  std::vector<TreePart> (*list)(const switching::SwitchConfig& config);
  // Returns the memory for trees, as `tree.list` tells it: "trees_max", and what that follows from.
  nlohmann::json (*room)(const switching::SwitchConfig& config);

  // A job's workers are to be started with this, beside the algorithm and the job.
  Environment (*environment)(const JobTrees& job);
};

// Returns the port of that name; the error says that there is none.
tl::expected<PortIndex, std::string> find_port(const switching::SwitchConfig& config,
                                               const std::string& name);

}  // namespace tributary::control
