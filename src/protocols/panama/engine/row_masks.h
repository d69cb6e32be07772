// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/rank_mask.h"

namespace tributary::panama {

// Knows which ranks are in the sum of each row of a tree in which some may be missing: the masks of
// its contributions, put together. In other trees masks are of no ranks and take no memory. Their
// packets pass by what uses this, so it is not to be inlined there.
class RowMasks {
 public:
  RowMasks(std::size_t rows, std::uint32_t ranks)
      : words_(wire::rank_mask_words(ranks)), all_(rows * words_) {}

  [[gnu::noinline]] void clear(std::size_t row);
  // Returns whether a rank of `mask` is in the sum, and will be when those in `leaving`, which are
  // in it, have left it.
  [[gnu::noinline]] bool overlap(std::size_t row, const wire::RankMask& mask,
                                 const wire::RankMask& leaving) const;
  [[gnu::noinline]] void add(std::size_t row, const wire::RankMask& mask);
  // Takes ranks out that are in the sum.
  [[gnu::noinline]] void remove(std::size_t row, const wire::RankMask& mask);
  // Writes the mask at the end of what a sum's packet has.
  [[gnu::noinline]] void write(std::size_t row, wire::MutableBytes payload) const;

  std::size_t bytes_each() const { return words_ * sizeof(std::uint64_t); }

 private:
  std::uint64_t* of(std::size_t row) { return all_.data() + row * words_; }
  const std::uint64_t* of(std::size_t row) const { return all_.data() + row * words_; }

  std::size_t words_;
  std::vector<std::uint64_t> all_;  // by row
};

}  // namespace tributary::panama
