// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <thread>

#include "host/error.h"

namespace tributary::host {

// A thread of the library's own: the application's signals are none of its business.
Result<std::thread> start_thread(std::function<void()> body);

}  // namespace tributary::host
