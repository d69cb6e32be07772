// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/handlers/handler.h"
#include "reduce/handlers/slot.h"
#include "wire/element.h"

namespace tributary::reduce {

// What the runs of a handler may take in the mean, for each KiB of elements. A run over less than
// that may take as long as one over a KiB.
inline constexpr std::uint32_t handler_ns_per_kib_max = 20'000;

using ReadNanoseconds = std::uint64_t (*)();

// From now on runs are measured by this clock, which any core reads at any time, and a handler that
// exceeds its budget is closed. Null: nobody measures. So it is at the beginning, as on hosts a
// handler delays its own ranks only.
void measure_handlers(ReadNanoseconds clock);

// Runs the handler of the slot, and measures some of the runs. Several cores may do so at once.
void run(const Handler& handler, HandlerSlot& slot, void* accumulator, const void* elements,
         std::size_t n);

// Forgets what was measured, when no core runs the slot's handler.
void measure_anew(HandlerSlot& slot);

// Returns whether the operator is a handler that is loaded, but was closed because it is too slow.
inline bool is_too_slow(wire::Operator op) {
  if (!wire::is_handler(op)) {
    return false;
  }
  const auto& slot = handler_slots[wire::handler_number(op)];
  return slot.is_too_slow.load(std::memory_order_acquire) &&
         slot.type.load(std::memory_order_acquire) != HandlerSlot::no_type;
}

}  // namespace tributary::reduce
