// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "packet/clock.h"

namespace tributary::flare {

// Nothing is sent up again, nor asked for again, more often than this.
inline constexpr Duration repeat_interval = std::chrono::milliseconds(1);

// Marks the time if it has come to tell others of a block, or to ask them, once more.
inline bool is_time(Time& told, Time now) {
  if (now - told < repeat_interval) {
    return false;
  }
  told = now;
  return true;
}

}  // namespace tributary::flare
