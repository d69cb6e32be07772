// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "host/error.h"

namespace tributary::host::verbs {

// Returns the error that an RDMA device does not do `what`. `code` is a value of errno: some
// functions of libibverbs set errno, others return the value.
tl::unexpected<Error> refused(const std::string& what, const std::string& device, int code);

}  // namespace tributary::host::verbs
