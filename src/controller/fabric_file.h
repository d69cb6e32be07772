// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "control/loader.h"
#include "controller/topology.h"

namespace tributary::controller {

// A switch is asked and told here.
struct ControlPoint {
  std::string socket;
  std::string ssh;  // the socket is on this "user@host"; empty: on this machine
};

// An operator wrote down a fabric and the jobs that are to run on it (docs/reference/fabric.md).
struct FabricFile {
  Topology topology;
  std::vector<ControlPoint> points;  // by switch
  std::vector<Job> jobs;
  std::vector<double> shares;  // by job: of its workers, those that a result needs
  GroupRange groups{wire::Ipv4Address(239, 192, 0, 1), wire::Ipv4Address(239, 192, 255, 255)};
  std::string name;                              // of the file
  std::vector<control::ConfigError> job_places;  // by job: errors about it point there
};

using LoadedFabric = tl::expected<FabricFile, control::ConfigErrors>;
LoadedFabric load_fabric(const std::string& path);
LoadedFabric parse_fabric(std::string_view text, const std::string& name);

}  // namespace tributary::controller
