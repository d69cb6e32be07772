// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "host/error.h"

namespace tributary::host::verbs {

// An RDMA device does not do `what`. `code` is what errno may be; some functions of libibverbs set
// that, others return it.
tl::unexpected<Error> refused(const std::string& what, const std::string& device, int code);

}  // namespace tributary::host::verbs
