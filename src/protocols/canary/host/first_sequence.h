// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/job.h"

namespace tributary::host {

// Returns the number of the job's first block. A job that is started again under the same id has
// another key and begins elsewhere: it does not meet what switches still hold of the run before.
std::uint32_t first_sequence(const JobKey& key);

}  // namespace tributary::host
