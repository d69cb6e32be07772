// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/config.h"

namespace tributary::control {

// What cores = "auto" means.

struct Cpu {
  unsigned number = 0;
  unsigned package = 0;
  unsigned core = 0;  // within its package; several are its hyper-threads
  unsigned node = 0;  // of memory
};

// What the packet cores are for.
struct Work {
  std::vector<unsigned> nodes;    // that the cards are attached to; none: unknown, or no cards
  std::optional<unsigned> cores;  // more of them would find nothing to do
};

struct Placement {
  std::vector<unsigned> cpus;
  std::string why;
};

// Chooses among `cpus`, which this process may use: one hyper-thread of each physical core, on the
// nodes of the cards; one core is left to everything else if there are more than two.
Placement place_cores(const std::vector<Cpu>& cpus, const Work& work);

// The CPUs that this thread may run on, as described below `root`. Ask before EAL pins the thread.
std::vector<Cpu> allowed_cpus(const std::string& root = "/sys");
Work work_of(const DaemonConfig& config, const std::string& root = "/sys");

// For any work.
std::vector<unsigned> automatic_cores();

}  // namespace tributary::control
