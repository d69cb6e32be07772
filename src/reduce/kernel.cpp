// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/kernel.h"

#include <cassert>

#include "reduce/families.h"
#include "reduce/handlers/slot.h"

namespace tributary::reduce {

const Kernel& kernel(wire::ElementType type, wire::Operator op) {
  assert(wire::is_valid(type, op));
  if (wire::is_handler(op)) {
    return handler_kernel(type, op);
  }
  switch (type) {
    case wire::ElementType::f32:
    case wire::ElementType::f64:
      return float_kernel(type, op);
    case wire::ElementType::f16:
    case wire::ElementType::bf16:
      return float16_kernel(type, op);
    case wire::ElementType::f8e4m3:
    case wire::ElementType::f8e5m2:
      return float8_kernel(type, op);
    case wire::ElementType::f32_i32:
    case wire::ElementType::f64_i32:
    case wire::ElementType::i32_i32:
    case wire::ElementType::i64_i32:
      return indexed_kernel(type, op);
    default:
      return integer_kernel(type, op);
  }
}

const Kernel* find_kernel(wire::ElementType type, wire::Operator op) {
  if (wire::is_handler(op)) {
    const auto& slot = handler_slots[wire::handler_number(op)];
    if (slot.type.load(std::memory_order_acquire) != static_cast<std::uint8_t>(type) ||
        slot.is_too_slow.load(std::memory_order_acquire)) {
      return nullptr;
    }
  }
  return &kernel(type, op);
}

}  // namespace tributary::reduce
