// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "host/element_types.h"
#include "reduce/combine.h"
#include "reduce/element_types.h"
#include "wire/element.h"

// Input vectors and their expected reduction, in wider precision, for every type and operator.
namespace tributary::host::test {

using Elements = std::vector<std::byte>;

// Calls f with a value of the C++ type.
template <typename F>
auto with_type(wire::ElementType type, F f) {
  return reduce::with_type(reduce::AllTypes{}, type, f);
}

template <typename T>
T element_at(const Elements& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

using reduce::is_exact_type;
using reduce::is_float8;
using reduce::is_indexed;

template <typename T>
long double to_wide(T value) {
  if constexpr (std::is_same_v<T, reduce::half> || std::is_same_v<T, reduce::bfloat16> ||
                is_float8<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<long double>(value);
  }
}

// A different vector for every rank; factors of a product stay near 1. Of 8-bit floats eight ranks
// make sums and products without rounding.
template <typename T>
T input_value(std::uint32_t rank, std::size_t index, wire::Operator op) {
  const auto mixed = static_cast<std::uint32_t>((index * 2654435761u) ^ (rank * 40503u + 17u));
  const auto bits =
      op >= wire::Operator::logical_and && mixed % 3 == 0 ? 0 : mixed * 0x9e3779b97f4a7c15ULL >> 13;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if constexpr (std::is_same_v<T, reduce::int4_pair>) {
    return {static_cast<int>(bits & 0xf), static_cast<int>(bits >> 4 & 0xf)};
  } else if constexpr (is_indexed<T>) {
    return {static_cast<decltype(T::value)>(static_cast<int>(mixed % 7) - 3),
            static_cast<std::int32_t>(mixed >> 4)};
  } else if (is_float8<T> && op == wire::Operator::sum) {
    return T(static_cast<float>(mixed % 3) - 1.0f);
  } else if (is_float8<T> && op == wire::Operator::prod) {
    return T(mixed % 2 == 0 ? 2.0f : 0.5f);
  } else if (op == wire::Operator::prod) {
    return T(0.75f + 0.5f * static_cast<float>(mixed % 1024) / 1024.0f);
  } else {
    return T((static_cast<float>(mixed % 4096) - 2048.0f) / 256.0f);
  }
}

inline Elements input(std::uint32_t rank, std::size_t count, wire::ElementType type,
                      wire::Operator op) {
  Elements bytes(count * wire::element_bytes(type));
  with_type(type, [&]<typename T>(T) {
    for (std::size_t i = 0; i < count; ++i) {
      const T value = input_value<T>(rank, i, op);
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
  });
  return bytes;
}

// Unit roundoff of a stored element.
template <typename T>
long double roundoff() {
  if constexpr (std::is_same_v<T, reduce::half>) {
    return 0x1p-11L;
  } else if constexpr (std::is_same_v<T, reduce::bfloat16>) {
    return 0x1p-8L;
  } else if constexpr (is_float8<T>) {
    return 0;
  } else {
    return std::numeric_limits<T>::epsilon() / 2;
  }
}

// Elements of `actual` that are not the reduction of all ranks' input. Integers, pairs, 8-bit
// floats, min and max are exact. For a sum of n terms, n - 1 additions in any order err by at most
// (n - 1) u sum|x| to first order, and each rounding to 16 bits on the way (at most one per hop, n
// - 1 hops) is one more of the same kind in the 16-bit roundoff; likewise for products with |prod
// x|. The factor 1 + 2^-4 covers the higher orders.
inline std::size_t wrong_elements(const Elements& actual, std::uint32_t ranks, std::size_t count,
                                  wire::ElementType type, wire::Operator op) {
  return with_type(type, [&]<typename T>(T) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const T got = element_at<T>(actual, i);
      if constexpr (is_exact_type<T>) {
        T expected = input_value<T>(0, i, op);
        for (std::uint32_t rank = 1; rank < ranks; ++rank) {
          expected = reduce::combine(op, expected, input_value<T>(rank, i, op));
        }
        wrong += got != expected ? 1 : 0;
      } else {
        long double expected = to_wide(input_value<T>(0, i, op));
        long double magnitude = std::fabs(expected);
        for (std::uint32_t rank = 1; rank < ranks; ++rank) {
          const auto value = to_wide(input_value<T>(rank, i, op));
          switch (op) {
            case wire::Operator::min:
              expected = std::min(expected, value);
              break;
            case wire::Operator::max:
              expected = std::max(expected, value);
              break;
            case wire::Operator::prod:
              expected *= value;
              magnitude = std::fabs(expected);
              break;
            default:
              expected += value;
              magnitude += std::fabs(value);
          }
        }
        const bool exact = op == wire::Operator::min || op == wire::Operator::max;
        const long double tolerance =
            exact ? 0.0L
                  : 1.0625L * static_cast<long double>(ranks - 1) * roundoff<T>() * magnitude;
        wrong += std::fabs(to_wide(got) - expected) <= tolerance ? 0 : 1;
      }
    }
    return wrong;
  });
}

}  // namespace tributary::host::test
