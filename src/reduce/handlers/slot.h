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
// writes it (handlers/table.h), but for what the cores measure (handlers/budget.h).
struct alignas(64) HandlerSlot {
  static constexpr std::uint8_t no_type = 0xff;

  // These are the type and the mark of the handler that new calls find.
  std::atomic<std::uint8_t> type{no_type};
  std::atomic<std::uint64_t> mark{0};
  // These handlers combine elements of 1, 2, 4, 8 and 16 bytes: one of them at most is not null. A
  // block that was begun under an earlier handler never has the next one run over elements of
  // another size.
  std::array<std::atomic<const Handler*>, 5> running{};
  // A core sets this; then the handler is as if it were closed, until another one is loaded.
  std::atomic<bool> is_too_slow{false};
  std::atomic<std::uint32_t> ns_per_kib{0};  // the last mean; 0: none yet
  // In a cache line of its own, as cores write to it.
  alignas(64) std::atomic<std::uint64_t> measured{0};

  static constexpr std::size_t size_class(std::size_t element_bytes) {
    return static_cast<std::size_t>(std::countr_zero(element_bytes));
  }
};
static_assert(HandlerSlot::size_class(wire::element_bytes_max) == 4);

extern std::array<HandlerSlot, wire::handlers_max> handler_slots;

}  // namespace tributary::reduce
