// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output.h"

namespace tributary::ctl {

struct FabricOptions {
  std::string file;
  std::string env_directory;        // apply and watch write one file per job there; empty: nowhere
  std::vector<std::uint32_t> jobs;  // remove takes these away; none: those of the file
  bool skip_unreachable = false;    // go around switches that do not answer
  bool force = false;               // remove what is in use, too
  double interval_s = 1.0;          // between two looks of watch
  std::uint64_t count = 0;          // of looks; 0: until interrupted
};

// The controller (docs/reference/fabric.md) places the aggregation trees of a file's jobs over its
// switches.
ExitCode fabric_plan(const Options& options, const FabricOptions& fabric);
ExitCode fabric_apply(const Options& options, const FabricOptions& fabric);
ExitCode fabric_show(const Options& options, const FabricOptions& fabric);
ExitCode fabric_remove(const Options& options, const FabricOptions& fabric);
// Places trees anew when a switch or a link is lost or comes back, and when the file changes.
ExitCode fabric_watch(const Options& options, const FabricOptions& fabric);

}  // namespace tributary::ctl
