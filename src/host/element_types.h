// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reduce/element_types.h"
#include "wire/element.h"

namespace tributary::host {

using reduce::with_sparse_type;

// Returns the integer type of so many bytes.
constexpr wire::ElementType integer_of(std::size_t bytes) {
  using wire::ElementType;
  return bytes == 1   ? ElementType::i8
         : bytes == 2 ? ElementType::i16
         : bytes == 4 ? ElementType::i32
                      : ElementType::i64;
}

// Returns element i of those that begin at `elements`, aligned or not.
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
