// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include "host/c/tributary.h"
#include "host/error.h"

namespace tributary::host::c {

// Keeps the message for tributary_last_error() of this thread.
tributary_result say(const Error& error);

template <typename T>
tributary_result say(const Result<T>& result) {
  return result ? TRIBUTARY_SUCCESS : say(result.error());
}

// No exception leaves the library by way of C.
template <typename Body>
tributary_result guarded(Body body) {
  try {
    return say(body());
  } catch (const std::exception& error) {
    return say(
        Error{Error::Code::internal, std::string("out of memory, or worse: ") + error.what()});
  }
}

}  // namespace tributary::host::c
