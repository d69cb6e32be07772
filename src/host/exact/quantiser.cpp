// SPDX-License-Identifier: BSD-3-Clause
#include "host/exact/quantiser.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "host/element_types.h"
#include "host/exact/formats.h"

namespace tributary::host::exact {
namespace {

template <typename T>
using BitsOf = typename Format<T>::Bits;
template <typename T>
using IntegerOf = std::conditional_t<(sizeof(T) > 2), std::int64_t, std::int32_t>;

// Multiplies by 2^exponent, in two steps: a double has both factors as normal numbers, while 2^1074
// would be none.
class PowerOfTwo {
 public:
  explicit PowerOfTwo(int exponent)
      : first_(power(exponent / 2)), second_(power(exponent - exponent / 2)) {}

  double times(double value) const { return value * first_ * second_; }

 private:
  static double power(int exponent) {
    constexpr int bias = Format<double>::exponent_bias;
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + bias)
                                 << Format<double>::fraction_bits);
  }

  double first_;
  double second_;
};

// Calls f(chunk, its first element, how many) for each chunk.
template <typename F>
void for_chunks(std::size_t count, F f) {
  for (std::size_t chunk = 0; chunk < chunks_of(count); ++chunk) {
    const auto first = chunk * chunk_elements;
    f(chunk, first, std::min(chunk_elements, count - first));
  }
}

// Returns the least E for which all of such a magnitude are below 2^E, if they are normal numbers.
template <typename T>
std::int32_t exponent_above(BitsOf<T> magnitude) {
  const int field = static_cast<int>(magnitude >> Format<T>::fraction_bits);
  return std::max(field, 1) - Format<T>::exponent_bias + 1;
}

// The greatest magnitudes in a chunk.
template <typename T>
struct Greatest {
  BitsOf<T> finite = 0;
  BitsOf<T> any = 0;
};

template <typename T>
Greatest<T> greatest_of(const std::byte* elements, std::size_t n) {
  using Of = Format<T>;
  Greatest<T> greatest;
  for (std::size_t i = 0; i < n; ++i) {
    const auto magnitude = Of::magnitude_of(load<BitsOf<T>>(elements, i));
    const auto finite = magnitude < Of::beyond ? magnitude : BitsOf<T>{0};
    greatest.finite = std::max(greatest.finite, finite);
    greatest.any = std::max(greatest.any, magnitude);
  }
  return greatest;
}

template <typename T>
double value_of(BitsOf<T> bits) {
  const auto element = std::bit_cast<T>(bits);
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(element);
  } else {
    return static_cast<double>(static_cast<float>(element));
  }
}

// Returns the nearest integer, of two the even one: from 2^52 on all doubles are integers.
// Precondition: the value is a number that Integer has room for.
template <typename Integer>
Integer nearest(double value) {
  constexpr double all_integers = 0x1p52;
  const double shift = std::copysign(all_integers, value);
  const double rounded = std::fabs(value) < all_integers ? (value + shift) - shift : value;
  return static_cast<Integer>(rounded);
}

template <typename T>
void quantise_chunk(std::byte* integers, const std::byte* elements, std::size_t n,
                    const PowerOfTwo& scale) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = load<BitsOf<T>>(elements, i);
    const double value = Format<T>::is_finite(bits) ? value_of<T>(bits) : 0.0;
    store(integers, i, nearest<IntegerOf<T>>(scale.times(value)));
  }
}

// Rounds to what a float has room for, so that it can be rounded again to fewer bits, as if at
// once: what is lost sets the last bit that is kept (rounding to odd).
constexpr double to_odd(std::int32_t sum) {
  constexpr std::int64_t exact_below = 1 << 24;
  constexpr std::int64_t lost = 0x7f;
  const std::int64_t magnitude = sum < 0 ? -std::int64_t{sum} : std::int64_t{sum};
  if (magnitude < exact_below) {
    return sum;
  }
  const std::int64_t kept = (magnitude & ~lost) | ((magnitude & lost) != 0 ? lost + 1 : 0);
  return static_cast<double>(sum < 0 ? -kept : kept);
}

