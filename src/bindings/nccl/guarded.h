// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include "bindings/nccl/abi.h"
#include "bindings/nccl/log.h"

namespace tributary::nccl {

// No exception may leave by way of C.
template <typename Body>
Result guarded(Body body) {
  try {
    return body();
  } catch (const std::exception& error) {
    warn(std::string("out of memory, or worse: ") + error.what());
    return Result::system_error;
  }
}

}  // namespace tributary::nccl
