// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

namespace tributary::wire {

static_assert(std::endian::native == std::endian::little,
              "element payloads are little-endian and handled in place");

constexpr std::uint8_t byte_swap(std::uint8_t value) {
  return value;
}
constexpr std::uint16_t byte_swap(std::uint16_t value) {
  return __builtin_bswap16(value);
}
constexpr std::uint32_t byte_swap(std::uint32_t value) {
  return __builtin_bswap32(value);
}
constexpr std::uint64_t byte_swap(std::uint64_t value) {
  return __builtin_bswap64(value);
}

// A BigEndian is an unsigned integer as it stands in a packet: it has alignment 1, and there is no
// conversion unless asked for. The packed member (not a std::array behind bit_cast) keeps GCC 12
// vectorising loops.
template <typename T>
class [[gnu::packed]] BigEndian {
 public:
  constexpr BigEndian() = default;
  constexpr explicit BigEndian(T value) : raw_(byte_swap(value)) {}
  constexpr BigEndian& operator=(T value) {
    raw_ = byte_swap(value);
    return *this;
  }
  constexpr T value() const { return byte_swap(raw_); }
  friend constexpr bool operator==(const BigEndian& a, const BigEndian& b) {
    return a.raw_ == b.raw_;
  }

 private:
  T raw_ = 0;
};

using be16 = BigEndian<std::uint16_t>;
using be32 = BigEndian<std::uint32_t>;
using be64 = BigEndian<std::uint64_t>;

static_assert(sizeof(be16) == 2 && alignof(be16) == 1);
static_assert(sizeof(be32) == 4 && alignof(be32) == 1);
static_assert(sizeof(be64) == 8 && alignof(be64) == 1);

}  // namespace tributary::wire
