// SPDX-License-Identifier: BSD-3-Clause
#include "property/reference.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "reduce/combine.h"

namespace tributary::test {
namespace {

using wire::ElementType;
using wire::Operator;

// Sixteen-bit floats by the book: sign, exponent, fraction. Only what they represent exactly is
// ever stored.
struct Layout {
  int exponent_bits;
  int fraction_bits;
};
constexpr Layout layout_of(ElementType type) {
  return type == ElementType::f16 ? Layout{5, 10} : Layout{8, 7};
}

std::uint64_t narrow(double value, ElementType type) {
  const auto [exponent_bits, fraction_bits] = layout_of(type);
  if (value == 0) {
    return 0;
  }
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(value), &exponent) * 2 - 1;  // in [0, 1)
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(mantissa, fraction_bits));
  return (std::uint64_t{value < 0} << 15) |
         (static_cast<std::uint64_t>(exponent - 1 + bias) << fraction_bits) | fraction;
}

double widen(std::uint64_t bits, ElementType type) {
  const auto [exponent_bits, fraction_bits] = layout_of(type);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto magnitude = bits & 0x7fff;
  if (magnitude == 0) {
    return 0;
  }
  const auto fraction = static_cast<double>(magnitude & ((1u << fraction_bits) - 1));
  const auto exponent = static_cast<int>(magnitude >> fraction_bits) - bias;
  const double value = std::ldexp(1 + std::ldexp(fraction, -fraction_bits), exponent);
  return (bits & 0x8000) != 0 ? -value : value;
}

std::uint64_t bits_of(double value, ElementType type) {
  if (type == ElementType::f64) {
    return std::bit_cast<std::uint64_t>(value);
  }
  return type == ElementType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                  : narrow(value, type);
}

double float_of(std::uint64_t bits, ElementType type) {
  if (type == ElementType::f64) {
    return std::bit_cast<double>(bits);
  }
  return type == ElementType::f32
             ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
             : widen(bits, type);
}

std::int64_t signed_of(std::uint64_t bits, std::size_t bytes) {
  const auto unused = static_cast<int>(64 - 8 * bytes);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

// Of integers modulo 2^64; the caller keeps the low bytes, which do not depend on the others.
std::uint64_t combined(std::uint64_t a, std::uint64_t b, ElementType type, Operator op) {
  if (!wire::is_integer(type)) {
    return bits_of(reduce::combine(op, float_of(a, type), float_of(b, type)), type);
  }
  const auto bytes = wire::element_bytes(type);
  return static_cast<std::uint64_t>(reduce::combine(op, signed_of(a, bytes), signed_of(b, bytes)));
}

std::uint64_t element(const Data& data, std::size_t index, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, data.data() + index * bytes, bytes);
  return bits;
}

// Sixteen factors of 1, -1 and at most four of 2 stay far from every limit; sums of sixteen small
// integers are exact even with the eight bits of bf16.
double random_float(Random& random, ElementType type, Operator op, std::uint32_t rank) {
  const auto draw = random();
  if (op == Operator::prod) {
    const double factor = rank % 4 == 0 && (draw & 2) != 0 ? 2 : 1;
    return (draw & 1) != 0 ? -factor : factor;
  }
  const bool wide = wire::element_bytes(type) > 2;
  const std::int64_t most = wide ? 1 << 19 : op == Operator::sum ? 15 : 200;
  return static_cast<double>(static_cast<std::int64_t>(draw % (2 * most + 1)) - most);
}

}  // namespace

Data random_data(Random& random, ElementType type, Operator op, std::size_t elements,
                 std::uint32_t rank) {
  const auto bytes = wire::element_bytes(type);
  Data data(elements * bytes);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto bits =
        wire::is_integer(type) ? random() : bits_of(random_float(random, type, op, rank), type);
    std::memcpy(data.data() + i * bytes, &bits, bytes);
  }
  return data;
}

Data reduced(const std::vector<Data>& inputs, ElementType type, Operator op) {
  const auto bytes = wire::element_bytes(type);
  auto result = inputs.front();
  for (std::size_t i = 0; i < result.size() / bytes; ++i) {
    auto sum = element(result, i, bytes);
    for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
      const auto term = element(inputs[rank], i, bytes);
      sum = combined(sum, term, type, op);
    }
    std::memcpy(result.data() + i * bytes, &sum, bytes);
  }
  return result;
}

}  // namespace tributary::test
