// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <thread>

#include "host/error.h"

namespace tributary::host {

// Starts a thread of the library's own with all signals blocked: those of the application are none
// of its business.
Result<std::thread> start_thread(std::function<void()> body);

}  // namespace tributary::host
