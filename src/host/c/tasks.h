// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/c/tributary.h"
#include "host/error.h"
#include "host/stream/stream.h"

namespace tributary::host::c {

// These return what a stream has to do for a collective of C's. One whose arguments make no sense
// is refused when its turn comes, so that it keeps its place in the order.
Result<Task> allreduce_task(const void* in, void* out, std::size_t count, tributary_type type,
                            tributary_operator op);
Result<Task> reduce_task(const void* in, void* out, std::size_t count, tributary_type type,
                         tributary_operator op, std::uint32_t root);
Result<Task> broadcast_task(void* inout, std::size_t count, tributary_type type,
                            std::uint32_t root);
Result<Task> barrier_task();
Result<Task> allgather_task(const void* in, void* out, std::size_t count, tributary_type type);
Result<Task> reduce_scatter_task(const void* in, void* out, std::size_t count, tributary_type type,
                                 tributary_operator op);
// The error is that there is no sketch.
Result<Task> sketched_task(const float* in, float* out, std::size_t count,
                           const tributary_sketch* sketch);

}  // namespace tributary::host::c
