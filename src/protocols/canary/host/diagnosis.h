// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "protocols/canary/host/collective_state.h"
#include "protocols/canary/host/leader.h"
#include "protocols/canary/host/worker.h"

namespace tributary::host {

// Tells people what a collective that is not done waits for: which ranks did not contribute, which
// leaders do not answer, and how far it came.
std::string diagnose(const CollectiveState& state, const CanaryWorker& worker,
                     const CanaryLeader& leader);

}  // namespace tributary::host
