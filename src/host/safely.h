// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include "host/error.h"

namespace tributary::host {

// Carries out what a thread of the library's own does for others. Whoever has no memory left has
// come nobody knows how far, perhaps with the caller's buffers: nothing is to come of that any
// more, and `abort` keeps a rank that is out of step from going on.
template <typename Run, typename Abort>
Result<void> safely(Run run, Abort abort) {
  try {
    return run();
  } catch (const std::exception& error) {
    abort();
    return fail(Error::Code::internal, std::string("this rank has no memory left, and takes no "
                                                   "part in collectives any more: ") +
                                           error.what());
  }
}

}  // namespace tributary::host
