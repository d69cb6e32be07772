// SPDX-License-Identifier: BSD-3-Clause
#include "host/exact/order.h"

#include <bit>
#include <cstdint>
#include <type_traits>

#include "host/element_types.h"
#include "host/exact/formats.h"
#include "reduce/indexed.h"

namespace tributary::host::exact {
namespace {

// Returns a key that is as great as can be, or as small. It is a NaN's bits, so that no number has
// it.
template <typename Of>
constexpr typename Of::Bits nan_key(wire::Operator op) {
  return op == wire::Operator::max ? Of::magnitude : Of::sign;
}

// Among negative numbers the greater magnitude is the lesser number. It is its own inverse.
template <typename Of>
constexpr typename Of::Bits turned(typename Of::Bits bits) {
  return Of::is_negative(bits) ? static_cast<typename Of::Bits>(bits ^ Of::magnitude) : bits;
}

template <typename Value>
reduce::indexed<Value> alike_of(reduce::indexed<Value> pair) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (reduce::is_nan(pair.value)) {
      pair.value = std::bit_cast<Value>(Format<Value>::nan);
    } else if (pair.value == Value{}) {
      pair.value = Value{};
    }
  }
  if constexpr (sizeof(Value) == 8) {
    pair.unused = 0;
  }
  return pair;
}

template <typename Value>
void copy_alike(std::byte* alike, const std::byte* pairs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    store(alike, i, alike_of(load<reduce::indexed<Value>>(pairs, i)));
  }
}

}  // namespace

wire::ElementType keys_of(wire::ElementType type) {
  return integer_of(wire::element_bytes(type));
}

void to_keys(std::byte* keys, const std::byte* elements, std::size_t count, wire::ElementType type,
             wire::Operator op) {
  with_float(type, [&]<typename T>(T) {
    using Of = Format<T>;
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = load<typename Of::Bits>(elements, i);
      store(keys, i, Of::is_nan(bits) ? nan_key<Of>(op) : turned<Of>(bits));
    }
  });
}

void from_keys(std::byte* elements, const std::byte* keys, std::size_t count,
               wire::ElementType type, wire::Operator op) {
  with_float(type, [&]<typename T>(T) {
    using Of = Format<T>;
    for (std::size_t i = 0; i < count; ++i) {
      const auto key = load<typename Of::Bits>(keys, i);
      store(elements, i, key == nan_key<Of>(op) ? Of::nan : turned<Of>(key));
    }
  });
}

void make_alike(std::byte* alike, const std::byte* pairs, std::size_t count,
                wire::ElementType type) {
  switch (type) {
    case wire::ElementType::f64_i32:
      return copy_alike<double>(alike, pairs, count);
    case wire::ElementType::i32_i32:
      return copy_alike<std::int32_t>(alike, pairs, count);
    case wire::ElementType::i64_i32:
      return copy_alike<std::int64_t>(alike, pairs, count);
    default:
      return copy_alike<float>(alike, pairs, count);
  }
}

}  // namespace tributary::host::exact
