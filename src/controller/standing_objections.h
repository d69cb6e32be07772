// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/fabric_file.h"
#include "controller/live_fabric.h"
#include "controller/objections.h"
#include "controller/topology.h"

namespace tributary::controller {

// Jobs' places follow from all this, but for what switches say when they are asked.
struct Circumstances {
  std::vector<Job> jobs;
  std::map<std::string, Topology> topologies;  // by engine of a job
  std::vector<PlacedPart> installed;

  friend bool operator==(const Circumstances&, const Circumstances&) = default;
};
// Returns those of make_plan() where switches that do not answer are unusable.
Circumstances circumstances_of(const FabricFile& file, const LiveFabric& live);

// Remembers what switches have objected to, for a controller that plans at every look: a switch
// that refuses a job is asked again when something has changed, and after some looks, as nothing
// tells of all that it goes by.
class StandingObjections {
 public:
  static constexpr unsigned looks_max = 30;

  // Returns those that hold without a question, at one look.
  const std::vector<Objection>& at(Circumstances now);
  // Notes all that there are at that look, once the switches were asked.
  void note(std::vector<Objection> all);

 private:
  Circumstances known_;
  std::vector<Objection> objections_;
  unsigned looks_ = 0;  // since the switches were asked
};

}  // namespace tributary::controller
