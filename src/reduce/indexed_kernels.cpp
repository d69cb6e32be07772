// SPDX-License-Identifier: BSD-3-Clause
// Pairs of a value and an index are taken one by one: they are few, and a vector of them would have
// to be torn apart first.
#include <cstring>

#include "reduce/families.h"
#include "reduce/indexed.h"

namespace tributary::reduce {
namespace {

template <typename Pair>
void copy(void* to, const void* from, std::size_t n) {
  std::memmove(to, from, n * sizeof(Pair));
}

template <typename Pair, bool greatest_first>
void accumulate(void* accumulator, const void* elements, std::size_t n) {
  auto* to = static_cast<std::byte*>(accumulator);
  const auto* from = static_cast<const std::byte*>(elements);
  for (std::size_t i = 0; i < n; ++i, to += sizeof(Pair), from += sizeof(Pair)) {
    Pair a;
    Pair b;
    std::memcpy(&a, to, sizeof a);
    std::memcpy(&b, from, sizeof b);
    if (goes_before<greatest_first>(b, a)) {
      std::memcpy(to, from, sizeof b);
    }
  }
}

template <typename Pair, bool greatest_first>
constexpr Kernel indexed_kernel_of = {&copy<Pair>, &accumulate<Pair, greatest_first>, &copy<Pair>,
                                      sizeof(Pair), true};

template <typename Value>
const Kernel& find(wire::Operator op) {
  using Pair = indexed<Value>;
  return op == wire::Operator::maxloc ? indexed_kernel_of<Pair, true>
                                      : indexed_kernel_of<Pair, false>;
}

}  // namespace

const Kernel& indexed_kernel(wire::ElementType type, wire::Operator op) {
  switch (type) {
    case wire::ElementType::f32_i32:
      return find<float>(op);
    case wire::ElementType::f64_i32:
      return find<double>(op);
    case wire::ElementType::i32_i32:
      return find<std::int32_t>(op);
    default:
      return find<std::int64_t>(op);
  }
}

}  // namespace tributary::reduce
