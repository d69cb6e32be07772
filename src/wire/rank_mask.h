// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/cursor.h"
#include "wire/endian.h"  // words are little-endian and read in place

namespace tributary::wire {

inline constexpr std::uint32_t ranks_per_mask_word = 64;

constexpr std::size_t rank_mask_words(std::uint32_t ranks) {
  return (ranks + ranks_per_mask_word - 1) / ranks_per_mask_word;
}
constexpr std::size_t rank_mask_bytes(std::uint32_t ranks) {
  return rank_mask_words(ranks) * sizeof(std::uint64_t);
}

// Reads a mask of ranks in a packet, at any offset there: rank r is bit r % 64 of word r / 64.
class RankMask {
 public:
  RankMask() = default;
  explicit RankMask(Bytes bytes) : bytes_(bytes) {}

  Bytes bytes() const { return bytes_; }
  std::size_t words() const { return bytes_.size() / sizeof(std::uint64_t); }
  std::uint64_t word(std::size_t index) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + index * sizeof word, sizeof word);
    return word;
  }
  bool has(std::uint32_t rank) const {
    return (word(rank / ranks_per_mask_word) >> (rank % ranks_per_mask_word) & 1) != 0;
  }
  std::uint32_t count() const {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < words(); ++i) {
      count += static_cast<std::uint32_t>(std::popcount(word(i)));
    }
    return count;
  }
  // Returns whether it has no rank beyond the first `ranks`, for which it has words.
  bool is_within(std::uint32_t ranks) const {
    const auto in_last = ranks % ranks_per_mask_word;
    return in_last == 0 || word(words() - 1) >> in_last == 0;
  }

 private:
  Bytes bytes_;
};

// Writes a rank into a mask, or takes it out.
inline void set_rank(MutableBytes mask, std::uint32_t rank, bool to) {
  const auto bit = std::byte{1} << (rank % 8);
  auto& byte = mask[rank / 8];
  byte = to ? byte | bit : byte & ~bit;
}

}  // namespace tributary::wire
