// SPDX-License-Identifier: BSD-3-Clause
// The constants of CRC-32 are polynomials over GF(2), reflected, so that the lowest bit is the
// coefficient of the highest power.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tributary::wire {

// This is the polynomial of IEEE 802.3, without x^32.
inline constexpr std::uint32_t crc32_polynomial = 0xedb88320;

// Returns a remainder (x^31 in bit 0) times x: what one more bit, a zero, makes of it.
constexpr std::uint32_t crc32_times_x(std::uint32_t remainder) {
  return (remainder >> 1) ^ ((remainder & 1) != 0 ? crc32_polynomial : 0);
}

// A Crc32Fold moves 16 bytes of a message `n` bytes towards its end, leaving the remainder as it
// is: their first eight bytes are multiplied by `first`, the others by `second`, and the products,
// of 96 bits, added. As a product of reflected numbers comes out times x, these are x^(8n + 64 - 1)
// and x^(8n - 1), in the upper halves.
struct alignas(16) Crc32Fold {
  std::uint64_t first;
  std::uint64_t second;
};

// Returns the folds by 0, 1, 2 ... bytes.
template <std::size_t bytes_max>
constexpr std::array<Crc32Fold, bytes_max + 1> crc32_folds() {
  constexpr std::uint32_t one = 0x80000000;
  std::uint32_t second = (one ^ crc32_polynomial) << 1 | 1;  // x^-1
  std::uint32_t first = second;
  for (unsigned power = 0; power < 64; ++power) {
    first = crc32_times_x(first);
  }
  std::array<Crc32Fold, bytes_max + 1> folds{};
  for (auto& fold : folds) {
    fold = {std::uint64_t{first} << 32, std::uint64_t{second} << 32};
    for (unsigned bit = 0; bit < 8; ++bit) {
      first = crc32_times_x(first);
      second = crc32_times_x(second);
    }
  }
  return folds;
}

// Returns the quotient of x^95 and the polynomial: dividing is multiplying by this (Barrett).
constexpr std::uint64_t crc32_reciprocal() {
  std::uint64_t quotient = 0;
  std::uint32_t remainder = 1;  // x^31
  for (unsigned bit = 0; bit < 64; ++bit) {
    quotient |= std::uint64_t{remainder & 1} << bit;
    remainder = crc32_times_x(remainder);
  }
  return quotient;
}

// Returns what eight steps make of each byte, for targets without multiplication without carries.
constexpr std::array<std::uint32_t, 256> crc32_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = byte;
    for (unsigned bit = 0; bit < 8; ++bit) {
      table[byte] = crc32_times_x(table[byte]);
    }
  }
  return table;
}

}  // namespace tributary::wire
