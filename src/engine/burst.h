// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/actions.h"
#include "packet/clock.h"

namespace tributary::engine {

// What every decision about a packet needs: the time of its burst, and whom to tell.
struct Burst {
  Time now;
  Actions& actions;
};

}  // namespace tributary::engine
