// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "host/c/tributary.h"

namespace tributary::python {

// Throws the exception of tributary.errors that stands for `result`. Precondition: it is an error.
[[noreturn]] void raise(tributary_result result, const std::string& message);

// Throws if what this thread has just called failed.
void check(tributary_result result);

}  // namespace tributary::python
