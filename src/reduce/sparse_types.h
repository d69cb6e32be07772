// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "reduce/float16.h"
#include "wire/element.h"

namespace tributary::reduce {

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

}  // namespace tributary::reduce
