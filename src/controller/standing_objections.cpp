// SPDX-License-Identifier: BSD-3-Clause
#include "controller/standing_objections.h"

#include <utility>

namespace tributary::controller {

Circumstances circumstances_of(const FabricFile& file, const LiveFabric& live) {
  Circumstances now{file.jobs, {}, live.installed()};
  for (const Job& job : file.jobs) {
    if (!now.topologies.contains(job.engine)) {
      now.topologies.emplace(job.engine, live.topology(job.engine, false));
    }
  }
  return now;
}

const std::vector<Objection>& StandingObjections::at(Circumstances now) {
  if (++looks_ >= looks_max || now != known_) {
    known_ = std::move(now);
    objections_.clear();
    looks_ = 0;
  }
  return objections_;
}

void StandingObjections::note(std::vector<Objection> all) {
  objections_ = std::move(all);
}

}  // namespace tributary::controller
