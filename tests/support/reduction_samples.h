// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "wire/element.h"

// These are contributions of every element type, and what every operator makes of them, without the
// code under test.
namespace tributary::test {

using wire::ElementType;
using wire::Operator;

// Encodes 1, 2, 3 or 6, or, for integers, 0. An i4 has that number twice, a pair has it as its
// value.
inline std::vector<std::byte> encode(ElementType type, int value) {
  static const std::map<int, std::uint16_t> f16 = {
      {1, 0x3c00}, {2, 0x4000}, {3, 0x4200}, {6, 0x4600}};
  static const std::map<int, std::uint16_t> bf16 = {
      {1, 0x3f80}, {2, 0x4000}, {3, 0x4040}, {6, 0x40c0}};
  static const std::map<int, std::uint8_t> e4m3 = {{1, 0x38}, {2, 0x40}, {3, 0x44}, {6, 0x4c}};
  static const std::map<int, std::uint8_t> e5m2 = {{1, 0x3c}, {2, 0x40}, {3, 0x42}, {6, 0x46}};
  const auto bytes_of = [](auto number) {
    std::vector<std::byte> bytes(sizeof number);
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
  };
  const auto with_index = [&](auto number) {
    auto bytes = bytes_of(number);
    const auto index = bytes_of(std::int32_t{70 - value});
    bytes.insert(bytes.end(), index.begin(), index.end());
    bytes.resize(wire::element_bytes(type));
    return bytes;
  };
  switch (type) {
    case ElementType::f32:
      return bytes_of(static_cast<float>(value));
    case ElementType::f64:
      return bytes_of(static_cast<double>(value));
    case ElementType::f16:
      return bytes_of(f16.at(value));
    case ElementType::bf16:
      return bytes_of(bf16.at(value));
    case ElementType::i8:
      return bytes_of(static_cast<std::int8_t>(value));
    case ElementType::i16:
      return bytes_of(static_cast<std::int16_t>(value));
    case ElementType::i32:
      return bytes_of(std::int32_t{value});
    case ElementType::i4:
      return bytes_of(static_cast<std::uint8_t>(value * 0x11));
    case ElementType::f8e4m3:
      return bytes_of(e4m3.at(value));
    case ElementType::f8e5m2:
      return bytes_of(e5m2.at(value));
    case ElementType::f32_i32:
      return with_index(static_cast<float>(value));
    case ElementType::f64_i32:
      return with_index(static_cast<double>(value));
    case ElementType::i32_i32:
      return with_index(std::int32_t{value});
    case ElementType::i64_i32:
      return with_index(std::int64_t{value});
    case ElementType::i64:
    case ElementType::opaque4:  // only handlers combine these
    case ElementType::opaque8:
    case ElementType::opaque16:
      break;
  }
  return bytes_of(std::int64_t{value});
}

inline std::vector<std::byte> repeat(const std::vector<std::byte>& element, std::size_t count) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.insert(all.end(), element.begin(), element.end());
  }
  return all;
}

// Returns what the contributions 1, 2 and 3 are reduced to.
inline int expected(Operator op) {
  constexpr int results[wire::operator_count] = {6,         1, 3, 6, 1 & 2 & 3, 1 | 2 | 3,
                                                 1 ^ 2 ^ 3, 1, 1, 1, 1,         3};
  return results[static_cast<std::size_t>(op)];
}

using Pair = std::pair<ElementType, Operator>;

inline std::vector<Pair> valid_pairs() {
  std::vector<Pair> pairs;
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    for (std::size_t op = 0; op < wire::operator_count; ++op) {
      const Pair pair{static_cast<ElementType>(type), static_cast<Operator>(op)};
      if (wire::is_valid(pair.first, pair.second)) {
        pairs.push_back(pair);
      }
    }
  }
  return pairs;
}

inline std::string pair_name(const ::testing::TestParamInfo<Pair>& info) {
  return std::string(wire::name(info.param.first)) + "_" +
         std::string(wire::name(info.param.second));
}

}  // namespace tributary::test
