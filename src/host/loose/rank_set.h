// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tributary {

// A set of ranks of a communicator. The gradient sketch's paper keeps it as an integer whose bit i
// - 1 stands for worker i (section 5.2); here bit r stands for rank r.
class RankSet {
 public:
  RankSet() = default;
  explicit RankSet(std::uint32_t world_size) : words_((world_size + 63) / 64) {}
  explicit RankSet(std::vector<std::uint64_t> words) : words_(std::move(words)) {}

  // Precondition of all three: the rank is below the world size.
  void add(std::uint32_t rank) { words_[rank / 64] |= std::uint64_t{1} << (rank % 64); }
  void remove(std::uint32_t rank) { words_[rank / 64] &= ~(std::uint64_t{1} << (rank % 64)); }
  bool has(std::uint32_t rank) const { return (words_[rank / 64] >> (rank % 64) & 1) != 0; }

  std::uint32_t count() const {
    std::uint32_t ranks = 0;
    for (const auto word : words_) {
      ranks += static_cast<std::uint32_t>(std::popcount(word));
    }
    return ranks;
  }
  bool empty() const { return count() == 0; }
  std::vector<std::uint32_t> ranks() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t rank = 0; rank < words_.size() * 64; ++rank) {
      if (has(rank)) {
        found.push_back(rank);
      }
    }
    return found;
  }
  // Each word has 64 ranks; the lowest rank is the lowest bit of the first word.
  std::span<const std::uint64_t> words() const { return words_; }
  bool operator==(const RankSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace tributary
