// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/rank_mask.h"

namespace tributary::panama {

// Knows which ranks are in the sum of each row of a tree in which some may be missing: the masks of
// its contributions, put together. Other trees have no rows here. Their packets pass by what uses
// this, so it is not to be inlined there.
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
  // Writes the mask into the sum's packet, where it has as many bytes.
  [[gnu::noinline]] void write(std::size_t row, wire::MutableBytes to) const;

 private:
  std::uint64_t* of(std::size_t row) { return all_.data() + row * words_; }
  const std::uint64_t* of(std::size_t row) const { return all_.data() + row * words_; }

  std::size_t words_;
  std::vector<std::uint64_t> all_;  // by row
};

}  // namespace tributary::panama
