// SPDX-License-Identifier: BSD-3-Clause
#include "host/exact/specials.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "host/exact/formats.h"
#include "numbers.h"
#include "worlds.h"

namespace tributary::host::exact::test {
namespace {

constexpr std::uint8_t both_infinities = plus_infinity_mark | minus_infinity_mark;

template <typename T>
std::vector<std::uint8_t> marks_of(const std::vector<T>& values, wire::ElementType type) {
  std::vector<std::uint8_t> marks(values.size());
  find_specials(marks, elements_of(values).data(), type);
  return marks;
}

TEST(Specials, HaveMarksOfTheirOwn) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto type : float_types) {
    with_float(type, [&]<typename T>(T) {
      const auto nan = std::bit_cast<T>(Format<T>::nan);
      const std::vector<T> values = {number<T>(1), number<T>(-0.0), nan};
      EXPECT_EQ(marks_of(values, type), (std::vector<std::uint8_t>{0, 0, nan_mark}));
      if (Format<T>::has_infinity) {
        const std::vector<T> infinities = {number<T>(infinity), number<T>(-infinity)};
        EXPECT_EQ(marks_of(infinities, type),
                  (std::vector<std::uint8_t>{plus_infinity_mark, minus_infinity_mark}));
      }
    });
  }
}

TEST(Specials, ReplaceWhatHasAMark) {
  auto elements = elements_of(std::vector<float>(6, 2.5f));
  const std::vector<std::uint8_t> marks = {
      0,        plus_infinity_mark, minus_infinity_mark,
      nan_mark, both_infinities,    static_cast<std::uint8_t>(nan_mark | minus_infinity_mark)};
  put_specials(elements.data(), marks, wire::ElementType::f32);
  const auto bits = values_of<std::uint32_t>(elements);
  EXPECT_EQ(bits, (std::vector<std::uint32_t>{std::bit_cast<std::uint32_t>(2.5f), 0x7f800000u,
                                              0xff800000u, 0x7fc00000u, 0x7fc00000u, 0x7fc00000u}));
}

}  // namespace
}  // namespace tributary::host::exact::test
