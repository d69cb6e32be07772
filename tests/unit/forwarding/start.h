// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "packet/clock.h"

namespace tributary::forwarding {

// The time at which tests begin; earlier times have to be possible.
inline const Time start = Time{} + std::chrono::seconds(100);

}  // namespace tributary::forwarding
