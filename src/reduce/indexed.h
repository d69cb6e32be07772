// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

namespace tributary::reduce {

// An `indexed` is a value and where it was found, as minloc and maxloc have them. This one is laid
// out like MPI's MPI_FLOAT_INT and MPI_2INT.
template <typename Value>
struct indexed {
  Value value{};
  std::int32_t index = 0;

  friend constexpr bool operator==(const indexed&, const indexed&) = default;
};

// This one is laid out like MPI_DOUBLE_INT, and MPI_LONG_INT where a long has 64 bits. Compilers
// fill these up to the alignment of the value; here that has a name, so that it is not left to
// chance what is sent.
template <typename Value>
requires(sizeof(Value) == 8) struct indexed<Value> {
  Value value{};
  std::int32_t index = 0;
  std::int32_t unused = 0;

  friend constexpr bool operator==(const indexed&, const indexed&) = default;
};

static_assert(sizeof(indexed<float>) == 8 && sizeof(indexed<std::int32_t>) == 8);
static_assert(sizeof(indexed<double>) == 16 && sizeof(indexed<std::int64_t>) == 16);

template <typename Value>
constexpr bool is_nan(Value value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return value != value;
  } else {
    return false;
  }
}

// Returns whether `b` goes before `a`, where the least value comes first, or the greatest. A NaN
// comes before all numbers, so that it is not lost; of equal values, or NaNs, the lower index does.
// That order is total but for pairs that are equal in both: so it does not matter how pairs are
// grouped.
template <bool greatest_first, typename Value>
constexpr bool goes_before(const indexed<Value>& b, const indexed<Value>& a) {
  if (is_nan(a.value) || is_nan(b.value)) {
    return is_nan(b.value) && (!is_nan(a.value) || b.index < a.index);
  }
  if (a.value == b.value) {
    return b.index < a.index;
  }
  return greatest_first ? a.value < b.value : b.value < a.value;
}

}  // namespace tributary::reduce
