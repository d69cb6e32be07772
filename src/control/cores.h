// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace tributary::control {

// What cores = "auto" means: the CPUs this thread may run on, at most eight, and one of them left
// to everything else where there are more than two. Ask before EAL pins the thread.
std::vector<unsigned> automatic_cores();

}  // namespace tributary::control
