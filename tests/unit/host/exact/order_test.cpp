// SPDX-License-Identifier: BSD-3-Clause
#include "host/exact/order.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "host/exact/formats.h"
#include "numbers.h"
#include "worlds.h"

namespace tributary::host::exact::test {
namespace {

using wire::ElementType;
using wire::Operator;

// Returns all bit patterns, or some of all magnitudes.
template <typename Bits>
std::vector<Bits> many_bits() {
  std::vector<Bits> all;
  if constexpr (sizeof(Bits) <= 2) {
    for (std::uint32_t bits = 0; bits <= std::numeric_limits<Bits>::max(); ++bits) {
      all.push_back(static_cast<Bits>(bits));
    }
  } else {
    std::mt19937_64 random(9);
    for (int i = 0; i < 20'000; ++i) {
      all.push_back(static_cast<Bits>(random()));
    }
  }
  return all;
}

template <typename Key, typename Bits>
Key key_of(Bits bits, ElementType type, Operator op) {
  Key key = 0;
  to_keys(reinterpret_cast<std::byte*>(&key), reinterpret_cast<const std::byte*>(&bits), 1, type,
          op);
  return key;
}

template <typename Key, typename Bits>
Bits back_from(Key key, ElementType type, Operator op) {
  Bits bits = 0;
  from_keys(reinterpret_cast<std::byte*>(&bits), reinterpret_cast<const std::byte*>(&key), 1, type,
            op);
  return bits;
}

template <typename T>
void expect_ordered(ElementType type) {
  using Of = Format<T>;
  using Bits = typename Of::Bits;
  using Key = std::make_signed_t<Bits>;
  const auto all = many_bits<Bits>();
  for (const auto op : {Operator::min, Operator::max}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto one = all[i];
      const auto other = all[(i * 7919 + 13) % all.size()];
      const auto one_key = key_of<Key>(one, type, op);
      const auto other_key = key_of<Key>(other, type, op);
      if (Of::is_nan(one)) {
        ASSERT_EQ(one_key, op == Operator::max ? std::numeric_limits<Key>::max()
                                               : std::numeric_limits<Key>::min());
        ASSERT_EQ((back_from<Key, Bits>(one_key, type, op)), Of::nan);
        continue;
      }
      ASSERT_EQ((back_from<Key, Bits>(one_key, type, op)), one);
      const auto a = host::test::to_wide(std::bit_cast<T>(one));
      const auto b = host::test::to_wide(std::bit_cast<T>(other));
      if (!Of::is_nan(other) && a != b) {
        ASSERT_EQ(one_key < other_key, a < b) << a << " and " << b;
      }
    }
  }
}

TEST(Keys, AreOrderedAsTheFloatsAre) {
  for (const auto type : float_types) {
    SCOPED_TRACE(wire::name(type));
    with_float(type, [&]<typename T>(T) { expect_ordered<T>(type); });
    EXPECT_EQ(wire::element_bytes(keys_of(type)), wire::element_bytes(type));
    EXPECT_TRUE(wire::is_integer(keys_of(type)));
  }
}

TEST(Keys, TellZerosApart) {
  const auto op = Operator::max;
  const auto minus =
      key_of<std::int32_t>(std::bit_cast<std::uint32_t>(-0.0f), ElementType::f32, op);
  EXPECT_LT(minus, key_of<std::int32_t>(std::uint32_t{0}, ElementType::f32, op));
}

TEST(Pairs, ThatAreEqualHaveTheSameBits) {
  const float other_nan = std::bit_cast<float>(0xffc00123u);
  const std::vector<reduce::indexed<float>> pairs = {
      {-0.0f, 3}, {0.0f, 3}, {other_nan, 4}, {std::numeric_limits<float>::quiet_NaN(), 4}};
  auto elements = elements_of(pairs);
  make_alike(elements.data(), elements.data(), pairs.size(), ElementType::f32_i32);
  EXPECT_EQ(load<std::uint64_t>(elements.data(), 0), load<std::uint64_t>(elements.data(), 1));
  EXPECT_EQ(load<std::uint64_t>(elements.data(), 2), load<std::uint64_t>(elements.data(), 3));
  EXPECT_EQ(load<std::uint32_t>(elements.data(), 0), 0u);
}

TEST(Pairs, KeepWhatTheyMeanAndNothingElse) {
  std::vector<reduce::indexed<std::int64_t>> pairs = {{-5, 7}, {-5, 7}};
  pairs[1].unused = 99;
  const auto elements = elements_of(pairs);
  std::vector<reduce::indexed<std::int64_t>> alike(2);
  make_alike(reinterpret_cast<std::byte*>(alike.data()), elements.data(), 2, ElementType::i64_i32);
  EXPECT_EQ(alike[0], pairs[0]);
  EXPECT_EQ(alike[1], pairs[0]);
}

}  // namespace
}  // namespace tributary::host::exact::test
