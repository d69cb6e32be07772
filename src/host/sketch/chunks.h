// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tributary::host::sketch {

// So many elements are gone through at once, in whole vector registers; those of a grid share a
// bound.
inline constexpr std::size_t chunk_elements = 512;
constexpr std::size_t chunks_of(std::size_t count) {
  return (count + chunk_elements - 1) / chunk_elements;
}

// Calls f(chunk, its first element, how many) for each chunk.
template <typename F>
void for_chunks(std::size_t count, F f) {
  for (std::size_t chunk = 0; chunk < chunks_of(count); ++chunk) {
    const auto first = chunk * chunk_elements;
    f(chunk, first, std::min(chunk_elements, count - first));
  }
}

// A chunk's elements, with zeros behind them where it is shorter.
class WholeChunk {
 public:
  WholeChunk(const float* elements, std::size_t n) : elements_(elements) {
    if (n < chunk_elements) {
      std::memcpy(padded_, elements, n * sizeof *elements);
      std::fill(padded_ + n, padded_ + chunk_elements, 0.0f);
      elements_ = padded_;
    }
  }
  WholeChunk(const WholeChunk&) = delete;
  WholeChunk& operator=(const WholeChunk&) = delete;

  const float* data() const { return elements_; }

 private:
  const float* elements_;
  float padded_[chunk_elements];
};

// Numbers of 8, 4 or 2 bits lie packed, 8 / bits in a byte, the first in its lowest bits; higher
// bits of a number count for nothing.
constexpr std::size_t packed_bytes(std::size_t count, unsigned bits) {
  return (count * bits + 7) / 8;
}
template <unsigned bits>
void pack_of(std::uint8_t* packed, const std::uint8_t* numbers, std::size_t n) {
  constexpr std::size_t in_byte = 8 / bits;
  const auto pack_byte = [&](std::size_t first, std::size_t count) {
    unsigned byte = 0;
    for (std::size_t part = 0; part < count; ++part) {
      byte |= (numbers[first + part] & ((1u << bits) - 1)) << (part * bits);
    }
    packed[first / in_byte] = static_cast<std::uint8_t>(byte);
  };
  const auto whole = n - n % in_byte;
  for (std::size_t i = 0; i < whole; i += in_byte) {
    pack_byte(i, in_byte);
  }
  if (whole < n) {
    pack_byte(whole, n - whole);
  }
}
template <unsigned bits>
void unpack_of(std::uint8_t* numbers, const std::uint8_t* packed, std::size_t n) {
  constexpr std::size_t in_byte = 8 / bits;
  for (std::size_t i = 0; i < n; ++i) {
    const auto shift = i % in_byte * bits;
    numbers[i] = static_cast<std::uint8_t>(packed[i / in_byte] >> shift & ((1u << bits) - 1));
  }
}
inline void pack(std::uint8_t* packed, const std::uint8_t* numbers, std::size_t n, unsigned bits) {
  switch (bits) {
    case 8:
      std::copy_n(numbers, n, packed);
      return;
    case 4:
      return pack_of<4>(packed, numbers, n);
    default:
      return pack_of<2>(packed, numbers, n);
  }
}
inline void unpack(std::uint8_t* numbers, const std::uint8_t* packed, std::size_t n,
                   unsigned bits) {
  switch (bits) {
    case 8:
      std::copy_n(packed, n, numbers);
      return;
    case 4:
      return unpack_of<4>(numbers, packed, n);
    default:
      return unpack_of<2>(numbers, packed, n);
  }
}

}  // namespace tributary::host::sketch
