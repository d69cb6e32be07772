// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "control/loader.h"
#include "controller/topology.h"

namespace tributary::controller {

// Where a switch is asked and told.
struct ControlPoint {
  std::string socket;
  std::string ssh;  // "user@host" on which the socket is; empty: this machine
};

// A fabric and the jobs that are to run on it, as an operator wrote them down
// (docs/reference/fabric.md).
struct FabricFile {
  Topology topology;
  std::vector<ControlPoint> points;  // by switch
  std::vector<Job> jobs;
  std::vector<double> shares;  // by job: of its workers, those that a result needs
  GroupRange groups{wire::Ipv4Address(239, 192, 0, 1), wire::Ipv4Address(239, 192, 255, 255)};
  std::string name;                              // of the file
  std::vector<control::ConfigError> job_places;  // by job: where errors about it point
};

using LoadedFabric = tl::expected<FabricFile, control::ConfigErrors>;
LoadedFabric load_fabric(const std::string& path);
LoadedFabric parse_fabric(std::string_view text, const std::string& name);

}  // namespace tributary::controller
