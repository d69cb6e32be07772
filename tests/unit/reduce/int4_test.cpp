// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/int4.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reduce/kernel.h"
#include "support/simd_targets.h"

namespace tributary::reduce {
namespace {

using tributary::test::for_each_target;
using wire::Operator;

// The result for two numbers of four bits, from -8 to 7; only its low four bits count.
int defined(Operator op, int a, int b) {
  switch (op) {
    case Operator::sum:
      return a + b;
    case Operator::prod:
      return a * b;
    case Operator::min:
      return std::min(a, b);
    case Operator::max:
      return std::max(a, b);
    case Operator::bit_and:
      return a & b;
    case Operator::bit_or:
      return a | b;
    case Operator::bit_xor:
      return a ^ b;
    case Operator::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case Operator::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      return (a != 0) != (b != 0) ? 1 : 0;
  }
}

int signed_nibble(unsigned bits) {
  return static_cast<int>(bits & 7) - static_cast<int>(bits & 8);
}

TEST(Int4, the_first_number_is_the_low_half) {
  const int4_pair pair(3, -2);
  EXPECT_EQ(pair.bits, 0xe3);
  EXPECT_EQ(pair.first(), 3);
  EXPECT_EQ(pair.second(), -2);
  EXPECT_EQ(int4_pair(8, -9), int4_pair(-8, 7)) << "wraps";
}

// Every byte is combined with every other, so every number occurs in either half.
TEST(Int4, kernels_combine_all_bytes_as_two_numbers_each) {
  std::vector<std::uint8_t> a(0x10000);
  std::vector<std::uint8_t> b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<std::uint8_t>(i);
    b[i] = static_cast<std::uint8_t>(i >> 8);
  }
  for_each_target([&](const std::string& target) {
    for (auto op = Operator::sum; op <= Operator::logical_xor;
         op = static_cast<Operator>(static_cast<int>(op) + 1)) {
      SCOPED_TRACE(target + ' ' + std::string(wire::name(op)));
      auto result = a;
      kernel(wire::ElementType::i4, op).accumulate(result.data(), b.data(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto low = defined(op, signed_nibble(a[i]), signed_nibble(b[i])) & 15;
        const auto high = defined(op, signed_nibble(a[i] >> 4), signed_nibble(b[i] >> 4)) & 15;
        ASSERT_EQ(int{result[i]}, (high << 4) + low) << int{a[i]} << ' ' << int{b[i]};
      }
    }
  });
}

}  // namespace
}  // namespace tributary::reduce
