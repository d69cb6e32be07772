// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/cursor.h"

namespace tributary::wire {

// Returns the CRC-32 (IEEE 802.3, reflected, as zlib's), by the SIMD code that is best on this CPU.
// It continues from `crc`, and starts with 0.
std::uint32_t crc32(std::uint32_t crc, Bytes bytes);

// These are the CRCs of two parts of a packet, each from 0. One call computes both, so that the end
// of the one, which is a chain of multiplications, overlaps the other.
struct Crc32Pair {
  std::uint32_t first;
  std::uint32_t second;

  bool operator==(const Crc32Pair&) const = default;
};
Crc32Pair crc32_pair(Bytes first, Bytes second);

// A Crc32Joint joins two CRC-32s: that of something, and that of the `bytes` bytes behind it, which
// was computed before. The first one's part in the whole is linear in its bits, so that tables hold
// it.
class Crc32Joint {
 public:
  explicit Crc32Joint(std::size_t bytes);

  std::uint32_t operator()(std::uint32_t first, std::uint32_t second) const {
    return tables_[0][first & 0xff] ^ tables_[1][first >> 8 & 0xff] ^
           tables_[2][first >> 16 & 0xff] ^ tables_[3][first >> 24] ^ second;
  }

 private:
  std::array<std::array<std::uint32_t, 256>, 4> tables_;
};

}  // namespace tributary::wire
