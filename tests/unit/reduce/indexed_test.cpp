// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/indexed.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include <gtest/gtest.h>

#include "reduce/kernel.h"
#include "reference.h"

namespace tributary::reduce {
namespace {

using wire::Operator;

template <class Value>
indexed<Value> reduce(Operator op, indexed<Value> a, const indexed<Value>& b) {
  kernel(reference::TypeOf<indexed<Value>>::value, op).accumulate(&a, &b, 1);
  return a;
}

template <class Value>
class Indexed : public testing::Test {};
using Values = testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Indexed, Values);

TYPED_TEST(Indexed, is_laid_out_like_a_struct_of_both) {
  struct Plain {
    TypeParam value;
    std::int32_t index;
  };
  static_assert(std::is_standard_layout_v<indexed<TypeParam>>);
  EXPECT_EQ(sizeof(indexed<TypeParam>), sizeof(Plain));
  EXPECT_EQ(offsetof(indexed<TypeParam>, index), offsetof(Plain, index));
}

TYPED_TEST(Indexed, the_best_value_brings_its_index) {
  constexpr auto lowest = std::numeric_limits<TypeParam>::lowest();
  constexpr auto highest = std::numeric_limits<TypeParam>::max();
  const indexed<TypeParam> low{lowest, 9};
  const indexed<TypeParam> high{highest, 5};
  EXPECT_EQ(reduce(Operator::minloc, low, high), low);
  EXPECT_EQ(reduce(Operator::minloc, high, low), low);
  EXPECT_EQ(reduce(Operator::maxloc, low, high), high);
  EXPECT_EQ(reduce(Operator::maxloc, high, low), high);
}

TYPED_TEST(Indexed, of_equal_values_the_lower_index_stays) {
  const indexed<TypeParam> first{TypeParam{4}, -7};
  const indexed<TypeParam> second{TypeParam{4}, 2};
  for (const auto op : {Operator::minloc, Operator::maxloc}) {
    EXPECT_EQ(reduce(op, first, second), first);
    EXPECT_EQ(reduce(op, second, first), first);
  }
}

template <class Value>
class IndexedFloat : public testing::Test {};
using FloatValues = testing::Types<float, double>;
TYPED_TEST_SUITE(IndexedFloat, FloatValues);

TYPED_TEST(IndexedFloat, a_nan_is_not_lost_and_the_first_stays) {
  constexpr auto nan = std::numeric_limits<TypeParam>::quiet_NaN();
  constexpr auto infinity = std::numeric_limits<TypeParam>::infinity();
  const indexed<TypeParam> first{nan, 3};
  const indexed<TypeParam> second{nan, 8};
  for (const auto op : {Operator::minloc, Operator::maxloc}) {
    for (const auto number : {-infinity, TypeParam{0}, infinity}) {
      const indexed<TypeParam> other{number, 1};
      EXPECT_TRUE(std::isnan(reduce(op, second, other).value));
      EXPECT_TRUE(std::isnan(reduce(op, other, second).value));
      EXPECT_EQ(reduce(op, other, second).index, 8);
    }
    EXPECT_EQ(reduce(op, first, second).index, 3);
    EXPECT_EQ(reduce(op, second, first).index, 3);
  }
}

TYPED_TEST(IndexedFloat, zeros_of_both_signs_are_equal) {
  const indexed<TypeParam> negative{TypeParam{-0.0}, 6};
  const indexed<TypeParam> positive{TypeParam{0.0}, 4};
  for (const auto op : {Operator::minloc, Operator::maxloc}) {
    EXPECT_EQ(reduce(op, negative, positive).index, 4);
    EXPECT_EQ(reduce(op, positive, negative).index, 4);
  }
}

}  // namespace
}  // namespace tributary::reduce
