// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "reduce/handlers/slot.h"
#include "wire/element.h"

namespace tributary::reduce {

// Returns the mark of the operator's handler. Everybody who combines two partial sums adds it to
// the sum of their fingerprints. It is 0 for built-in operators, and for a handler that is closed,
// too slow or not there: then ranks do not believe the result.
inline std::uint64_t mark_of(wire::Operator op) {
  if (!wire::is_handler(op)) {
    return 0;
  }
  const auto& slot = handler_slots[wire::handler_number(op)];
  return slot.is_too_slow.load(std::memory_order_acquire)
             ? 0
             : slot.mark.load(std::memory_order_acquire);
}

}  // namespace tributary::reduce
