// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tributary::engine {

// This is some part of a header, in words, and which of its bits are the same in all packets that
// belong together.
template <std::size_t words>
class MaskedWords {
 public:
  static constexpr std::size_t bytes = words * sizeof(std::uint64_t);

  // Adds the bytes from `first` to before `last` of the part.
  constexpr void cover(std::size_t first, std::size_t last) {
    auto mask = std::bit_cast<std::array<unsigned char, bytes>>(mask_);
    std::fill(mask.begin() + first, mask.begin() + last, 0xff);
    mask_ = std::bit_cast<std::array<std::uint64_t, words>>(mask);
  }
  // Leaves out bits of one byte.
  constexpr void leave_out(std::size_t at, unsigned char bits) {
    auto mask = std::bit_cast<std::array<unsigned char, bytes>>(mask_);
    mask[at] = static_cast<unsigned char>(mask[at] & ~bits);
    mask_ = std::bit_cast<std::array<std::uint64_t, words>>(mask);
  }

  // Returns whether two such parts, of `bytes` each, have the same bits there.
  bool agree(const void* one, const void* other) const {
    std::array<std::uint64_t, words> a;
    std::array<std::uint64_t, words> b;
    std::memcpy(a.data(), one, bytes);
    std::memcpy(b.data(), other, bytes);
    std::uint64_t differ = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < words; ++i) {
      differ |= (a[i] ^ b[i]) & mask_[i];
    }
    return differ == 0;
  }

 private:
  std::array<std::uint64_t, words> mask_{};
};

}  // namespace tributary::engine
