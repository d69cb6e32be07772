// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tributary::perf {

// to[i] += from[i], unrolled by hand with the widest vectors that this CPU has: what the kernels
// are measured against.
void hand_sum(float* to, const float* from, std::size_t n);

// Which of them that is.
const char* hand_sum_target();

}  // namespace tributary::perf
