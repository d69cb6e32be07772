// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/job.h"
#include "protocols/canary/wire.h"

namespace tributary::host {

// Proves that a request, failure or pending was made by a rank of the job: SipHash-2-4 under the
// call's key.
std::uint64_t control_tag(const JobKey& key, wire::CanaryKind kind, std::uint32_t id,
                          std::uint32_t rank);

}  // namespace tributary::host
