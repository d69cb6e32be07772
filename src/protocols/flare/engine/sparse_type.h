// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reduce/float16.h"
#include "wire/element.h"

namespace tributary::flare {

// Calls f with a value of the C++ type of a sparse block's elements (wire::is_flare_sparse_type).
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

// Elements behind two bytes of an offset are not aligned.
template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace tributary::flare
