// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "host/gradient_sketch.h"

namespace tributary::host::sketch {

// So many columns are gone through at once: those of a few rows, and of right, stay in the cache.
inline constexpr std::size_t tile_columns = 512;
// Rows of a matrix that a kernel has in registers.
inline constexpr std::size_t block_rows = 4;

// Calls f(first row, how many, first column, how many): all rows of some columns, then the next.
template <typename F>
void for_blocks(const LowRank& shape, F f) {
  for (std::size_t column = 0; column < shape.columns; column += tile_columns) {
    const auto n = std::min(tile_columns, shape.columns - column);
    for (std::size_t row = 0; row < shape.rows; row += block_rows) {
      f(row, std::min(block_rows, shape.rows - row), column, n);
    }
  }
}

// Where a block is not full, its last row is there several times, or nothing counts for it.
template <typename T>
struct RowsOf {
  RowsOf(T* matrix, const LowRank& shape, std::size_t row, std::size_t rows, std::size_t column) {
    for (std::size_t i = 0; i < block_rows; ++i) {
      at[i] = matrix + (row + std::min(i, rows - 1)) * shape.columns + column;
    }
  }
  T* at[block_rows];
};

}  // namespace tributary::host::sketch
