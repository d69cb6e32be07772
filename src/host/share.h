// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary::host {

// A part of a vector, in elements.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

// Returns the rank's part of `count` elements.
constexpr Range share_of(std::size_t count, std::size_t rank, std::size_t ranks) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

// Returns the rank's part of a part.
constexpr Range share_of(Range range, std::size_t rank, std::size_t ranks) {
  const auto share = share_of(range.end - range.begin, rank, ranks);
  return {range.begin + share.begin, range.begin + share.end};
}

}  // namespace tributary::host
