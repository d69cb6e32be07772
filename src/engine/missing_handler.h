// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "packet/fate.h"
#include "reduce/handlers/budget.h"
#include "wire/element.h"

namespace tributary::engine {

// Returns why a packet is dropped for whose operator there is no kernel.
inline DropReason missing_handler(wire::Operator op) {
  return reduce::is_too_slow(op) ? DropReason::handler_too_slow : DropReason::no_handler;
}

}  // namespace tributary::engine
