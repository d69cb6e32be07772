// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "control/config.h"
#include "dataplane/memory_plan.h"

namespace tributary::dataplane {

// This is DPDK's environment: memory and pinned threads. A process has one, and starts it once.
class Eal {
 public:
  static tl::expected<std::unique_ptr<Eal>, std::string> start(const control::DaemonConfig& config,
                                                               const MemoryPlan& memory);
  // rte_eal_cleanup() is not called: DPDK's interrupt thread goes on, and what it looks at would be
  // unmapped under it (memif ended one process in four that way). It would do nothing that the end
  // of the process does not do, as nothing lies in files.
  ~Eal() = default;
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

 private:
  Eal() = default;
};

}  // namespace tributary::dataplane
