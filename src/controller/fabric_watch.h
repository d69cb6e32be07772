// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "control/tree_support.h"
#include "controller/fabric_file.h"
#include "controller/live_fabric.h"
#include "controller/plan.h"
#include "controller/standing_objections.h"
#include "controller/topology.h"

namespace tributary::controller {

// A Look is what one look at the fabric came to.
struct Look {
  std::vector<SwitchChange> changed;
  std::vector<SeedChange> seeds;      // those that switches were given
  std::vector<std::string> problems;  // of the file, of switches, of jobs
  std::vector<std::string> detours;   // of jobs that have found another way
};

// With a FabricWatch the trees follow the file and the fabric, look by look.
class FabricWatch {
 public:
  // Keeps what a job's workers set for them; the error says why it cannot.
  using TellWorkers = std::function<tl::expected<void, std::string>(
      std::uint32_t job, const control::Environment& environment)>;

  FabricWatch(FabricFile file, std::chrono::milliseconds timeout, TellWorkers tell)
      : file_(std::move(file)), timeout_(timeout), tell_(std::move(tell)) {}

  // Brings about what the file asks for, as far as switches answer. `loaded` is what it has now;
  // where that is an error, as while it is being written, it has what it had before.
  Look look(LoadedFabric loaded);
  const FabricFile& file() const { return file_; }

 private:
  using Jobs = std::set<std::uint32_t>;
  // A change that a switch has refused is not tried at every look: each try takes back from the
  // others what they had just got.
  struct Refused {
    std::vector<SwitchChange> changes;
    std::string why;
    unsigned looks = 1;  // for which it waits
    unsigned left = 1;
  };

  Jobs ended_jobs(const LiveFabric& live);
  void bring_about(LiveFabric& live, Look& look);
  void tell_workers(std::size_t place, const PlacedJob& placed, Look& look);
  bool change(std::uint32_t job, const std::vector<PlacedPart>& wanted, LiveFabric& live,
              Look& look);

  FabricFile file_;
  std::chrono::milliseconds timeout_;
  TellWorkers tell_;
  Connections connections_;
  StandingObjections objections_;
  Jobs known_;                    // jobs of this file, and of what it was before
  Jobs gone_before_;              // those of them that were not in the file at the last look
  std::set<std::string> silent_;  // switches that did not answer at the last look
  std::map<std::uint32_t, Refused> refused_;
  TreeCounts trees_;                                    // that the switches have
  std::map<std::uint32_t, control::Environment> told_;  // by job: what its workers were told
};

}  // namespace tributary::controller
