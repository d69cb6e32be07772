// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reduce/float16.h"
#include "wire/element.h"

namespace tributary::host {

// Calls f with a value of the C++ type, which is one of those that a sparse allreduce takes.
template <typename F>
auto with_sparse_type(wire::ElementType type, F f) {
  using wire::ElementType;
  switch (type) {
    case ElementType::f32:
      return f(float{});
    case ElementType::f64:
      return f(double{});
    case ElementType::f16:
      return f(reduce::half{});
    case ElementType::bf16:
      return f(reduce::bfloat16{});
    case ElementType::i8:
      return f(std::int8_t{});
    case ElementType::i16:
      return f(std::int16_t{});
    case ElementType::i32:
      return f(std::int32_t{});
    default:
      return f(std::int64_t{});
  }
}

// The integer of so many bytes.
constexpr wire::ElementType integer_of(std::size_t bytes) {
  using wire::ElementType;
  return bytes == 1   ? ElementType::i8
         : bytes == 2 ? ElementType::i16
         : bytes == 4 ? ElementType::i32
                      : ElementType::i64;
}

// Element i of those that begin at `elements`, aligned or not.
template <typename T>
T load(const std::byte* elements, std::size_t i) {
  T value;
  std::memcpy(&value, elements + i * sizeof value, sizeof value);
  return value;
}
template <typename T>
void store(std::byte* elements, std::size_t i, T value) {
  std::memcpy(elements + i * sizeof value, &value, sizeof value);
}

}  // namespace tributary::host
