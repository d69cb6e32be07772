// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "reduce/handlers/handler.h"
#include "wire/element.h"

namespace tributary::reduce {

// Packet cores read this of the handler under a number, without being told: one control thread
// writes it (handlers/table.h).
struct HandlerSlot {
  static constexpr std::uint8_t no_type = 0xff;

  // These are the type and the mark of the handler that new calls find.
  std::atomic<std::uint8_t> type{no_type};
  std::atomic<std::uint64_t> mark{0};
  // These handlers combine elements of 1, 2, 4, 8 and 16 bytes: one of them at most is not null. A
  // block that was begun under an earlier handler never has the next one run over elements of
  // another size.
  std::array<std::atomic<const Handler*>, 5> running{};

  static constexpr std::size_t size_class(std::size_t element_bytes) {
    return static_cast<std::size_t>(std::countr_zero(element_bytes));
  }
};
static_assert(HandlerSlot::size_class(wire::element_bytes_max) == 4);

extern std::array<HandlerSlot, wire::handlers_max> handler_slots;

}  // namespace tributary::reduce
