// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/block_values.h"

#include <cstring>

#include "reduce/combine.h"
#include "reduce/float16.h"
#include "wire/crc32.h"
#include "wire/key.h"

namespace tributary::traffic {
namespace {

using wire::ElementType;
using wire::Operator;

// Magnitudes up to which 64 numbers, added in any order, are exact: bf16 has 8 significant bits,
// f16 11, f32 24, f64 53. Integers wrap.
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

std::int64_t factor(std::uint32_t ranks, std::uint32_t rank, std::size_t i) {
  const std::uint64_t place = wire::mix_key(i, 0);
  std::int64_t value = (wire::mix_key(place, rank) & 1) != 0 ? -1 : 1;
  value *= rank == (place >> 8) % ranks ? 2 : 1;
  value *= rank == (place >> 32) % ranks ? 3 : 1;
  return value;
}

template <typename T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void encode(ElementType type, std::int64_t value, std::byte* to) {
  switch (type) {
    case ElementType::f32:
      return put(to, static_cast<float>(value));
    case ElementType::f64:
      return put(to, static_cast<double>(value));
    case ElementType::f16:
      return put(to, reduce::half_bits_from_float(static_cast<float>(value)));
    case ElementType::bf16:
      return put(to, reduce::bfloat16_bits_from_float(static_cast<float>(value)));
    case ElementType::i8:
      return put(to, static_cast<std::int8_t>(value));
    case ElementType::i16:
      return put(to, static_cast<std::int16_t>(value));
    case ElementType::i32:
      return put(to, static_cast<std::int32_t>(value));
    case ElementType::i64:
      return put(to, value);
  }
}

// What an integer of this type would hold: order is that of the element, not of 64 bits.
std::int64_t narrow(ElementType type, std::int64_t value) {
  switch (type) {
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

}  // namespace

std::int64_t BlockValues::value(ElementType type, Operator op, std::uint32_t ranks,
                                std::uint32_t rank, std::size_t i) {
  const std::uint64_t common = wire::mix_key(i, 0);
  const std::uint64_t own = wire::mix_key(common, rank + 1);
  if (op == Operator::prod) {
    return factor(ranks, rank, i);
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
      total = rank == 0 ? own : reduce::combine(op, total, own);
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