// Rounds once: multiplication by the unit, which is at least the least number above 0, is exact.
template <typename T>
T restored(IntegerOf<T> sum, const PowerOfTwo& unit) {
  if constexpr (std::is_same_v<T, double>) {
    return unit.times(static_cast<double>(sum));
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(unit.times(static_cast<double>(static_cast<float>(sum))));
  } else {
    return T(static_cast<float>(unit.times(to_odd(sum))));
  }
}

template <typename T>
void restore_chunk(std::byte* elements, const std::byte* integers, std::size_t n,
                   const PowerOfTwo& unit) {
  for (std::size_t i = 0; i < n; ++i) {
    store(elements, i, restored<T>(load<IntegerOf<T>>(integers, i), unit));
  }
}

// Returns the least E that ranks come to.
template <typename T>
std::int32_t least_exponent(int bits) {
  return bits + Format<T>::least;
}

// Bounds the exponent that the ranks agreed on for a chunk: it came from the network, and may be
// none that a double has.
template <typename T>
std::int32_t sound_exponent(std::int32_t agreed, int bits) {
  return std::clamp(agreed, least_exponent<T>(bits), Format<double>::exponent_bias + 1);
}

int bits_of(wire::ElementType type, std::uint32_t world_size) {
  constexpr int of_i64 = 62;
  constexpr int of_i32 = 30;
  const int of_world = static_cast<int>(std::bit_width(world_size - 1));
  return (wire::element_bytes(type) > 2 ? of_i64 : of_i32) - of_world;
}

}  // namespace

Quantiser::Quantiser(wire::ElementType type, std::uint32_t world_size)
    : type_(type), bits_(bits_of(type, world_size)) {}

wire::ElementType Quantiser::integers() const {
  return wire::element_bytes(type_) > 2 ? wire::ElementType::i64 : wire::ElementType::i32;
}

bool Quantiser::find_exponents(std::span<std::int32_t> exponents, const std::byte* elements,
                               std::size_t count) const {
  return with_float(type_, [&]<typename T>(T) {
    bool all_finite = true;
    for_chunks(count, [&](std::size_t chunk, std::size_t first, std::size_t n) {
      const auto greatest = greatest_of<T>(elements + first * sizeof(T), n);
      all_finite = all_finite && greatest.any < Format<T>::beyond;
      exponents[chunk] = std::max(exponent_above<T>(greatest.finite), least_exponent<T>(bits_));
    });
    return all_finite;
  });
}

void Quantiser::quantise(std::byte* integers, const std::byte* elements, std::size_t count,
                         std::span<const std::int32_t> exponents) const {
  with_float(type_, [&]<typename T>(T) {
    for_chunks(count, [&](std::size_t chunk, std::size_t first, std::size_t n) {
      const auto* const from = elements + first * sizeof(T);
      const auto own = exponent_above<T>(greatest_of<T>(from, n).finite);
      const auto exponent = sound_exponent<T>(std::max(exponents[chunk], own), bits_);
      quantise_chunk<T>(integers + first * sizeof(IntegerOf<T>), from, n,
                        PowerOfTwo(bits_ - exponent));
    });
  });
}

void Quantiser::restore(std::byte* elements, const std::byte* integers, std::size_t count,
                        std::span<const std::int32_t> exponents) const {
  with_float(type_, [&]<typename T>(T) {
    for_chunks(count, [&](std::size_t chunk, std::size_t first, std::size_t n) {
      const auto exponent = sound_exponent<T>(exponents[chunk], bits_);
      restore_chunk<T>(elements + first * sizeof(T), integers + first * sizeof(IntegerOf<T>), n,
                       PowerOfTwo(exponent - bits_));
    });
  });
}

}  // namespace tributary::host::exact
