// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "reduce/kernel.h"
#include "reference.h"
#include "support/simd_targets.h"

namespace tributary::reduce {
namespace {

using namespace reference;
using tributary::test::for_each_target;

constexpr std::size_t count = 37;  // whole vectors and a tail on every target

// count x a op b, as elements.
template <class T>
std::vector<T> reduce(wire::Operator op, T a, T b) {
  const auto& k = kernel(TypeOf<T>::value, op);
  const std::vector<T> as(count, a);
  const std::vector<T> bs(count, b);
  std::vector<std::byte> accumulator(count * k.accumulator_bytes);
  std::vector<T> result(count);
  k.load(accumulator.data(), as.data(), count);
  k.accumulate(accumulator.data(), bs.data(), count);
  k.store(result.data(), accumulator.data(), count);
  return result;
}

template <class T>
class FloatKernelOf : public testing::Test {};
using FloatTypes = testing::Types<float, double, half, bfloat16, float8_e4m3, float8_e5m2>;
TYPED_TEST_SUITE(FloatKernelOf, FloatTypes);

template <class T>
T nan_of() {
  return T(std::numeric_limits<float>::quiet_NaN());
}

template <class T>
double as_double(T value) {
  if constexpr (is_narrow_float<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

TYPED_TEST(FloatKernelOf, nan_propagates_from_either_side) {
  const TypeParam nan = nan_of<TypeParam>();
  const TypeParam one(1.0F);
  for_each_target([&](const std::string& target) {
    for (const auto op :
         {wire::Operator::sum, wire::Operator::min, wire::Operator::max, wire::Operator::prod}) {
      SCOPED_TRACE(target + ' ' + std::string(wire::name(op)));
      for (const auto& result : {reduce(op, nan, one), reduce(op, one, nan)}) {
        for (const TypeParam value : result) {
          ASSERT_TRUE(std::isnan(as_double(value)));
        }
      }
    }
  });
}

// All types except E4M3 have infinities.
template <class T>
class InfiniteKernelOf : public testing::Test {};
using InfiniteTypes = testing::Types<float, double, half, bfloat16, float8_e5m2>;
TYPED_TEST_SUITE(InfiniteKernelOf, InfiniteTypes);

TYPED_TEST(InfiniteKernelOf, infinities_order_and_cancel) {
  const TypeParam plus(std::numeric_limits<float>::infinity());
  const TypeParam minus(-std::numeric_limits<float>::infinity());
  for_each_target([&](const std::string& target) {
    SCOPED_TRACE(target);
    EXPECT_EQ(as_double(reduce(wire::Operator::min, plus, minus).back()), -INFINITY);
    EXPECT_EQ(as_double(reduce(wire::Operator::max, plus, minus).front()), INFINITY);
    EXPECT_TRUE(std::isnan(as_double(reduce(wire::Operator::sum, plus, minus).back())));
  });
}

template <class T>
class IntegerKernelOf : public testing::Test {};
using IntegerTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(IntegerKernelOf, IntegerTypes);

TYPED_TEST(IntegerKernelOf, sum_and_prod_wrap_and_extremes_order) {
  constexpr auto lowest = std::numeric_limits<TypeParam>::min();
  constexpr auto highest = std::numeric_limits<TypeParam>::max();
  const auto all = [](TypeParam value) { return std::vector<TypeParam>(count, value); };
  for_each_target([&](const std::string& target) {
    SCOPED_TRACE(target);
    EXPECT_EQ(reduce(wire::Operator::sum, highest, TypeParam{1}), all(lowest));
    EXPECT_EQ(reduce(wire::Operator::prod, lowest, TypeParam{-1}), all(lowest));
    EXPECT_EQ(reduce(wire::Operator::prod, highest, highest), all(1));
    EXPECT_EQ(reduce(wire::Operator::min, lowest, highest), all(lowest));
    EXPECT_EQ(reduce(wire::Operator::max, highest, lowest), all(highest));
    EXPECT_EQ(reduce(wire::Operator::max, TypeParam{-1}, TypeParam{0}), all(0));
    for (const auto truth : {lowest, highest, TypeParam{-1}, TypeParam{2}}) {
      EXPECT_EQ(reduce(wire::Operator::logical_and, truth, TypeParam{1}), all(1));
      EXPECT_EQ(reduce(wire::Operator::logical_and, truth, TypeParam{0}), all(0));
      EXPECT_EQ(reduce(wire::Operator::logical_or, TypeParam{0}, truth), all(1));
      EXPECT_EQ(reduce(wire::Operator::logical_xor, truth, TypeParam{0}), all(1));
      EXPECT_EQ(reduce(wire::Operator::logical_xor, truth, TypeParam{4}), all(0));
    }
    EXPECT_EQ(reduce(wire::Operator::logical_or, TypeParam{0}, TypeParam{0}), all(0));
  });
}

// Every bit pattern through load and store: 65536 elements, so all lanes of all targets.
template <class T>
void expect_all_patterns_like_scalar() {
  std::vector<std::uint16_t> patterns(0x10000);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    patterns[i] = static_cast<std::uint16_t>(i);
  }
  const auto& k = kernel(TypeOf<T>::value, wire::Operator::sum);
  std::vector<float> wide(patterns.size());
  std::vector<std::uint16_t> back(patterns.size());
  k.load(wide.data(), patterns.data(), patterns.size());
  k.store(back.data(), wide.data(), patterns.size());
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    T element;
    element.bits = patterns[i];
    const auto expected = static_cast<float>(element);
    ASSERT_EQ(std::memcmp(&wide[i], &expected, sizeof expected), 0) << std::hex << i;
    ASSERT_EQ(back[i], T(expected).bits) << std::hex << i;
  }
}

TEST(Float16Kernels, convert_every_pattern_like_the_scalar_type) {
  for_each_target([](const std::string& target) {
    SCOPED_TRACE(target);
    expect_all_patterns_like_scalar<half>();
    expect_all_patterns_like_scalar<bfloat16>();
  });
}

// f32 values around every rounding boundary.
TEST(Float16Kernels, round_like_the_scalar_type) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += 0x3001) {
    for (const std::uint32_t near : {0U, 0xfffU, 0x1000U, 0x1001U, 0x7fffU, 0x8000U, 0x8001U}) {
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits & ~0xffffULL) | near));
    }
  }
  for_each_target([&](const std::string& target) {
    SCOPED_TRACE(target);
    std::vector<std::uint16_t> f16(values.size());
    std::vector<std::uint16_t> bf16(values.size());
    kernel(wire::ElementType::f16, wire::Operator::sum)
        .store(f16.data(), values.data(), f16.size());
    kernel(wire::ElementType::bf16, wire::Operator::sum)
        .store(bf16.data(), values.data(), bf16.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(f16[i], half(values[i]).bits) << std::bit_cast<std::uint32_t>(values[i]);
      ASSERT_EQ(bf16[i], bfloat16(values[i]).bits) << std::bit_cast<std::uint32_t>(values[i]);
    }
  });
}

// 2048 + 1 is not a half; f32 accumulation keeps the ones until the sum is sent on.
TEST(Float16Kernels, accumulate_in_f32) {
  const auto& k = kernel(wire::ElementType::f16, wire::Operator::sum);
  const half big(2048.0F);
  const half one(1.0F);
  half result;
  float accumulator = 0;
  k.load(&accumulator, &big, 1);
  k.accumulate(&accumulator, &one, 1);
  k.accumulate(&accumulator, &one, 1);
  k.store(&result, &accumulator, 1);
  EXPECT_EQ(static_cast<float>(result), 2050.0F);
}

}  // namespace
}  // namespace tributary::reduce
