// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/table.h"

#include <utility>

#include "reduce/handlers/budget.h"
#include "reduce/handlers/slot.h"

namespace tributary::reduce {

constinit std::array<HandlerSlot, wire::handlers_max> handler_slots{};

namespace {

// Lets cores find a handler that can combine. The type is stored last, so that a core that finds it
// finds the rest.
void show(HandlerSlot& slot, const Handler& handler) {
  slot.mark.store(handler.mark(), std::memory_order_release);
  slot.type.store(static_cast<std::uint8_t>(handler.type()), std::memory_order_release);
}

}  // namespace

tl::expected<void, std::string> HandlerTable::load(unsigned number,
                                                   std::unique_ptr<Handler> handler) {
  if (number >= wire::handlers_max) {
    return tl::make_unexpected("there is no handler " + std::to_string(number) +
                               "; choose a number from 0 to " +
                               std::to_string(wire::handlers_max - 1));
  }
  auto& entry = entries_[number];
  if (entry.handler != nullptr) {
    return tl::make_unexpected("handler " + std::to_string(number) + " is taken, by " +
                               entry.handler->name() +
                               "; unload that first, or choose another number");
  }
  entry = {std::move(handler), false};
  const Handler& loaded = *entry.handler;
  auto& slot = handler_slots[number];
  measure_anew(slot);
  const auto size_class = HandlerSlot::size_class(wire::element_bytes(loaded.type()));
  slot.running[size_class].store(&loaded, std::memory_order_release);
  show(slot, loaded);
  return {};
}

bool HandlerTable::close(unsigned number) {
  if (number >= wire::handlers_max || entries_[number].handler == nullptr ||
      entries_[number].closed) {
    return false;
  }
  entries_[number].closed = true;
  handler_slots[number].type.store(HandlerSlot::no_type, std::memory_order_release);
  handler_slots[number].mark.store(0, std::memory_order_release);
  return true;
}

void HandlerTable::reopen(unsigned number) {
  if (number < wire::handlers_max && entries_[number].closed) {
    entries_[number].closed = false;
    show(handler_slots[number], *entries_[number].handler);
  }
}

std::unique_ptr<Handler> HandlerTable::take(unsigned number) {
  if (number >= wire::handlers_max || !entries_[number].closed) {
    return nullptr;
  }
  for (auto& running : handler_slots[number].running) {
    running.store(nullptr, std::memory_order_release);
  }
  entries_[number].closed = false;
  return std::move(entries_[number].handler);
}

std::vector<HandlerTable::Row> HandlerTable::list() const {
  std::vector<Row> rows;
  for (unsigned number = 0; number < wire::handlers_max; ++number) {
    const auto& [handler, closed] = entries_[number];
    if (handler != nullptr) {
      const auto& slot = handler_slots[number];
      rows.push_back({number, handler->name(), handler->type(), handler->mark(),
                      handler->is_native(), closed,
                      slot.is_too_slow.load(std::memory_order_acquire),
                      slot.ns_per_kib.load(std::memory_order_relaxed)});
    }
  }
  return rows;
}

HandlerTable& handlers() {
  static HandlerTable& table = *new HandlerTable;
  return table;
}

}  // namespace tributary::reduce
