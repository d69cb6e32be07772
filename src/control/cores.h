// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/config.h"

namespace tributary::control {

// This header says what cores = "auto" means.

struct Cpu {
  unsigned number = 0;
  unsigned package = 0;
  unsigned core = 0;  // within its package; hyper-threads share it
  unsigned node = 0;  // of memory
};

// The packet cores are for this work.
struct Work {
  std::vector<unsigned> nodes;    // of the cards; none: unknown, or no cards
  std::optional<unsigned> cores;  // more of them would find nothing to do
};

struct Placement {
  std::vector<unsigned> cpus;
  std::string why;
};

// Chooses among `cpus`, which this process may use: one hyper-thread of each physical core, on the
// nodes of the cards. If these are all physical cores, and more than two, one is left to everything
// else.
Placement place_cores(const std::vector<Cpu>& cpus, const Work& work);

// Returns the CPUs that this thread may run on, as described below `root`. It is to be asked before
// the EAL pins the thread.
std::vector<Cpu> allowed_cpus(const std::string& root = "/sys");
Work work_of(const DaemonConfig& config, const std::string& root = "/sys");

// Chooses cores for any work.
std::vector<unsigned> automatic_cores();

}  // namespace tributary::control
