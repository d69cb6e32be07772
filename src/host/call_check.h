// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/call.h"
#include "host/communicator_options.h"
#include "host/error.h"

namespace tributary::host {

// Whether the arguments of a collective make sense on this rank; the error says which do not. Any
// thread may ask at any time.
Result<void> check(const Call& call, const CommunicatorOptions& options);
Result<void> check(const SparseBuffers& buffers);

}  // namespace tributary::host
