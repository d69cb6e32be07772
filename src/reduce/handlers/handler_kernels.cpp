// SPDX-License-Identifier: BSD-3-Clause
// Kernels are plain functions, to which references are kept for ever. So each number has functions
// of its own, which look up the handler that combines now.
#include <array>
#include <cstring>
#include <utility>

#include "reduce/families.h"
#include "reduce/handlers/budget.h"
#include "reduce/handlers/slot.h"

namespace tributary::reduce {
namespace {

template <std::size_t element_bytes>
void copy(void* to, const void* from, std::size_t n) {
  std::memmove(to, from, n * element_bytes);
}

template <unsigned number, std::size_t element_bytes>
void accumulate(void* accumulator, const void* elements, std::size_t n) {
  auto& slot = handler_slots[number];
  const auto& running = slot.running[HandlerSlot::size_class(element_bytes)];
  if (const Handler* handler = running.load(std::memory_order_acquire)) {
    run(*handler, slot, accumulator, elements, n);
  }
}

using KernelsOfSizes = std::array<Kernel, 5>;

template <unsigned number, std::size_t element_bytes>
constexpr Kernel make_kernel() {
  return {&copy<element_bytes>, &accumulate<number, element_bytes>, &copy<element_bytes>,
          element_bytes, true};
}

template <unsigned number>
constexpr KernelsOfSizes make_sizes() {
  return {make_kernel<number, 1>(), make_kernel<number, 2>(), make_kernel<number, 4>(),
          make_kernel<number, 8>(), make_kernel<number, 16>()};
}

template <unsigned... numbers>
constexpr std::array<KernelsOfSizes, sizeof...(numbers)> make_all(
    std::integer_sequence<unsigned, numbers...> /*of all handlers*/) {
  return {make_sizes<numbers>()...};
}

constexpr auto kernels = make_all(std::make_integer_sequence<unsigned, wire::handlers_max>());

}  // namespace

const Kernel& handler_kernel(wire::ElementType type, wire::Operator op) {
  const auto size_class = HandlerSlot::size_class(wire::element_bytes(type));
  return kernels[wire::handler_number(op)][size_class];
}

}  // namespace tributary::reduce
