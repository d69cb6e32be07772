// SPDX-License-Identifier: BSD-3-Clause
// This computes CRC-32 by multiplication without carries, after Intel's "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction". It is compiled once per SIMD target; the guard
// is Highway's toggle.
#if defined(TRIBUTARY_WIRE_CRC32_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_WIRE_CRC32_INL_H
#undef TRIBUTARY_WIRE_CRC32_INL_H
#else
#define TRIBUTARY_WIRE_CRC32_INL_H
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "wire/crc32_constants.h"
#include "wire/cursor.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::wire::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// continue_crc32() takes and returns a CRC without the complements at both ends.

#if HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
// These targets have no multiplication without carries.
HWY_INLINE std::uint32_t continue_crc32(std::uint32_t crc, Bytes bytes) {
  static constexpr auto table = crc32_table();
  for (const auto byte : bytes) {
    crc = crc >> 8 ^ table[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  }
  return crc;
}

#else

// A multiplication without carries stays within such a block of a vector.
using Block = hn::FixedTag<std::uint64_t, 2>;
#if HWY_TARGET == HWY_AVX3_DL
using Wide = hn::ScalableTag<std::uint64_t>;
#else
using Wide = Block;  // no more are multiplied at once
#endif
using Vector = hn::Vec<Wide>;

inline constexpr std::size_t block_bytes = hn::MaxLanes(Block()) * sizeof(std::uint64_t);
inline constexpr std::size_t vector_bytes = hn::MaxLanes(Wide()) * sizeof(std::uint64_t);
inline constexpr auto folds = crc32_folds<4 * vector_bytes>();

HWY_INLINE Vector load(const std::byte* at) {
  return hn::LoadU(Wide(), reinterpret_cast<const std::uint64_t*>(at));
}

// Returns a vector's last `n` bytes behind zeros.
HWY_INLINE Vector load_last(std::size_t n, const std::byte* at) {
  const hn::Repartition<std::uint8_t, Wide> d;
  const auto others = hn::FirstN(d, vector_bytes - n);
  return hn::BitCast(Wide(), hn::IfThenZeroElse(others, hn::BitCast(d, load(at))));
}

// Returns a message that is shorter than a vector, behind zeros; nothing before it is read.
HWY_INLINE Vector load_short(Bytes message) {
  const auto zeros = vector_bytes - message.size();
#if HWY_TARGET == HWY_AVX3_DL
  const hn::Repartition<std::uint8_t, Wide> d;
  // This is where the vector would begin, which is nobody's memory and not read.
  const auto begin = reinterpret_cast<std::uintptr_t>(message.data()) - zeros;
  const auto* at = reinterpret_cast<const std::uint8_t*>(begin);
  return hn::BitCast(Wide(), hn::MaskedLoad(hn::Not(hn::FirstN(d, zeros)), d, at));
#else
  alignas(vector_bytes) std::array<std::byte, vector_bytes> vector{};
  std::memcpy(vector.data() + zeros, message.data(), message.size());
  return load(vector.data());
#endif
}

// Adds to `there` what leaves the same remainder as `sum`, but `bytes` further on.
HWY_INLINE Vector fold(Vector sum, std::size_t bytes, Vector there) {
  const auto by = hn::LoadDup128(Wide(), &folds[bytes].first);
  return hn::Xor3(hn::CLMulLower(sum, by), hn::CLMulUpper(sum, by), there);
}

// Folds all whole fours of vectors, in four sums: enough independent work to hide latencies. Behind
// `sum` at least three vectors are left.
HWY_INLINE Vector fold_fours(Vector sum, Bytes& rest) {
  constexpr auto step = 4 * vector_bytes;
  auto sum1 = load(rest.data());
  auto sum2 = load(rest.data() + vector_bytes);
  auto sum3 = load(rest.data() + 2 * vector_bytes);
  for (rest = rest.subspan(3 * vector_bytes); rest.size() >= step; rest = rest.subspan(step)) {
    sum = fold(sum, step, load(rest.data()));
    sum1 = fold(sum1, step, load(rest.data() + vector_bytes));
    sum2 = fold(sum2, step, load(rest.data() + 2 * vector_bytes));
    sum3 = fold(sum3, step, load(rest.data() + 3 * vector_bytes));
  }
  sum = fold(sum, 3 * vector_bytes, sum3);
  return fold(sum1, 2 * vector_bytes, fold(sum2, vector_bytes, sum));
}

// Folds a message of at least one vector to one vector. The first step is as short as it takes for
// whole vectors to be left.
HWY_INLINE Vector fold_all(std::uint32_t crc, Bytes message) {
  const auto before = hn::IfThenElseZero(hn::FirstN(Wide(), 1), hn::Set(Wide(), crc));
  auto sum = hn::Xor(load(message.data()), before);
  const auto odd = message.size() % vector_bytes;
  if (odd != 0) {
    sum = fold(sum, odd, load_last(odd, message.data() + odd));
  }
  auto rest = message.subspan(odd + vector_bytes);
  if (rest.size() >= 3 * vector_bytes) {
    sum = fold_fours(sum, rest);
  }
  for (; !rest.empty(); rest = rest.subspan(vector_bytes)) {
    sum = fold(sum, vector_bytes, load(rest.data()));
  }
  return sum;
}

template <class D>
HWY_INLINE hn::Vec<Block> add_blocks(D, hn::Vec<D> sum) {
  if constexpr (hn::MaxLanes(D()) == hn::MaxLanes(Block())) {
    return sum;
  } else {
    const hn::Half<D> half;
    return add_blocks(half, hn::Xor(hn::LowerHalf(half, sum), hn::UpperHalf(half, sum)));
  }
}

// Returns a vector times x^32, moved four bytes further on: 96 bits.
HWY_INLINE hn::Vec<Block> fold_to_end(Vector sum) {
  alignas(vector_bytes) static constexpr auto to_end = [] {
    std::array<Crc32Fold, vector_bytes / block_bytes> by{};
    for (std::size_t i = 0; i < by.size(); ++i) {
      by[i] = folds[sizeof(std::uint32_t) + vector_bytes - (i + 1) * block_bytes];
    }
    return by;
  }();
  const auto by = hn::Load(Wide(), &to_end[0].first);
  return add_blocks(Wide(), hn::Xor(hn::CLMulLower(sum, by), hn::CLMulUpper(sum, by)));
}

// Returns what the CRC of the bytes before adds, `bytes` further on.
HWY_INLINE hn::Vec<Block> fold_crc(std::uint32_t crc, std::size_t bytes) {
  const Block d;
  return hn::CLMulUpper(hn::Set(d, std::uint64_t{crc} << 32), hn::Load(d, &folds[bytes].first));
}

// Divides by multiplication (Barrett): the upper 64 of 96 bits have the quotient, and the lower 32
// the remainder, less what the quotient times the polynomial has there.
HWY_INLINE std::uint32_t remainder(hn::Vec<Block> dividend) {
  alignas(block_bytes) static constexpr std::uint64_t reciprocal[] = {crc32_reciprocal(), 0};
  alignas(block_bytes) static constexpr std::uint64_t divisor[] = {
      std::uint64_t{crc32_polynomial} << 1, 0};
  const Block d;
  const auto upper = hn::ShiftRightBytes<sizeof(std::uint32_t)>(d, dividend);
  const auto quotient = hn::CLMulLower(upper, hn::Load(d, reciprocal));
  const auto rest = hn::Xor(upper, hn::CLMulLower(quotient, hn::Load(d, divisor)));
  return static_cast<std::uint32_t>(hn::ExtractLane(rest, 1));
}

HWY_INLINE std::uint32_t continue_crc32(std::uint32_t crc, Bytes message) {
  if (message.size() >= vector_bytes) {
    return remainder(fold_to_end(fold_all(crc, message)));
  }
  if (message.empty()) {
    return crc;
  }
  return remainder(hn::Xor(fold_to_end(load_short(message)), fold_crc(crc, message.size())));
}
#endif

}  // namespace tributary::wire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
