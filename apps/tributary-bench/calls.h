// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/error.h"
#include "placement.h"
#include "task.h"

namespace tributary::bench {

// Carries the collective out once, the way that the task says.
Result<void> call(const Task& task, Placement& placement);

}  // namespace tributary::bench
