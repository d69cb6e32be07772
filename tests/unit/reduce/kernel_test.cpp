// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/kernel.h"

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "reference.h"
#include "support/simd_targets.h"

namespace tributary::reduce {
namespace {

using namespace reference;
using tributary::test::for_each_target;

// Values for which operators have different results: the whole range of integers (so that sums and
// products wrap), and zeros; floats of mixed magnitude and sign, but no zeros, whose sign may be
// either; pairs of few values, so that the index decides.
template <class T>
T random_value(std::mt19937_64& random) {
  if constexpr (is_float<T>) {
    const double mantissa = std::uniform_real_distribution<double>(-1, 1)(random);
    const int exponent = std::uniform_int_distribution<int>(-6, 6)(random);
    if constexpr (std::is_same_v<T, double>) {
      return std::ldexp(mantissa, exponent);
    } else {
      const T value(static_cast<float>(std::ldexp(mantissa, exponent)));
      return static_cast<float>(value) == 0 ? T(1.0F) : value;
    }
  } else if constexpr (is_indexed<T>) {
    const int value = std::uniform_int_distribution<int>(-3, 3)(random);
    return {static_cast<decltype(T::value)>(value), static_cast<std::int32_t>(random())};
  } else if constexpr (std::is_same_v<T, int4_pair>) {
    int4_pair pair;
    pair.bits = static_cast<std::uint8_t>(random());
    return pair;
  } else {
    return random() % 4 == 0 ? T{} : static_cast<T>(random());
  }
}

template <class T>
std::vector<T> random_values(std::size_t n, std::mt19937_64& random) {
  std::vector<T> values(n);
  for (auto& value : values) {
    value = random_value<T>(random);
  }
  return values;
}

// n objects of type U at an odd address, with guard bytes around them.
template <class U>
class Unaligned {
 public:
  Unaligned(std::size_t n, std::size_t shift) : n_(n), at_(guard + shift) {
    bytes_.assign(at_ + n * sizeof(U) + guard, std::byte{0xa5});
  }
  void* data() { return bytes_.data() + at_; }
  void fill(const std::vector<U>& from) { copy(data(), from.data(), n_); }
  std::vector<U> values() {
    std::vector<U> to(n_);
    copy(to.data(), data(), n_);
    return to;
  }
  bool guards_intact() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      if ((i < at_ || i >= at_ + n_ * sizeof(U)) && bytes_[i] != std::byte{0xa5}) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t guard = 128;
  static void copy(void* to, const void* from, std::size_t n) {
    if (n > 0) {
      std::memcpy(to, from, n * sizeof(U));
    }
  }

  std::size_t n_;
  std::size_t at_;
  std::vector<std::byte> bytes_;
};

template <class T>
void check(wire::Operator op, std::size_t n, std::size_t shift) {
  SCOPED_TRACE(testing::Message() << wire::name(TypeOf<T>::value) << ' ' << wire::name(op)
                                  << " n=" << n << " shift=" << shift);
  using Accumulator = decltype(round_to_accumulator<T>(Wide<T>{}));
  const auto& k = kernel(TypeOf<T>::value, op);
  ASSERT_EQ(k.accumulator_bytes, sizeof(Accumulator));
  ASSERT_EQ(k.in_place, (std::is_same_v<T, Accumulator>));

  std::mt19937_64 random(n * 131 + shift);
  Unaligned<Accumulator> accumulator(n, shift);
  Unaligned<T> elements(n, shift + 1);
  Unaligned<T> result(n, shift + 3);
  std::vector<Accumulator> expected(n);
  for (int contribution = 0; contribution < 3; ++contribution) {
    const auto values = random_values<T>(n, random);
    elements.fill(values);
    (contribution == 0 ? k.load : k.accumulate)(accumulator.data(), elements.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      const Wide<T> value = widen(values[i]);
      expected[i] = round_to_accumulator<T>(
          contribution == 0 ? value : reduced(op, static_cast<Wide<T>>(expected[i]), value));
    }
  }
  EXPECT_EQ(accumulator.values(), expected);

  k.store(result.data(), accumulator.data(), n);
  const auto stored = result.values();
  for (std::size_t i = 0; i < n; ++i) {
    const T rounded(expected[i]);
    ASSERT_EQ(std::memcmp(&stored[i], &rounded, sizeof(T)), 0) << "element " << i;
  }
  EXPECT_TRUE(accumulator.guards_intact());
  EXPECT_TRUE(elements.guards_intact());
  EXPECT_TRUE(result.guards_intact());
}

template <class T>
void check_lengths(wire::Operator op) {
  for (std::size_t n = 0; n <= 70; ++n) {
    check<T>(op, n, n % 7);
  }
  for (const std::size_t n : {127U, 255U, 256U, 257U, 352U, 997U, 1000U, 1024U, 2239U}) {
    check<T>(op, n, n % 5);
  }
}

template <class T>
class KernelOf : public testing::Test {};
using ElementTypes =
    testing::Types<float, double, half, bfloat16, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t, int4_pair, float8_e4m3, float8_e5m2, indexed<float>,
                   indexed<double>, indexed<std::int32_t>, indexed<std::int64_t>>;
TYPED_TEST_SUITE(KernelOf, ElementTypes);

TYPED_TEST(KernelOf, every_operator_and_target_agrees_with_the_wider_reference) {
  for_each_target([](const std::string& target) {
    SCOPED_TRACE(target);
    for (std::size_t op = 0; op < wire::operator_count; ++op) {
      if (wire::is_valid(TypeOf<TypeParam>::value, static_cast<wire::Operator>(op))) {
        check_lengths<TypeParam>(static_cast<wire::Operator>(op));
      }
    }
  });
}

TYPED_TEST(KernelOf, load_and_store_may_work_on_the_spot_when_in_place) {
  const auto type = TypeOf<TypeParam>::value;
  const auto& k = kernel(type, wire::any_operator(type));
  if (!k.in_place) {
    return;
  }
  std::mt19937_64 random(1);
  auto values = random_values<TypeParam>(100, random);
  const auto before = values;
  k.load(values.data(), values.data(), values.size());
  k.store(values.data(), values.data(), values.size());
  EXPECT_EQ(std::memcmp(values.data(), before.data(), 100 * sizeof(TypeParam)), 0);
}

}  // namespace
}  // namespace tributary::reduce
