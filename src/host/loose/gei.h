// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "host/loose/rank_set.h"

namespace tributary {

// The Gradient Exchange Index of the gradient sketch's paper (section 5.2): whose gradients have
// gone into sums. Row i is the paper's vector r of iteration i: it has for each layer the ranks
// whose gradient of that iteration is in a sum. All rows together are the paper's matrix Q.
class GeiMatrix {
 public:
  using Row = std::vector<RankSet>;  // one set of ranks for each layer

  // Only the last so many rows are kept.
  static constexpr std::size_t rows_max = 256;

  GeiMatrix() = default;
  GeiMatrix(std::uint32_t world_size, std::size_t layers)
      : empty_(layers, RankSet(world_size)), rows_{empty_} {}

  // Iterations are numbered from 0. There is a row for each that some rank has entered and that is
  // not forgotten, and always at least one.
  std::uint64_t first() const { return first_; }
  std::uint64_t latest() const { return first_ + rows_.size() - 1; }
  // Returns null if the row is forgotten, or no rank has entered the iteration.
  const Row* row(std::uint64_t iteration) const {
    return is_kept(iteration) ? &rows_[iteration - first_] : nullptr;
  }

  void extend_to(std::uint64_t iteration) {
    if (iteration > latest() + rows_max) {
      first_ = iteration - rows_max + 1;
      rows_.assign(rows_max, empty_);
    }
    while (latest() < iteration) {
      rows_.push_back(empty_);
    }
    while (rows_.size() > rows_max) {
      rows_.pop_front();
      ++first_;
    }
  }
  void add(std::uint64_t iteration, std::size_t layer, std::uint32_t rank) {
    if (is_kept(iteration)) {
      rows_[iteration - first_][layer].add(rank);
    }
  }

 private:
  bool is_kept(std::uint64_t iteration) const {
    return iteration >= first_ && iteration <= latest();
  }

  Row empty_;
  std::uint64_t first_ = 0;
  std::deque<Row> rows_;
};

}  // namespace tributary
