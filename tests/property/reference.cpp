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

// Floats of sixteen and eight bits by their definition: sign, exponent, fraction. Only values that
// they represent exactly are ever stored.
struct Layout {
  int exponent_bits;
  int fraction_bits;

  int sign_at() const { return exponent_bits + fraction_bits; }
};
constexpr Layout layout_of(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return {5, 10};
    case ElementType::f8e4m3:
      return {4, 3};
    case ElementType::f8e5m2:
      return {5, 2};
    default:
      return {8, 7};
  }
}

std::uint64_t narrow(double value, ElementType type) {
  const auto layout = layout_of(type);
  const auto [exponent_bits, fraction_bits] = layout;
  if (value == 0) {
    return 0;
  }
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(value), &exponent) * 2 - 1;  // in [0, 1)
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(mantissa, fraction_bits));
  return (std::uint64_t{value < 0} << layout.sign_at()) |
         (static_cast<std::uint64_t>(exponent - 1 + bias) << fraction_bits) | fraction;
}

double widen(std::uint64_t bits, ElementType type) {
  const auto layout = layout_of(type);
  const auto [exponent_bits, fraction_bits] = layout;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto sign = std::uint64_t{1} << layout.sign_at();
  const auto magnitude = bits & (sign - 1);
  if (magnitude == 0) {
    return 0;
  }
  const auto fraction = static_cast<double>(magnitude & ((1u << fraction_bits) - 1));
  const auto exponent = static_cast<int>(magnitude >> fraction_bits) - bias;
  const double value = std::ldexp(1 + std::ldexp(fraction, -fraction_bits), exponent);
  return (bits & sign) != 0 ? -value : value;
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

std::uint64_t combined_nibbles(std::uint64_t a, std::uint64_t b, Operator op) {
  const auto value_of = [](std::uint64_t bits) {
    return static_cast<std::int64_t>(bits & 7) - static_cast<std::int64_t>(bits & 8);
  };
  return static_cast<std::uint64_t>(reduce::combine(op, value_of(a), value_of(b))) & 15;
}

// Combines integers modulo 2^64; the caller keeps the low bytes, which do not depend on the others.
std::uint64_t combined(std::uint64_t a, std::uint64_t b, ElementType type, Operator op) {
  if (type == ElementType::i4) {
    return combined_nibbles(a >> 4, b >> 4, op) << 4 | combined_nibbles(a, b, op);
  }
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
// integers are exact even with the eight bits of bf16, and with the three of an f8e5m2 if only
// every fourth is not 0. Where there are more ranks, sixteen of the others, by the index, have
// small values, and all others what does not change the result.
double random_float(Random& random, ElementType type, Operator op, std::uint32_t rank,
                    std::size_t index) {
  const auto draw = random();
  const auto sixteen = rank / 16;
  if (op == Operator::prod) {
    const double factor = sixteen == 0 && rank % 4 == 0 && (draw & 2) != 0 ? 2 : 1;
    return (draw & 1) != 0 ? -factor : factor;
  }
  const auto bytes = wire::element_bytes(type);
  const bool is_sum = op == Operator::sum;
  const bool is_extra = is_sum && sixteen != 0;
  if (is_extra && (bytes == 1 || sixteen != index % 64)) {
    return 0;
  }
  if (bytes == 1 && is_sum && (rank + index) % 4 != 0) {
    return 0;
  }
  const std::int64_t most = bytes > 2    ? 1 << 19
                            : is_extra   ? 1
                            : bytes == 2 ? (is_sum ? 15 : 200)
                                         : (is_sum ? 2 : 7);
  return static_cast<double>(static_cast<std::int64_t>(draw % (2 * most + 1)) - most);
}

// Draws a value and an index. There are few values, so that the index often decides.
template <typename Value>
void store_pair(std::byte* to, std::uint64_t draw) {
  const auto value = static_cast<Value>(static_cast<int>(draw % 9) - 4);
  const auto index = static_cast<std::int32_t>(draw >> 32);
  std::memcpy(to, &value, sizeof value);
  std::memcpy(to + sizeof value, &index, sizeof index);
}

void random_pair(Random& random, ElementType type, std::byte* to) {
  const auto draw = random();
  switch (type) {
    case ElementType::f32_i32:
      return store_pair<float>(to, draw);
    case ElementType::f64_i32:
      return store_pair<double>(to, draw);
    case ElementType::i32_i32:
      return store_pair<std::int32_t>(to, draw);
    default:
      return store_pair<std::int64_t>(to, draw);
  }
}

template <typename Value>
bool is_better(const std::byte* candidate, const std::byte* than, Operator op) {
  Value value{};
  Value other{};
  std::int32_t index = 0;
  std::int32_t other_index = 0;
  std::memcpy(&value, candidate, sizeof value);
  std::memcpy(&other, than, sizeof other);
  std::memcpy(&index, candidate + sizeof value, sizeof index);
  std::memcpy(&other_index, than + sizeof other, sizeof other_index);
  if (value == other) {
    return index < other_index;
  }
  return (value < other) == (op == Operator::minloc);
}

bool is_better_pair(const std::byte* candidate, const std::byte* than, ElementType type,
                    Operator op) {
  switch (type) {
    case ElementType::f32_i32:
      return is_better<float>(candidate, than, op);
    case ElementType::f64_i32:
      return is_better<double>(candidate, than, op);
    case ElementType::i32_i32:
      return is_better<std::int32_t>(candidate, than, op);
    default:
      return is_better<std::int64_t>(candidate, than, op);
  }
}

void reduce_pair(const std::vector<Data>& inputs, ElementType type, Operator op, std::size_t at,
                 std::byte* result) {
  for (const auto& input : inputs) {
    if (is_better_pair(input.data() + at, result, type, op)) {
      std::memcpy(result, input.data() + at, wire::element_bytes(type));
    }
  }
}

}  // namespace

Data random_data(Random& random, ElementType type, Operator op, std::size_t elements,
                 std::uint32_t rank) {
  const auto bytes = wire::element_bytes(type);
  Data data(elements * bytes);
  for (std::size_t i = 0; i < elements; ++i) {
    if (wire::is_pair(type)) {
      random_pair(random, type, data.data() + i * bytes);
      continue;
    }
    const auto bits =
        wire::is_integer(type) ? random() : bits_of(random_float(random, type, op, rank, i), type);
    std::memcpy(data.data() + i * bytes, &bits, bytes);
  }
  return data;
}

Data reduced(const std::vector<Data>& inputs, ElementType type, Operator op) {
  const auto bytes = wire::element_bytes(type);
  auto result = inputs.front();
  for (std::size_t i = 0; i < result.size() / bytes; ++i) {
    if (wire::is_pair(type)) {
      reduce_pair(inputs, type, op, i * bytes, result.data() + i * bytes);
      continue;
    }
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
