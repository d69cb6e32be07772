// SPDX-License-Identifier: BSD-3-Clause
#include "sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "reduce/float16.h"
#include "reduce/float8.h"
#include "reduce/indexed.h"
#include "reduce/int4.h"

namespace tributary::bench {
namespace {

using reduce::bfloat16;
using reduce::float8_e4m3;
using reduce::float8_e5m2;
using reduce::half;
using reduce::indexed;
using reduce::int4_pair;

template <typename T>
constexpr bool is_float8 = std::is_same_v<T, float8_e4m3> || std::is_same_v<T, float8_e5m2>;
template <typename T>
constexpr bool is_indexed = false;
template <typename Value>
constexpr bool is_indexed<indexed<Value>> = true;
// Nothing is rounded, whatever the operator.
template <typename T>
constexpr bool is_exact_type =
    std::is_integral_v<T> || std::is_same_v<T, int4_pair> || is_indexed<T>;

// Pseudo-random bits of one element of one rank.
std::uint64_t bits_of(std::uint32_t rank, std::size_t index) {
  std::uint64_t x = index * 0x9e3779b97f4a7c15ULL + (rank + 1) * 0xd1b54a32d192ed03ULL;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
  return x ^ (x >> 29);
}

// What a reference is computed in, and what its bounds are kept in.
template <typename T>
struct Format {  // integers: modulo 2^64 is modulo 2^bits in the low bits
  using Wide = std::uint64_t;
  using Bound = T;
};
template <typename Float, int significand_bits>
struct FloatFormat {
  using Wide = std::conditional_t<significand_bits == 53, long double, double>;
  using Bound = Float;
  // Unit roundoff of everything that one step of a reduction may round to: the element, and the
  // f32 in which 16-bit floats are accumulated.
  static double roundoff() {
    const double element = std::ldexp(1.0, -significand_bits);
    return significand_bits < 24 ? element + std::ldexp(1.0, -24) : element;
  }
};
template <>
struct Format<float> : FloatFormat<float, 24> {};
template <>
struct Format<double> : FloatFormat<double, 53> {};
template <>
struct Format<half> : FloatFormat<float, 11> {};
template <>
struct Format<bfloat16> : FloatFormat<float, 8> {};
template <>
struct Format<float8_e4m3> : FloatFormat<float, 4> {};
template <>
struct Format<float8_e5m2> : FloatFormat<float, 3> {};
template <>
struct Format<int4_pair> {
  using Wide = int4_pair;
  using Bound = int4_pair;
};
template <typename Value>
struct Format<indexed<Value>> {
  using Wide = indexed<Value>;
  using Bound = indexed<Value>;
};

// Relative to the sum of the magnitudes (sum) or to the result (prod), in any order of reduction: a
// contribution passes through at most n - 1 operations, each of which multiplies it by 1 + d with
// |d| <= u, hence gamma = (n - 1) u / (1 - (n - 1) u). (Higham, Accuracy and Stability of Numerical
// Algorithms, 3.1 and 4.2.) One more step covers the reference's own rounding.
template <typename T>
double tolerance(std::uint32_t world_size) {
  const double nu = world_size * Format<T>::roundoff();
  return nu < 0.5 ? nu / (1 - nu) : 1;
}

// Where a single rank decides, it is one of eight: false for and, true for or. So among some ranks
// both results are found. For xor half of them are true.
std::uint64_t logical_bits(wire::Operator op, std::uint64_t bits) {
  const bool is_rare = bits >> 61 == 0;
  const bool is_true = op == wire::Operator::logical_and  ? !is_rare
                       : op == wire::Operator::logical_or ? is_rare
                                                          : bits >> 63 != 0;
  return is_true ? bits : 0;
}

std::uint64_t integer_bits(wire::Operator op, std::uint64_t bits) {
  switch (op) {
    case wire::Operator::prod:
      return bits | 0x11;  // an even factor would soon leave nothing but zeros
    case wire::Operator::bit_and:
      return bits | (bits >> 17) | (bits >> 35);
    case wire::Operator::bit_or:
      return bits & (bits >> 17) & (bits >> 35);
    case wire::Operator::logical_and:
    case wire::Operator::logical_or:
    case wire::Operator::logical_xor:
      return logical_bits(op, bits);
    default:
      return bits;
  }
}

float random_fraction(std::uint64_t bits) {
  return static_cast<float>(bits >> 40) * 0x1p-24f;  // [0, 1)
}

// Two or three significant bits round away what one rank adds to many. So of each element only four
// ranks have a part that counts, which is so small that all results are exact.
float float8_value(const Problem& of, std::uint32_t rank, std::size_t index, std::uint64_t bits) {
  constexpr std::uint32_t nobody = 0xffffffff;
  const auto first = static_cast<std::uint32_t>(bits_of(nobody, index) % of.world_size);
  const bool counts = (rank + of.world_size - first) % of.world_size < 4;
  const bool is_large = (bits >> 40 & 1) != 0;
  if (of.op == wire::Operator::prod) {
    return !counts ? 1.0f : is_large ? 2.0f : 0.5f;
  }
  if (of.op == wire::Operator::sum) {
    return !counts ? 0.0f : is_large ? 2.0f : 1.0f;
  }
  return random_fraction(bits);
}

template <typename T>
T drawn_element(const Problem& of, std::uint32_t rank, std::size_t index) {
  const std::uint64_t bits = bits_of(rank, index);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(integer_bits(of.op, bits));
  } else if constexpr (std::is_same_v<T, int4_pair>) {
    int4_pair pair;
    pair.bits = static_cast<std::uint8_t>(integer_bits(of.op, bits));
    return pair;
  } else if constexpr (is_indexed<T>) {
    // Few values, so that the index often decides.
    const auto value = static_cast<int>(bits >> 60) - 8;
    return {static_cast<decltype(T::value)>(value), static_cast<std::int32_t>(bits)};
  } else {
    const float sign = (bits & 1) != 0 ? -1.0f : 1.0f;
    if constexpr (is_float8<T>) {
      return T(sign * float8_value(of, rank, index, bits));
    }
    const float fraction = random_fraction(bits);
    // Factors around 1 keep a product far from overflow and from the subnormal numbers.
    const float magnitude = of.op == wire::Operator::prod ? 0.75f + 0.58f * fraction : fraction;
    return T(sign * magnitude);
  }
}

// Drawn for each rank by itself.
bool is_present(const Problem& problem, std::uint32_t rank, std::size_t index) {
  const double drawn = static_cast<double>(bits_of(~rank, index) >> 11) * 0x1p-53;  // [0, 1)
  return drawn < problem.density;
}

template <typename T>
T element(const Problem& problem, std::uint32_t rank, std::size_t index) {
  return is_present(problem, rank, index) ? drawn_element<T>(problem, rank, index) : T{};
}

template <typename T>
auto widen(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<long double>(value);
  } else if constexpr (is_exact_type<T>) {
    return value;
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

template <typename Wide>
Wide combine(wire::Operator op, Wide a, Wide b) {
  if constexpr (std::is_integral_v<Wide>) {
    const auto signed_less = [](Wide x, Wide y) {
      return static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
    };
    switch (op) {
      case wire::Operator::sum:
        return a + b;
      case wire::Operator::prod:
        return a * b;
      case wire::Operator::min:
        return signed_less(b, a) ? b : a;
      case wire::Operator::max:
        return signed_less(a, b) ? b : a;
      case wire::Operator::bit_and:
        return a & b;
      case wire::Operator::bit_or:
        return a | b;
      case wire::Operator::bit_xor:
        return a ^ b;
      case wire::Operator::logical_and:
        return a != 0 && b != 0;
      case wire::Operator::logical_or:
        return a != 0 || b != 0;
      case wire::Operator::logical_xor:
        return (a != 0) != (b != 0);
      default:
        break;
    }
  } else {
    switch (op) {
      case wire::Operator::sum:
        return a + b;
      case wire::Operator::prod:
        return a * b;
      case wire::Operator::min:
        return std::min(a, b);
      case wire::Operator::max:
        return std::max(a, b);
      default:
        break;
    }
  }
  return a;
}

int4_pair combine(wire::Operator op, int4_pair a, int4_pair b) {
  const auto half = [op](int x, int y) {
    return static_cast<int>(combine(op, widen(x), widen(y)) & 0x0f);
  };
  return {half(a.first(), b.first()), half(a.second(), b.second())};
}

template <typename Value>
indexed<Value> combine(wire::Operator op, indexed<Value> a, indexed<Value> b) {
  const Value sign = op == wire::Operator::maxloc ? Value{-1} : Value{1};
  return std::pair(sign * b.value, b.index) < std::pair(sign * a.value, a.index) ? b : a;
}

template <typename T>
class TypedSample final : public Sample {
  using Wide = typename Format<T>::Wide;
  using Bound = typename Format<T>::Bound;

 public:
  explicit TypedSample(const Problem& problem) : problem_(problem) {
    input_.resize(problem.count);
    low_.resize(problem.count);
    if (!exact()) {
      high_.resize(problem.count);
    }
    for (std::size_t i = 0; i < problem.count; ++i) {
      input_[i] = element<T>(problem, problem.rank, i);
    }
    constexpr std::size_t chunk = 1024;  // the reference of one chunk stays in the cache
    for (std::size_t i = 0; i < problem.count; i += chunk) {
      expect(i, std::min(chunk, problem.count - i));
    }
  }

  void fill(std::size_t iteration, void* buffer) const override {
    const std::size_t shift = rotation(iteration);
    const std::size_t head = problem_.count - shift;
    if (problem_.count > 0) {
      std::memcpy(buffer, input_.data() + shift, head * sizeof(T));
      std::memcpy(static_cast<std::byte*>(buffer) + head * sizeof(T), input_.data(),
                  shift * sizeof(T));
    }
  }

  std::uint64_t wrong_results(std::size_t iteration, const void* result) const override {
    return count_if(iteration, result, [this](std::size_t i, T got) {
      if constexpr (is_exact_type<T>) {
        return got != low_[i];
      } else {
        const auto value = static_cast<Bound>(got);
        const Bound high = exact() ? low_[i] : high_[i];
        return !(low_[i] <= value && value <= high);  // a NaN is wrong, too
      }
    });
  }

  std::uint64_t wrong_inputs(std::size_t iteration, const void* input) const override {
    return count_if(iteration, input, [this](std::size_t i, T got) {
      return std::memcmp(&got, &input_[i], sizeof(T)) != 0;
    });
  }

 private:
  bool exact() const {
    return is_exact_type<T> || is_float8<T> || problem_.op == wire::Operator::min ||
           problem_.op == wire::Operator::max;
  }

  std::size_t rotation(std::size_t iteration) const {
    return problem_.count == 0 ? 0 : iteration % problem_.count;
  }

  // Elements of `buffer` for which wrong(index into the unrotated sample, element) holds.
  template <typename Wrong>
  std::uint64_t count_if(std::size_t iteration, const void* buffer, Wrong wrong) const {
    const auto* bytes = static_cast<const std::byte*>(buffer);
    std::size_t i = rotation(iteration);
    std::uint64_t found = 0;
    for (std::size_t position = 0; position < problem_.count; ++position) {
      T value;
      std::memcpy(&value, bytes + position * sizeof(T), sizeof(T));
      found += wrong(i, value) ? 1 : 0;
      i = i + 1 == problem_.count ? 0 : i + 1;
    }
    return found;
  }

  // The reference for `n` elements from `first` on.
  void expect(std::size_t first, std::size_t n) {
    reference_.assign(n, Wide{});
    magnitude_.assign(n, Wide{});
    for (std::uint32_t rank = 0; rank < problem_.world_size; ++rank) {
      for (std::size_t i = 0; i < n; ++i) {
        const Wide value = widen(element<T>(problem_, rank, first + i));
        reference_[i] = rank == 0 ? value : combine(problem_.op, reference_[i], value);
        if constexpr (!is_exact_type<T>) {
          magnitude_[i] += std::abs(value);
        }
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      bound(first + i, reference_[i], magnitude_[i]);
    }
  }

  void bound(std::size_t i, Wide reference, Wide magnitude) {
    low_[i] = static_cast<Bound>(reference);
    if constexpr (!is_exact_type<T>) {
      if (!exact()) {
        const Wide scale = problem_.op == wire::Operator::sum ? magnitude : std::abs(reference);
        const Wide slack = problem_.world_size > 1
                               ? scale * static_cast<Wide>(tolerance<T>(problem_.world_size))
                               : Wide{};
        constexpr Bound infinity = std::numeric_limits<Bound>::infinity();
        // Outward by one step, for the rounding to Bound; not where nothing is reduced.
        low_[i] = static_cast<Bound>(reference - slack);
        high_[i] = static_cast<Bound>(reference + slack);
        if (problem_.world_size > 1) {
          low_[i] = std::nextafter(low_[i], -infinity);
          high_[i] = std::nextafter(high_[i], infinity);
        }
      }
    }
  }

  Problem problem_;
  std::vector<T> input_;
  std::vector<Bound> low_;       // the least right result; the only one if exact()
  std::vector<Bound> high_;      // the greatest; empty if exact()
  std::vector<Wide> reference_;  // of one chunk
  std::vector<Wide> magnitude_;  // sum of the magnitudes, of one chunk
};

}  // namespace

std::unique_ptr<Sample> Sample::make(const Problem& problem) {
  switch (problem.type) {
    case wire::ElementType::f32:
      return std::make_unique<TypedSample<float>>(problem);
    case wire::ElementType::f64:
      return std::make_unique<TypedSample<double>>(problem);
    case wire::ElementType::f16:
      return std::make_unique<TypedSample<half>>(problem);
    case wire::ElementType::bf16:
      return std::make_unique<TypedSample<bfloat16>>(problem);
    case wire::ElementType::i8:
      return std::make_unique<TypedSample<std::int8_t>>(problem);
    case wire::ElementType::i16:
      return std::make_unique<TypedSample<std::int16_t>>(problem);
    case wire::ElementType::i32:
      return std::make_unique<TypedSample<std::int32_t>>(problem);
    case wire::ElementType::i64:
      return std::make_unique<TypedSample<std::int64_t>>(problem);
    case wire::ElementType::i4:
      return std::make_unique<TypedSample<int4_pair>>(problem);
    case wire::ElementType::f8e4m3:
      return std::make_unique<TypedSample<float8_e4m3>>(problem);
    case wire::ElementType::f8e5m2:
      return std::make_unique<TypedSample<float8_e5m2>>(problem);
    case wire::ElementType::f32_i32:
      return std::make_unique<TypedSample<indexed<float>>>(problem);
    case wire::ElementType::f64_i32:
      return std::make_unique<TypedSample<indexed<double>>>(problem);
    case wire::ElementType::i32_i32:
      return std::make_unique<TypedSample<indexed<std::int32_t>>>(problem);
    case wire::ElementType::i64_i32:
      return std::make_unique<TypedSample<indexed<std::int64_t>>>(problem);
  }
  return nullptr;
}

}  // namespace tributary::bench
