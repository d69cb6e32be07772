// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "wire/element.h"

namespace tributary {

// The most elements of a vector that indices of 32 bits can name.
inline constexpr std::size_t sparse_count_max = 0xffffffff;

// A sparse vector has elements that stand for themselves, so that each can be left out: no pairs,
// and not two in a byte. 8-bit floats are none either, as an index takes four times as much as one.
constexpr bool is_sparse_type(wire::ElementType type) {
  return type <= wire::ElementType::i64;
}

// Has those elements of a vector that are not zero or, where that takes fewer bytes, all of them.
template <typename T>
struct SparseVector {
  std::size_t count = 0;               // elements, those that are zero included
  std::vector<std::uint32_t> indices;  // strictly increasing; empty where all elements are there
  std::vector<T> values;

  bool is_dense() const { return indices.empty() && values.size() == count; }

  // Writes all elements. Precondition: `out` has `count` of them.
  void expand(std::span<T> out) const {
    if (is_dense()) {
      std::copy(values.begin(), values.end(), out.begin());
      return;
    }
    std::fill(out.begin(), out.end(), T{});
    for (std::size_t i = 0; i < indices.size(); ++i) {
      out[indices[i]] = values[i];
    }
  }
};

// The same with elements of a type that is known only when the program runs.
struct SparseElements {
  std::size_t count = 0;
  wire::ElementType type = wire::ElementType::f32;
  std::vector<std::uint32_t> indices;
  std::vector<std::byte> values;

  bool is_dense() const {
    return indices.empty() && values.size() == count * wire::element_bytes(type);
  }

  // Writes all elements. Precondition: there is room for `count` of them.
  void expand(void* out) const {
    if (count == 0) {
      return;
    }
    if (is_dense()) {
      std::memcpy(out, values.data(), values.size());
      return;
    }
    const auto bytes = wire::element_bytes(type);
    auto* const elements = static_cast<std::byte*>(out);
    std::memset(elements, 0, count * bytes);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::memcpy(elements + indices[i] * bytes, values.data() + i * bytes, bytes);
    }
  }

  // Precondition: T is the type of the elements.
  template <typename T>
  SparseVector<T> as() const {
    SparseVector<T> typed{count, indices, std::vector<T>(values.size() / sizeof(T))};
    if (!values.empty()) {
      std::memcpy(typed.values.data(), values.data(), values.size());
    }
    return typed;
  }
};

}  // namespace tributary
