// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/block_values.h"

#include <cstring>
#include <type_traits>

#include "reduce/combine.h"
#include "reduce/element_types.h"
#include "wire/crc32.h"
#include "wire/key.h"

namespace tributary::traffic {
namespace {

using wire::ElementType;
using wire::Operator;

// Returns the magnitude up to which 64 numbers, added in any order, are exact: bf16 has 8
// significant bits, f16 11, f32 24, f64 53. Integers wrap.
std::int64_t magnitude_max(ElementType type) {
  switch (type) {
    case ElementType::bf16:
      return 3;
    case ElementType::f16:
      return 31;
    case ElementType::f32:
      return 262143;
    case ElementType::f64:
      return std::int64_t{1} << 46;
    default:
      return 0;
  }
}

bool is_float8(ElementType type) {
  return type == ElementType::f8e4m3 || type == ElementType::f8e5m2;
}

// 8-bit floats have three or four significant bits, too few for 64 addends: in each place only four
// ranks have another number than 0, of 2 at most.
std::int64_t float8_value(Operator op, std::uint32_t ranks, std::uint32_t rank,
                          std::uint64_t common, std::uint64_t own) {
  if (op != Operator::sum) {
    return static_cast<std::int64_t>(own % 15) - 7;
  }
  const auto first = static_cast<std::uint32_t>(common % ranks);
  const bool counts = (rank + ranks - first) % ranks < 4;
  const std::int64_t magnitude = !counts ? 0 : (own & 2) != 0 ? 2 : 1;
  return (own & 1) != 0 ? -magnitude : magnitude;
}

// In half of the places no rank decides; in the others, one rank in eight does.
std::int64_t logical_value(Operator op, std::uint64_t common, std::uint64_t own) {
  const bool is_rare = own >> 61 == 0;
  const bool are_alike = (common & 1) != 0;
  const bool is_true = op == Operator::logical_and  ? are_alike || !is_rare
                       : op == Operator::logical_or ? !are_alike && is_rare
                                                    : own >> 63 != 0;
  return is_true ? static_cast<std::int64_t>(own | 0x11) : 0;
}

// The upper half has the value, one of few so that the index often decides, and the lower half the
// index.
std::int64_t pair_value(std::uint64_t own) {
  const auto value = static_cast<std::int64_t>(own >> 61) - 4;
  return (value << 32) | static_cast<std::int64_t>(own & 0x7fffffff);
}

std::int64_t factor(std::uint32_t ranks, std::uint32_t rank, std::size_t i) {
  const std::uint64_t place = wire::mix_key(i, 0);
  std::int64_t value = (wire::mix_key(place, rank) & 1) != 0 ? -1 : 1;
  value *= rank == (place >> 8) % ranks ? 2 : 1;
  value *= rank == (place >> 32) % ranks ? 3 : 1;
  return value;
}

template <typename T>
T element_of(std::int64_t value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (reduce::is_indexed<T>) {
    return {static_cast<decltype(T::value)>(value >> 32), static_cast<std::int32_t>(value)};
  } else if constexpr (std::is_same_v<T, reduce::int4_pair>) {
    return {static_cast<int>(value), static_cast<int>(value >> 4)};
  } else {
    return T(static_cast<float>(value));
  }
}

// Opaque types have no sums, so that nothing is written.
void encode(ElementType type, std::int64_t value, std::byte* to) {
  if (wire::is_opaque(type)) {
    return;
  }
  reduce::with_type(reduce::AllTypes{}, type, [&]<typename T>(T) {
    const auto element = element_of<T>(value);
    std::memcpy(to, &element, sizeof element);
  });
}

// Returns what an integer of this type would hold: order is that of the element, not of 64 bits.
std::int64_t narrow(ElementType type, std::int64_t value) {
  switch (type) {
    case ElementType::i4:
    case ElementType::i8:
      return static_cast<std::int8_t>(value);
    case ElementType::i16:
      return static_cast<std::int16_t>(value);
    case ElementType::i32:
      return static_cast<std::int32_t>(value);
    default:
      return value;
  }
}

std::int64_t combine_i4(Operator op, std::int64_t a, std::int64_t b) {
  const auto upper = [](std::int64_t number) { return number >> 4; };
  const auto lower = [](std::int64_t number) { return static_cast<std::int8_t>(number << 4) >> 4; };
  const auto half = [op](std::int64_t x, std::int64_t y) {
    return reduce::combine(op, x, y) & 0xf;
  };
  return static_cast<std::int8_t>(half(upper(a), upper(b)) << 4 | half(lower(a), lower(b)));
}

// Two pairs are ordered as their numbers are. Where the greatest value comes first, but still the
// least index, the order is that of numbers whose upper halves are inverted.
std::int64_t combine_pairs(Operator op, std::int64_t a, std::int64_t b) {
  const std::int64_t turned = op == Operator::maxloc ? ~std::int64_t{0xffffffff} : 0;
  return (b ^ turned) < (a ^ turned) ? b : a;
}

std::int64_t combine(ElementType type, Operator op, std::int64_t a, std::int64_t b) {
  return wire::is_pair(type)       ? combine_pairs(op, a, b)
         : type == ElementType::i4 ? combine_i4(op, a, b)
                                   : reduce::combine(op, a, b);
}

}  // namespace

std::int64_t BlockValues::value(ElementType type, Operator op, std::uint32_t ranks,
                                std::uint32_t rank, std::size_t i) {
  const std::uint64_t common = wire::mix_key(i, 0);
  const std::uint64_t own = wire::mix_key(common, rank + 1);
  if (op == Operator::prod) {
    return factor(ranks, rank, i);
  }
  if (wire::is_pair(type)) {
    return pair_value(own);
  }
  if (is_float8(type)) {
    return float8_value(op, ranks, rank, common, own);
  }
  if (op >= Operator::logical_and) {
    return narrow(type, logical_value(op, common, own));
  }
  if (const auto limit = magnitude_max(type); limit != 0) {
    return static_cast<std::int64_t>(own % static_cast<std::uint64_t>(2 * limit + 1)) - limit;
  }
  // Bits that all have in common, or that nobody has, keep 64 ranks from all ones or zeros.
  const std::uint64_t bits = op == Operator::bit_and  ? common | own
                             : op == Operator::bit_or ? common & own
                                                      : own;
  return narrow(type, static_cast<std::int64_t>(bits));
}

BlockValues::BlockValues(ElementType type, Operator op, std::uint32_t ranks, std::size_t elements)
    : ranks_(ranks),
      element_bytes_(wire::element_bytes(type)),
      block_bytes_(elements * element_bytes_),
      row_bytes_((elements + shifts) * element_bytes_),
      rows_((ranks + 1) * row_bytes_) {
  for (std::size_t i = 0; i < elements + shifts; ++i) {
    std::int64_t total = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto own = value(type, op, ranks, rank, i);
      total = rank == 0 ? own : combine(type, op, total, own);
      encode(type, own, rows_.data() + rank * row_bytes_ + i * element_bytes_);
    }
    encode(type, total, rows_.data() + ranks * row_bytes_ + i * element_bytes_);
  }
  for (std::uint32_t row = 0; row <= ranks; ++row) {
    for (std::uint32_t shift = 0; shift < shifts; ++shift) {
      crcs_.push_back(wire::crc32(0, window(row, shift)));
    }
  }
}

}  // namespace tributary::traffic
